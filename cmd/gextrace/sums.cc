#include "sums.h"

#include <algorithm>
#include <cstring>

#include "base/os_file.h"

namespace gextrace {

using gex::trace::Sum;
using gex::trace::SumKind;
using gex::trace::SumsHeader;

std::optional<Sums> read_sums(const std::string& name) {
  const auto content = gex::os::read_file(name + ".sums");
  SumsHeader header{};
  if (!content || content->size() < sizeof header) return std::nullopt;
  std::memcpy(&header, content->data(), sizeof header);
  if (std::memcmp(header.magic, gex::trace::sums_magic, sizeof header.magic) != 0 ||
      content->size() - sizeof header != header.rows * sizeof(Sum))
    return std::nullopt;
  Sums sums{header.job_size, header.ranks, std::vector<Sum>(header.rows)};
  std::memcpy(sums.rows.data(), content->data() + sizeof header, header.rows * sizeof(Sum));
  std::erase_if(sums.rows, [](Sum& row) {
    row.name[sizeof row.name - 1] = '\0';
    return row.count == 0;
  });
  std::ranges::stable_sort(sums.rows, [](const Sum& one, const Sum& other) {
    return one.kind != other.kind ? one.kind < other.kind : one.ns > other.ns;
  });
  return sums;
}

const char* kind_of(const Sum& row) {
  switch (row.kind) {
    case SumKind::call:
      return "call";
    case SumKind::wait:
      return "waiting for";
    case SumKind::message:
      return "messages";
    case SumKind::handler:
      return "handlers";
  }
  return "other";
}

}  // namespace gextrace
