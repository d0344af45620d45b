#include "team/blocks.h"

#include <cstring>

#include "job/packed_table.h"

namespace gex::team {

namespace {

/// The first byte of packed blocks.
enum class Form : std::uint8_t {
  sized,  ///< each behind its size
  table,  ///< equally large, as a packed table
};

/// Bytes of blocks behind their sizes from which on a table is tried: fewer are a single message
/// in any form.
constexpr std::size_t worth_packing = 1024;

}  // namespace

void Blocks::append(std::span<const std::byte> block) {
  if (size_ == 0) each_ = block.size();
  if (ends_.empty() && block.size() != each_)
    for (std::size_t place = 0; place < size_; ++place) ends_.push_back((place + 1) * each_);
  bytes_.insert(bytes_.end(), block.begin(), block.end());
  ++size_;
  if (!ends_.empty()) ends_.push_back(bytes_.size());
}

bool Blocks::append_packed(std::span<const std::byte> packed, std::size_t count,
                           std::size_t max_block) {
  if (packed.empty()) return false;
  const auto form = static_cast<Form>(packed.front());
  const auto rest = packed.subspan(1);
  if (form == Form::sized) return append_sized(rest, count, max_block);
  return form == Form::table && append_table(rest, count, max_block);
}

bool Blocks::append_sized(std::span<const std::byte> packed, std::size_t count,
                          std::size_t max_block) {
  for (; count > 0; --count) {
    std::uint32_t bytes = 0;
    if (packed.size() < sizeof bytes) return false;
    std::memcpy(&bytes, packed.data(), sizeof bytes);
    packed = packed.subspan(sizeof bytes);
    if (bytes > packed.size() || bytes > max_block) return false;
    append(packed.first(bytes));
    packed = packed.subspan(bytes);
  }
  return packed.empty();
}

bool Blocks::append_table(std::span<const std::byte> packed, std::size_t count,
                          std::size_t max_block) {
  auto table = job::unpack_table(packed, count, count * max_block);
  if (!table) return false;
  const std::size_t bytes = table->size() / count;
  if (size_ == 0) {
    bytes_ = std::move(*table);
    size_ = count;
    each_ = bytes;
    return true;
  }
  for (std::size_t place = 0; place < count; ++place)
    append(std::span(*table).subspan(place * bytes, bytes));
  return true;
}

std::vector<std::byte> Blocks::pack() const {
  const auto with_form = [](Form form) { return std::vector{static_cast<std::byte>(form)}; };
  if (ends_.empty() && size_ * (each_ + sizeof(std::uint32_t)) > worth_packing) {
    std::vector<std::byte> packed = with_form(Form::table);
    const std::vector<std::byte> table = job::pack_table(bytes_, size_);
    packed.insert(packed.end(), table.begin(), table.end());
    return packed;
  }
  std::vector<std::byte> packed = with_form(Form::sized);
  for (const std::span<const std::byte> block : *this) {
    const auto bytes = static_cast<std::uint32_t>(block.size());
    const std::size_t at = packed.size();
    packed.resize(at + sizeof bytes + bytes);
    std::memcpy(packed.data() + at, &bytes, sizeof bytes);
    if (bytes != 0) std::memcpy(packed.data() + at + sizeof bytes, block.data(), bytes);
  }
  return packed;
}

}  // namespace gex::team
