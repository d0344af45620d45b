#include "shm/job_tables.h"

#include <gasnetex.h>

#include <vector>

#include "base/os_memory.h"
#include "base/round_up.h"

namespace gex::shm {

namespace {

/// Where the tables of so many ranks begin, in the order in which they lie.
struct Offsets {
  static constexpr std::uint64_t page = JobTables::page_bytes;
  std::uint64_t locations = 0;
  std::uint64_t displacements;
  std::uint64_t segments;
  std::uint64_t end;

  explicit constexpr Offsets(std::uint64_t ranks) noexcept
      : displacements(round_up(ranks * sizeof(gex_EP_Location_t), page)),
        segments(displacements + page + round_up(ranks * sizeof(std::intptr_t), page)),
        end(segments + round_up(ranks * JobTables::max_segment_entry, page)) {}
};

/// Writes `count` values from `offset` on, `value(i)` each.
template <class Value>
int write_values(int file, std::uint64_t offset, std::uint32_t count, Value value) {
  std::vector<decltype(value(0))> values;
  values.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) values.push_back(value(i));
  return os::write_at(file, offset, std::as_bytes(std::span(values)));
}

}  // namespace

std::uint64_t JobTables::bytes(std::uint32_t ranks) noexcept {
  return Offsets(ranks).end;
}

int JobTables::fill_constant() const {
  const Offsets at(ranks_);
  const int error = write_values(file_, offset_ + at.locations, ranks_, [](std::uint32_t rank) {
    return gex_EP_Location_t{rank, 0};
  });
  if (error != 0) return error;
  return write_values(file_, offset_ + at.displacements + page_bytes, ranks_,
                      [](std::uint32_t) { return std::intptr_t{GEX_NOT_MAPPED_}; });
}

os::Mapping JobTables::map_locations() const noexcept {
  const Offsets at(ranks_);
  return os::Mapping::copied(file_, offset_ + at.locations, at.displacements - at.locations);
}

os::Mapping JobTables::map_displacements() const noexcept {
  const Offsets at(ranks_);
  return os::Mapping::copied(file_, offset_ + at.displacements, at.segments - at.displacements);
}

os::Mapping JobTables::map_segments() const noexcept {
  const Offsets at(ranks_);
  os::Mapping mapping = os::Mapping::copied(file_, offset_ + at.segments, at.end - at.segments);
  if (mapping) static_cast<void>(os::exclude_from_core_dumps(mapping.bytes()));
  return mapping;
}

int JobTables::fill_segments(std::span<const std::byte> entries) const noexcept {
  return os::write_at(file_, offset_ + Offsets(ranks_).segments, entries);
}

}  // namespace gex::shm
