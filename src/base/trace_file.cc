#include "base/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>

#include "base/cancellation.h"
#include "base/error.h"
#include "base/immortal.h"
#include "base/os_file.h"
#include "base/os_host.h"
#include "base/os_mapping.h"
#include "base/os_memory.h"
#include "base/os_memory_limits.h"
#include "base/os_process.h"

namespace gex::trace {

namespace {

Immortal<TraceFile> the_file;

std::uint64_t realtime_ns() noexcept {
  timespec time;
  ::clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

/// Returns that of a few tries which took least: an interrupt between the clocks makes it wrong.
Anchor present() noexcept {
  Anchor best{};
  Tick narrowest = ~Tick{0};
  for (int i = 0; i < 3; ++i) {
    const Tick before = ticks();
    const std::uint64_t monotonic = now_ns();
    const std::uint64_t realtime = realtime_ns();
    const Tick width = ticks() - before;
    if (width >= narrowest) continue;
    narrowest = width;
    best = {before + width / 2, realtime, monotonic};
  }
  return best;
}

template <std::size_t size>
void copy_text(char (&to)[size], const std::string& text) noexcept {
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

/// The command line, its words separated by blanks.
std::string command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::string line;
  std::getline(file, line);
  while (!line.empty() && line.back() == '\0') line.pop_back();
  std::replace(line.begin(), line.end(), '\0', ' ');
  return line;
}

/// Allocates disk space, by writing zeros: the pages that they leave in the page cache are then
/// mapped for a quarter of what it costs after fallocate (ext4). Returns 0 or the error number.
int allocate_space(int descriptor, std::uint64_t offset, std::uint64_t bytes) noexcept {
  static constexpr char zeros[chunk_bytes] = {};
  const CancellationDisabled uncancelled;
  // The kernel would send SIGXFSZ.
  const auto limit = os::file_size_limit();
  if (limit && offset + bytes > *limit) return EFBIG;
  while (bytes > 0) {
    const ssize_t written =
        ::pwrite(descriptor, zeros, std::min<std::uint64_t>(bytes, sizeof zeros),
                 static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    offset += static_cast<std::uint64_t>(written);
    bytes -= static_cast<std::uint64_t>(written);
  }
  return 0;
}

std::string failure(const std::string& path, const char* what, int error) {
  return "trace file " + path + ": " + what + ": " + std::strerror(error);
}

/// Returns true if the file is a trace, or the zeros of one whose process ended before it had
/// begun.
bool is_trace(const std::string& path) noexcept {
  const os::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  char start[sizeof magic] = {};
  if (!file || ::read(file.get(), start, sizeof start) != sizeof start) return false;
  constexpr char zeros[sizeof magic] = {};
  return std::memcmp(start, magic, sizeof magic) == 0 ||
         (std::memcmp(start, zeros, sizeof zeros) == 0 && os::file_size(file.get()) >= first_chunk);
}

/// Makes the file anew: another job may still be writing to the one of that name, which must not
/// change under it. What is no trace stays. The reason of a failure in `why`.
int create(const std::string& path, std::string& why) noexcept {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      why = std::strerror(EISDIR);
      return -1;
    }
    if (!S_ISREG(status.st_mode) || !is_trace(path)) {
      why = "there is something else of that name, which is no trace and is left alone";
      return -1;
    }
    if (::unlink(path.c_str()) != 0) {
      why = std::strerror(errno);
      return -1;
    }
  }
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) why = std::strerror(errno);
  return file;
}

}  // namespace

TraceFile& TraceFile::instance() noexcept {
  return the_file.get();
}

