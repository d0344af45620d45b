#include "shm/job_tables.h"

#include <gasnetex.h>

#include <vector>

#include "base/os_memory.h"
#include "base/round_up.h"

namespace gex::shm {

namespace {

/// Where the tables of so many ranks begin behind the displacements, which lie first.
struct Offsets {
  static constexpr std::uint64_t page = JobTables::page_bytes;
  std::uint64_t segments;
  std::uint64_t end;

  explicit Offsets(std::uint64_t ranks) noexcept
      : segments(page + round_up(ranks * sizeof(std::intptr_t), page)),
        end(segments + RankColumns::max_bytes(static_cast<std::uint32_t>(ranks))) {}
};

}  // namespace

std::uint64_t JobTables::bytes(std::uint32_t ranks) noexcept {
  return Offsets(ranks).end;
}

int JobTables::fill_constant() const {
  const std::vector<std::intptr_t> displacements(ranks_, GEX_NOT_MAPPED_);
  return os::write_at(file_, offset_ + page_bytes, std::as_bytes(std::span(displacements)));
}

os::Mapping JobTables::map_displacements() const noexcept {
  return os::Mapping::copied(file_, offset_, Offsets(ranks_).segments);
}

os::Mapping JobTables::map_segments() const noexcept {
  const Offsets at(ranks_);
  os::Mapping mapping = os::Mapping::copied(file_, offset_ + at.segments, at.end - at.segments);
  if (mapping) static_cast<void>(os::exclude_from_core_dumps(mapping.bytes()));
  return mapping;
}

std::uint64_t JobTables::segments_offset() const noexcept {
  return offset_ + Offsets(ranks_).segments;
}

}  // namespace gex::shm
