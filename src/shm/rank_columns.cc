#include "shm/rank_columns.h"

#include <cstring>

#include "base/assert.h"
#include "base/os_memory.h"
#include "base/round_up.h"

namespace gex::shm {

namespace {

/// Behind a word for each column.
constexpr std::size_t commons_at = RankColumns::max_columns * sizeof(std::uint32_t);
static_assert(commons_at + RankColumns::max_width <= RankColumns::page_bytes);

}  // namespace

RankColumns::RankColumns(std::uint32_t ranks, std::span<const std::uint32_t> widths)
    : ranks_(ranks) {
  GEX_ASSERT(widths.size() <= max_columns);
  std::size_t common = commons_at;
  std::size_t values = page_bytes;
  for (const std::uint32_t width : widths) {
    columns_.push_back({width, common, values});
    common += width;
    values += round_up(std::size_t{width} * ranks, page_bytes);
  }
  GEX_ASSERT(common <= commons_at + max_width);
}

std::uint64_t RankColumns::max_bytes(std::uint32_t ranks) noexcept {
  return (1 + max_columns) * page_bytes + round_up(std::uint64_t{ranks} * max_width, page_bytes);
}

int RankColumns::write(int file, std::uint64_t offset, std::size_t column,
                       std::span<const std::byte> values) const {
  const Column& one = columns_[column];
  GEX_ASSERT(values.size() == one.width * ranks_);
  // Each equals the one behind it.
  const bool are_equal =
      values.size() <= one.width ||
      std::memcmp(values.data(), values.data() + one.width, values.size() - one.width) == 0;
  const std::uint32_t are_apart = are_equal ? 0 : 1;
  const int error = are_equal ? os::write_at(file, offset + one.common, values.first(one.width))
                              : os::write_at(file, offset + one.values, values);
  if (error != 0) return error;
  return os::write_at(file, offset + column * sizeof are_apart,
                      std::as_bytes(std::span(&are_apart, 1)));
}

}  // namespace gex::shm
