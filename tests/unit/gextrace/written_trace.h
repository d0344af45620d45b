#pragma once
// A trace file as a test wants it, written byte by byte.

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "base/trace_format.h"
#include "gextrace/read.h"

namespace gextrace {

/// The records of a rank. One tick is a nanosecond.
struct WrittenTrace {
  explicit WrittenTrace(std::uint32_t rank, std::uint32_t job_size) {
    using namespace gex::trace;
    std::memcpy(header.magic, magic, sizeof magic);
    header.version = format_version;
    header.byte_order = byte_order_mark;
    header.header_bytes = header_bytes;
    header.record_bytes = sizeof(Record);
    header.name_bytes = sizeof(Name);
    header.max_names = max_names;
    header.first_chunk = first_chunk;
    header.chunk_bytes = chunk_bytes;
    header.max_chunks = 100;
    header.rank = rank;
    header.job_size = job_size;
    header.tick_source = TickSource::counter;
    header.ticks_per_second = 1'000'000'000;
    header.closed = 1;
    std::strcpy(header.host, "hosta");
    std::strcpy(header.boot_id, "boot-a");
    set_clock(1'000'000, 0);
  }

  /// The host's counter shows `ticks` when its time of day is `realtime_ns` after a common begin.
  void set_clock(std::uint64_t ticks, std::int64_t realtime_ns, std::uint64_t length_ns = 0) {
    const std::uint64_t day = 1'700'000'000'000'000'000 + static_cast<std::uint64_t>(realtime_ns);
    header.first = {ticks, day, 5'000'000'000};
    header.latest[0] = header.first;
    header.latest[0].ticks += length_ns;
    header.latest[0].realtime_ns += length_ns;
    header.latest[0].monotonic_ns += length_ns;
  }
  void set_host(const std::string& name) {
    std::strcpy(header.host, name.c_str());
    std::strcpy(header.boot_id, ("boot of " + name).c_str());
  }

  void name(Names space, std::uint32_t number, const char* text) {
    gex::trace::Name entry{number, static_cast<std::uint32_t>(space), {}};
    std::strncpy(entry.text, text, sizeof entry.text - 1);
    names.push_back(entry);
  }

  void add(Kind kind, std::uint64_t ticks, std::uint16_t what = 0, std::uint32_t peer = ~0U,
           std::uint64_t bytes = 0, std::uint64_t id = 0, std::uint8_t detail = 0,
           std::uint32_t thread = 1) {
    if (chunks.empty() || chunks.back().header.thread != thread ||
        chunks.back().records.size() == gex::trace::records_per_chunk)
      chunks.push_back({{chunks.size() + 1, thread, 0, {}}, {}});
    chunks.back().records.push_back(
        {ticks, id, bytes, peer, what, detail, static_cast<std::uint8_t>(kind)});
  }

  std::string bytes() {
    header.name_count = static_cast<std::uint32_t>(names.size());
    std::string all(gex::trace::first_chunk, '\0');
    std::memcpy(all.data(), &header, sizeof header);
    if (!names.empty())
      std::memcpy(&all[gex::trace::header_bytes], names.data(), names.size() * sizeof names[0]);
    for (const Chunk& chunk : chunks) {
      const std::size_t at = all.size();
      all.resize(at + gex::trace::chunk_bytes);
      std::memcpy(&all[at], &chunk.header, sizeof chunk.header);
      if (!chunk.records.empty())
        std::memcpy(&all[at + sizeof chunk.header], chunk.records.data(),
                    chunk.records.size() * sizeof chunk.records[0]);
    }
    return all;
  }

  void write(const std::string& path) { std::ofstream(path, std::ios::binary) << bytes(); }

  struct Chunk {
    gex::trace::ChunkHeader header;
    std::vector<gex::trace::Record> records;
  };
  gex::trace::FileHeader header{};
  std::vector<gex::trace::Name> names;
  std::vector<Chunk> chunks;
};

}  // namespace gextrace
