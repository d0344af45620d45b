#pragma once
// A table with values of every rank in columns. A column whose values are equal for all ranks takes
// one of them: memory of the others is not touched.
//
//   RankColumns columns(ranks, {8, 4});             // bytes of a value in each column
//   columns.write(file, offset, 0, values);         // once, those of all ranks
//   columns.at(memory, 0, rank)                     // where the file is mapped
//
// Thread rules: one writes; a value is read by any while it is not written.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gex::shm {

class RankColumns {
 public:
  static constexpr std::size_t page_bytes = 4096;
  /// Bytes of a rank's values together, at most; columns, at most.
  static constexpr std::size_t max_width = 256;
  static constexpr std::size_t max_columns = 8;

  /// `widths`: multiples of 4, at most `max_width` together.
  RankColumns(std::uint32_t ranks, std::span<const std::uint32_t> widths);

  /// Bytes that any columns of so many ranks take at most, a multiple of the page size.
  static std::uint64_t max_bytes(std::uint32_t ranks) noexcept;

  /// A rank's value. Zero bytes are a table of zeros.
  const std::byte* at(const std::byte* table, std::size_t column,
                      std::uint32_t rank) const noexcept {
    const Column& one = columns_[column];
    const auto* const are_apart = reinterpret_cast<const std::uint32_t*>(table) + column;
    // Acquire: what is written before a column is there when that is.
    return __atomic_load_n(are_apart, __ATOMIC_ACQUIRE) != 0
               ? table + one.values + std::size_t{rank} * one.width
               : table + one.common;
  }

  /// Writes a column of the table that begins there in a file. `values`: of all ranks, one behind
  /// the other. 0 or an error.
  int write(int file, std::uint64_t offset, std::size_t column,
            std::span<const std::byte> values) const;

 private:
  struct Column {
    std::size_t width;
    std::size_t common;  ///< where its value is if there is one, in the first page
    std::size_t values;  ///< where those of all ranks are otherwise
  };
  std::uint32_t ranks_;
  std::vector<Column> columns_;
};

}  // namespace gex::shm
