#pragma once
// The format of a trace file, which one process writes (trace_file.h) and gextrace reads.
//
//   header   FileHeader, 4 KiB
//   names    Name[max_names]: what numbers in records mean, so that a reader of another build can
//            print them
//   chunks   64 KiB each: ChunkHeader, then Record[records_per_chunk]
//
// All numbers are in the byte order of the machine that wrote them, which `byte_order` shows. The
// file may end at any place: a chunk that does not lie in it has never been used. A record whose
// `kind` is 0 is empty, a chunk whose `sequence` is 0 is unused, or was being cleared.
//
// The kinds of records and the spaces of names belong to the room that writes them.

#include <cstddef>
#include <cstdint>

namespace gex::trace {

inline constexpr char magic[8] = {'g', 'e', 'x', 't', 'r', 'a', 'c', 'e'};
inline constexpr std::uint32_t format_version = 3;
inline constexpr std::uint32_t byte_order_mark = 0x01020304;

/// One event. What `id`, `bytes`, `peer`, `what` and `detail` mean depends on `kind`.
struct Record {
  std::uint64_t ticks;
  std::uint64_t id;
  std::uint64_t bytes;
  std::uint32_t peer;
  std::uint16_t what;
  std::uint8_t detail;
  std::uint8_t kind;  ///< 0: no record. Written last.
};
static_assert(sizeof(Record) == 32);

struct ChunkHeader {
  std::uint64_t sequence;  ///< from 1, in the order in which threads began chunks; written last
  std::uint32_t thread;    ///< whose records these are
  std::uint32_t unused32;
  std::uint64_t unused[6];
};
static_assert(sizeof(ChunkHeader) == 64);

inline constexpr std::size_t chunk_bytes = std::size_t{64} << 10;
inline constexpr std::size_t records_per_chunk =
    (chunk_bytes - sizeof(ChunkHeader)) / sizeof(Record);

/// A moment on three clocks.
struct Anchor {
  std::uint64_t ticks;
  std::uint64_t realtime_ns;
  std::uint64_t monotonic_ns;
};

/// A number has this meaning.
struct Name {
  std::uint32_t number;
  std::uint32_t space;  ///< 0: no name. Written last.
  char text[56];        ///< ends in a zero byte
};
static_assert(sizeof(Name) == 64);
inline constexpr std::uint32_t max_names = 1020;

/// The unit of `ticks` is one of these.
enum class TickSource : std::uint32_t {
  counter = 1,    ///< the processors' time stamp counter, equal in all processes of a host
  monotonic = 2,  ///< nanoseconds of CLOCK_MONOTONIC
};

struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t byte_order;
  std::uint32_t header_bytes;  ///< where the names begin
  std::uint32_t record_bytes;
  std::uint32_t name_bytes;
  std::uint32_t max_names;
  std::uint64_t first_chunk;  ///< where the chunks begin
  std::uint32_t chunk_bytes;
  std::uint32_t max_chunks;

  std::uint32_t rank;
  std::uint32_t job_size;
  std::uint32_t process;  ///< its number in the kernel
  TickSource tick_source;
  std::uint64_t ticks_per_second;
  Anchor first;
  /// The latest anchor is `latest[latest_index & 1]`; the other one may be half written.
  Anchor latest[2];
  std::uint32_t latest_index;
  std::uint32_t closed;  ///< 1: the process has left its job in an orderly way

  std::uint64_t lost_records;  ///< overwritten, or not written for lack of space
  std::uint64_t lost_names;
  std::uint32_t name_count;
  std::uint32_t disk_full;  ///< 1: chunks could not be allocated

  char host[128];
  char boot_id[64];  ///< the same in all processes between two starts of a host
  char program[1024];
};
static_assert(sizeof(FileHeader) <= 4096);
inline constexpr std::size_t header_bytes = 4096;
inline constexpr std::size_t first_chunk = header_bytes + sizeof(Name) * (max_names + 4);
static_assert(first_chunk % 4096 == 0);

}  // namespace gex::trace
