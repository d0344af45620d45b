#include "observe/trace_sums.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "base/trace_sums.h"
#include "core/wait_cause.h"
#include "observe/restricted.h"
#include "observe/trace_records.h"

namespace gex::trace {

namespace {

constexpr std::uint32_t calls = static_cast<std::uint32_t>(Call::count);
constexpr std::uint32_t first_wait = calls;
constexpr std::uint32_t first_message = first_wait + wait_causes;
constexpr std::uint32_t first_handler = first_message + 2;
constexpr std::uint32_t rows = first_handler + 2;

struct Tally {
  std::uint64_t count = 0;
  std::uint64_t ticks = 0;
  std::uint64_t bytes = 0;
};

/// The client's, or behind it the library's own.
std::uint32_t owner_of(const Record& record) noexcept {
  return (handler_of(record.what, record.detail) & 0xff) < first_client_handler ? 1 : 0;
}

class ThreadSums final : public RecordSink {
 public:
  void take(std::span<const Record> records) noexcept override {
    for (const Record& record : records) add(record);
  }

  Tally tallies[rows];
  ThreadSums* next = nullptr;  ///< of all threads' ones

 private:
  static constexpr std::uint32_t max_depth = 32;

  void begin(Tick at) noexcept {
    if (depth_++ < max_depth) begun_[depth_ - 1] = at;
  }
  std::uint64_t end(Tick at) noexcept {
    if (depth_ == 0) return 0;
    return --depth_ < max_depth ? at - begun_[depth_] : 0;
  }
  void count(std::uint32_t row, std::uint64_t number, std::uint64_t took,
             std::uint64_t bytes) noexcept {
    if (row >= rows) return;
    tallies[row].count += number;
    tallies[row].ticks += took;
    tallies[row].bytes += bytes;
  }

  void add(const Record& record) noexcept {
    const std::uint64_t bytes =
        (record.detail & (has_peer | refused)) == has_peer ? record.bytes : 0;
    switch (static_cast<Kind>(record.kind)) {
      case Kind::call_begin:
      case Kind::handler_begin:
      case Kind::wait_begin:
        return begin(record.ticks);
      case Kind::call_end:
        return count(record.what, 1, end(record.ticks), bytes);
      case Kind::call:
        return count(record.what, 1, record.id - record.ticks, bytes);
      case Kind::questions:
        return count(record.what, record.bytes, record.id - record.ticks, 0);
      case Kind::wait_end:
        return count(first_wait + record.what, 1, end(record.ticks), 0);
      case Kind::message_sent:
        return count(first_message + owner_of(record), 1, 0, record.bytes);
      case Kind::handler_end:
        return count(first_handler + owner_of(record), 1, end(record.ticks), record.bytes);
      default:
        return;
    }
  }

  std::uint32_t depth_ = 0;
  Tick begun_[max_depth]{};
};

std::atomic<ThreadSums*> all_sums{nullptr};

struct File {
  SumsHeader header;
  Sum sums[rows];
};

void name(Sum& sum, SumKind kind, const char* text) noexcept {
  sum.kind = kind;
  std::strncpy(sum.name, text, sizeof sum.name - 1);
}

/// The file of a job whose ranks have added nothing yet.
void clear(File& file, std::uint32_t job_size) noexcept {
  std::memset(static_cast<void*>(&file), 0, sizeof file);
  std::memcpy(file.header.magic, sums_magic, sizeof sums_magic);
  file.header.job_size = job_size;
  file.header.rows = rows;
  for (std::uint32_t i = 0; i < calls; ++i)
    name(file.sums[i], SumKind::call, name_of(static_cast<Call>(i)));
  for (std::uint32_t i = 0; i < wait_causes; ++i)
    name(file.sums[first_wait + i], SumKind::wait, cause_names[i]);
  for (const std::uint32_t owner : {0, 1}) {
    const char* const text = owner == 0 ? "the client's" : "the library's own";
    name(file.sums[first_message + owner], SumKind::message, text);
    name(file.sums[first_handler + owner], SumKind::handler, text);
  }
}

void add_own(File& file) noexcept {
  ++file.header.ranks;
  for (const ThreadSums* one = all_sums.load(std::memory_order_acquire); one != nullptr;
       one = one->next) {
    for (std::uint32_t i = 0; i < rows; ++i) {
      file.sums[i].count += one->tallies[i].count;
      file.sums[i].ns += static_cast<std::uint64_t>(ticks_to_ns(one->tallies[i].ticks));
      file.sums[i].bytes += one->tallies[i].bytes;
    }
  }
}

}  // namespace

RecordSink& make_thread_sums() {
  auto* const made = new ThreadSums;
  made->next = all_sums.load(std::memory_order_relaxed);
  // Release: a rank that ends reads those in the list.
  while (!all_sums.compare_exchange_weak(made->next, made, std::memory_order_release,
                                         std::memory_order_relaxed)) {
  }
  return *made;
}

int add_sums(const char* path, std::uint32_t job_size) noexcept {
  const int descriptor = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return errno;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  while (::fcntl(descriptor, F_SETLKW, &lock) != 0 && errno == EINTR) {
  }
  static File file;
  const bool is_there =
      ::pread(descriptor, &file, sizeof file, 0) == static_cast<ssize_t>(sizeof file) &&
      std::memcmp(file.header.magic, sums_magic, sizeof sums_magic) == 0 &&
      file.header.job_size == job_size && file.header.rows == rows;
  if (!is_there) clear(file, job_size);
  add_own(file);
  const bool written =
      ::pwrite(descriptor, &file, sizeof file, 0) == static_cast<ssize_t>(sizeof file);
  const int error = written ? 0 : errno;
  ::close(descriptor);
  return error;
}

}  // namespace gex::trace
