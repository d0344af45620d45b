#include "launch/hang/report_words.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "job/memory_way.h"

namespace gex::launch {

std::string text_of(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  char* made = nullptr;
  const int size = vasprintf(&made, format, arguments);
  va_end(arguments);
  std::string text = size < 0 ? std::string() : std::string(made, static_cast<std::size_t>(size));
  std::free(made);
  return text;
}

const char* name_of(job::OpKind kind) noexcept {
  switch (kind) {
    case job::OpKind::none:
      return "condition";
    case job::OpKind::put:
      return "put";
    case job::OpKind::get:
      return "get";
    case job::OpKind::atomic:
      return "atomic";
    case job::OpKind::message:
      return "message";
    case job::OpKind::barrier:
      return "barrier";
    case job::OpKind::collective:
      return "collective";
    case job::OpKind::agreement:
      return "agreement";
    case job::OpKind::named_barrier:
      return "named_barrier";
    case job::OpKind::events:
      return "events";
    case job::OpKind::lock:
      return "lock";
    case job::OpKind::annotated:
      return "annotated";
    case job::OpKind::count:
      break;
  }
  return "unknown";
}

const char* memory_way_of(const OpReport& op) noexcept {
  const bool has_way = op.kind == job::OpKind::put || op.kind == job::OpKind::get;
  return has_way ? gex::name_of(static_cast<MemoryWay>(op.sequence)) : nullptr;
}

std::string letter_of(std::size_t number) {
  constexpr std::size_t letters = 26;
  return number < letters ? std::string(1, static_cast<char>('A' + number))
                          : std::to_string(number + 1);
}

}  // namespace gex::launch
