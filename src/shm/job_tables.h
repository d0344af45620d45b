#pragma once
// Tables with an entry for each rank of the job that are there once in a neighborhood, in the place
// of one in each of its processes: most of a job's ranks are equal to all of them, other members
// of the neighborhood are not.
//
// They lie in the neighborhood's file. One member fills them. A process reads them in private
// mappings: it takes memory of its own for the pages to which it writes, and for no others.
//
// There are none where all ranks of the job are neighbors.

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/os_mapping.h"
#include "shm/rank_columns.h"

namespace gex::shm {

class JobTables {
 public:
  static constexpr std::size_t page_bytes = RankColumns::page_bytes;

  /// Bytes that the tables of so many ranks take in the file.
  static std::uint64_t bytes(std::uint32_t ranks) noexcept;

  /// In a file, which stays open, from `offset` on, a multiple of the page size.
  JobTables(int file, std::uint64_t offset, std::uint32_t ranks) noexcept
      : file_(file), offset_(offset), ranks_(ranks) {}

  /// By one member, before another has the file: fills the tables that do not change. 0 or an
  /// error.
  int fill_constant() const;

  /// A page, which is the caller's to use, and behind it a displacement for each rank, all
  /// GEX_NOT_MAPPED_. Empty with errno on failure, as are the following.
  os::Mapping map_displacements() const noexcept;
  /// Segments that all ranks attach, in columns of the caller's; at first zero bytes.
  os::Mapping map_segments() const noexcept;
  /// By one member: writes a column of it. 0 or an error.
  int write_segments(const RankColumns& columns, std::size_t column,
                     std::span<const std::byte> values) const {
    return columns.write(file_, segments_offset(), column, values);
  }

 private:
  std::uint64_t segments_offset() const noexcept;

  int file_;
  std::uint64_t offset_;
  std::uint32_t ranks_;
};

}  // namespace gex::shm
