#pragma once
// A process's trace file: a bounded ring of records in a mapped file.
//
// The file is mapped shared, so what was recorded is in the kernel's page cache at once and stays
// there when the process is killed. Threads record without locks: each has a `Cursor` with a chunk
// of its own, and exchanges a full chunk for the next by atomic operations. When all chunks have
// been used, the oldest one that no thread is recording in is used again; its records are lost, and
// counted. The disk space of a chunk is allocated before it is first touched, so that a full disk
// is an error that is reported once, never a SIGBUS; recording goes on in the chunks that exist.
//
//   TraceFile& file = TraceFile::instance();
//   if (std::string why = file.open(path, bytes, identity); !why.empty()) fatal("%s", why.c_str());
//   Cursor cursor(file, thread_number);       // one a thread, kept for the life of the process
//   cursor.add(kind, detail, what, peer, bytes, id, ticks());
//
// Thread rules: `open` once, before any cursor; `name`, `anchor` and `close` from any thread, and
// from signal handlers; a cursor by one thread at a time. A signal handler that records while the
// interrupted thread does may spoil one record. The mapping stays for the life of the process.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/os_file.h"
#include "base/spin_lock.h"
#include "base/trace_format.h"

namespace gex::trace {

/// How a file identifies its process.
struct Identity {
  std::uint32_t rank = 0;
  std::uint32_t job_size = 1;
};

class TraceFile {
 public:
  /// Memory that a file takes at least.
  static constexpr std::uint64_t min_bytes = first_chunk + 4 * chunk_bytes;

  /// The process's file.
  static TraceFile& instance() noexcept;

  TraceFile() = default;
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  /// Creates the file, which takes at most `bytes`; a file of that name is replaced, but goes on to
  /// exist for the processes that have it open. Returns "" or why it cannot be done.
  std::string open(const std::string& path, std::uint64_t bytes, const Identity& identity);

  bool is_open() const noexcept { return header_ != nullptr; }

  /// Names a number of a space (not 0), if the file is open. A number may be named again.
  void name(std::uint32_t space, std::uint32_t number, const char* text) noexcept;

  /// Notes the present moment on all clocks, if the file is open, for readers that convert ticks.
  void anchor() noexcept;

  /// The process leaves its job in an orderly way. Recording may go on.
  void close() noexcept;

  /// A chunk, cleared, for the records of a thread.
  struct Chunk {
    std::uint32_t index;
    Record* records;
  };
  /// Where there is none, which the caller records elsewhere then.
  static constexpr std::uint32_t no_chunk = ~0U;

  /// Takes the next chunk, after giving back the one of number `full`, if any. `no_chunk` if other
  /// threads have all that there are.
  Chunk exchange(std::uint32_t full, std::uint32_t thread) noexcept;
  /// Counts records that are in no chunk.
  void lose(std::uint64_t records) noexcept;

 private:
  enum State : std::uint8_t { fresh, used, owned, unusable };

  bool allocate(std::uint32_t index) noexcept;
  std::byte* chunk(std::uint32_t index) noexcept {
    return base_ + first_chunk + index * chunk_bytes;
  }

  std::string path_;
  os::FileDescriptor file_;
  std::byte* base_ = nullptr;
  FileHeader* header_ = nullptr;
  std::uint32_t chunks_ = 0;
  std::unique_ptr<std::atomic<std::uint8_t>[]> states_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> sequence_{0};
  SpinLock allocating_;
  std::uint32_t allocated_ = 0;  ///< chunks that have disk space
  bool full_ = false;
  std::atomic<bool> anchoring_{false};
};

/// Gets the records of a thread in place of a file: each once, in order.
class RecordSink {
 public:
  virtual void take(std::span<const Record> records) noexcept = 0;

 protected:
  ~RecordSink() = default;
};

/// Where a thread records.
class Cursor {
 public:
  /// `sink`: what gets the records, if not the file.
  Cursor(TraceFile& file, std::uint32_t thread, RecordSink* sink = nullptr) noexcept
      : file_(&file), sink_(sink), thread_(thread) {}
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  /// Adds a record. The reference is valid until the next one is added.
  Record& add(std::uint8_t kind, std::uint8_t detail, std::uint16_t what, std::uint32_t peer,
              std::uint64_t bytes, std::uint64_t id, Tick at) noexcept {
    if (next_ == end_) [[unlikely]]
      exchange();
    Record& record = *next_++;
    record.ticks = at;
    record.id = id;
    record.bytes = bytes;
    record.peer = peer;
    record.what = what;
    record.detail = detail;
    // Release: a process that is killed leaves whole records, or empty ones.
    __atomic_store_n(&record.kind, kind, __ATOMIC_RELEASE);
    return record;
  }

  /// Passes to the sink what it has not got yet.
  void flush() noexcept {
    if (begin_ == next_) return;
    sink_->take({begin_, next_});
    begin_ = next_;
  }

  /// The record that was added last, if it may still be changed; else null.
  Record* last() noexcept { return next_ != begin_ ? next_ - 1 : nullptr; }
  /// Returns true if a record that this cursor has added may still be changed.
  bool holds(const Record* record) const noexcept { return record >= begin_ && record < next_; }
  /// Takes the last record back; only if there is one.
  void take_back() noexcept {
    --next_;
    __atomic_store_n(&next_->kind, std::uint8_t{0}, __ATOMIC_RELAXED);
  }

 private:
  [[gnu::cold]] void exchange() noexcept;

  Record* next_ = nullptr;
  Record* end_ = nullptr;
  Record* begin_ = nullptr;
  TraceFile* file_;
  RecordSink* sink_;
  std::uint32_t thread_;
  std::uint32_t chunk_ = TraceFile::no_chunk;
  /// Where records are until the sink gets them, or go that find no chunk: they are lost.
  std::unique_ptr<Record[]> nowhere_;
};

}  // namespace gex::trace