std::string TraceFile::open(const std::string& path, std::uint64_t bytes,
                            const Identity& identity) {
  if (bytes < min_bytes)
    return "a trace of " + os::format_bytes(bytes) + " is too small: it takes at least " +
           os::format_bytes(min_bytes);
  path_ = path;
  chunks_ = static_cast<std::uint32_t>(
      std::min<std::uint64_t>((bytes - first_chunk) / chunk_bytes, std::uint64_t{1} << 24));
  std::string why;
  file_.reset(create(path, why));
  if (!file_) return "trace file " + path + ": it cannot be created: " + why;
  if (const int error = allocate_space(file_.get(), 0, first_chunk))
    return failure(path, "no space for its header", error);
  os::Mapping mapping =
      os::Mapping::shared(file_.get(), 0, first_chunk + std::uint64_t{chunks_} * chunk_bytes);
  if (!mapping) return failure(path, "it cannot be mapped", errno);
  static_cast<void>(os::exclude_from_core_dumps(mapping.bytes()));
  base_ = mapping.release().data();
  states_ = std::make_unique<std::atomic<std::uint8_t>[]>(chunks_);

  auto* header = reinterpret_cast<FileHeader*>(base_);
  header->version = format_version;
  header->byte_order = byte_order_mark;
  header->header_bytes = header_bytes;
  header->record_bytes = sizeof(Record);
  header->name_bytes = sizeof(Name);
  header->max_names = max_names;
  header->first_chunk = first_chunk;
  header->chunk_bytes = chunk_bytes;
  header->max_chunks = chunks_;
  header->rank = identity.rank;
  header->job_size = identity.job_size;
  header->process = static_cast<std::uint32_t>(os::process_id());
  header->tick_source = detail::tick_is_tsc ? TickSource::counter : TickSource::monotonic;
  header->ticks_per_second = ns_to_ticks(1'000'000'000);
  copy_text(header->host, os::hostname());
  copy_text(header->boot_id, os::boot_id());
  copy_text(header->program, command_line());
  header->first = present();
  header->latest[0] = header->first;
  std::memcpy(header->magic, magic, sizeof magic);
  header_ = header;
  return {};
}

void TraceFile::name(std::uint32_t space, std::uint32_t number, const char* text) noexcept {
  if (!is_open()) return;
  const std::uint32_t index = __atomic_fetch_add(&header_->name_count, 1, __ATOMIC_RELAXED);
  if (index >= max_names) {
    __atomic_fetch_add(&header_->lost_names, 1, __ATOMIC_RELAXED);
    return;
  }
  Name& entry = reinterpret_cast<Name*>(base_ + header_bytes)[index];
  entry.number = number;
  std::strncpy(entry.text, text, sizeof entry.text - 1);
  // Release: a reader of a file that is being written finds whole names.
  __atomic_store_n(&entry.space, space, __ATOMIC_RELEASE);
}

void TraceFile::anchor() noexcept {
  if (!is_open()) return;
  // While another thread writes one, this thread has nothing to add.
  if (anchoring_.exchange(true, std::memory_order_acquire)) return;
  const std::uint32_t next = header_->latest_index + 1;
  header_->latest[next & 1] = present();
  __atomic_store_n(&header_->latest_index, next, __ATOMIC_RELEASE);
  anchoring_.store(false, std::memory_order_release);
}

void TraceFile::close() noexcept {
  anchor();
  __atomic_store_n(&header_->closed, 1U, __ATOMIC_RELEASE);
}

void TraceFile::lose(std::uint64_t records) noexcept {
  __atomic_fetch_add(&header_->lost_records, records, __ATOMIC_RELAXED);
}

/// Makes a fresh chunk touchable, and in a long trace the next ones with it, which costs less than
/// each by itself.
bool TraceFile::allocate(std::uint32_t index) noexcept {
  constexpr std::uint32_t one_by_one = 16, at_once = 4;
  const OptionalGuard guard(allocating_, true);
  while (index >= allocated_ && !full_) {
    const std::uint64_t offset = first_chunk + std::uint64_t{allocated_} * chunk_bytes;
    std::uint32_t count = allocated_ < one_by_one ? 1 : std::min(at_once, chunks_ - allocated_);
    int error = allocate_space(file_.get(), offset, count * chunk_bytes);
    if (error != 0 && count > 1) {
      count = 1;
      error = allocate_space(file_.get(), offset, chunk_bytes);
    }
    if (error == 0) {
      allocated_ += count;
      continue;
    }
    full_ = true;
    header_->disk_full = 1;
    warn("trace file %s: %s after %s; from here on it holds the latest events only", path_.c_str(),
         std::strerror(error), os::format_bytes(offset).c_str());
  }
  return index < allocated_;
}

TraceFile::Chunk TraceFile::exchange(std::uint32_t full, std::uint32_t thread) noexcept {
  // Acquire and release: the records of the thread that had a chunk before are written, and counted
  // as lost, before it is cleared.
  if (full != no_chunk) states_[full].store(used, std::memory_order_release);
  for (std::uint32_t tries = 0; tries < 2 * chunks_; ++tries) {
    const auto index =
        static_cast<std::uint32_t>(next_.fetch_add(1, std::memory_order_relaxed) % chunks_);
    std::uint8_t state = states_[index].load(std::memory_order_relaxed);
    if (state != fresh && state != used) continue;
    if (!states_[index].compare_exchange_strong(state, owned, std::memory_order_acquire,
                                                std::memory_order_relaxed))
      continue;
    if (state == fresh && !allocate(index)) {
      states_[index].store(unusable, std::memory_order_relaxed);
      continue;
    }
    std::byte* const begin = chunk(index);
    auto* header = reinterpret_cast<ChunkHeader*>(begin);
    if (state == used) {
      lose(records_per_chunk);
      // Acquire and release: what is cleared behind it is in no chunk that counts. An exchange, as
      // ThreadSanitizer does not support fences.
      __atomic_exchange_n(&header->sequence, std::uint64_t{0}, __ATOMIC_ACQ_REL);
      std::memset(begin, 0, chunk_bytes);
    }
    header->thread = thread;
    const std::uint64_t sequence = sequence_.fetch_add(1, std::memory_order_relaxed) + 1;
    __atomic_store_n(&header->sequence, sequence, __ATOMIC_RELEASE);
    return {index, reinterpret_cast<Record*>(begin + sizeof(ChunkHeader))};
  }
  return {no_chunk, nullptr};
}

void Cursor::exchange() noexcept {
  if (sink_ != nullptr) {
    if (nowhere_ == nullptr) nowhere_ = std::make_unique<Record[]>(records_per_chunk);
    flush();
    begin_ = next_ = nowhere_.get();
    end_ = next_ + records_per_chunk;
    return;
  }
  if (nowhere_ != nullptr && begin_ == nowhere_.get()) file_->lose(records_per_chunk);
  file_->anchor();
  TraceFile::Chunk next = file_->exchange(chunk_, thread_);
  chunk_ = next.index;
  if (next.index == TraceFile::no_chunk) {
    if (nowhere_ == nullptr) nowhere_ = std::make_unique<Record[]>(records_per_chunk);
    next.records = nowhere_.get();
  }
  begin_ = next_ = next.records;
  end_ = next_ + records_per_chunk;
}

}  // namespace gex::trace
