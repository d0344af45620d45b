#include "net/emu/reorder.h"

#include <bit>
#include <cstddef>

#include "base/random.h"

namespace gex::net::emu {

Reorder::Reorder(std::uint64_t seed, std::uint32_t rank, std::uint32_t queues, std::uint32_t depth)
    : key_(Random(seed, rank)()),
      depth_(depth),
      known_(queues),
      drawn_(std::size_t{queues} * depth) {
}

Reorder::Drawn Reorder::draw(std::uint32_t queue, std::uint32_t sequence) const noexcept {
  SplitMix64 hash(key_ ^ SplitMix64(std::uint64_t{queue} << 32 | sequence)());
  const std::uint64_t bits = hash();
  const auto precedence = static_cast<std::uint32_t>(hash());
  if ((bits & 1) != 0) return {now_, precedence};
  // Short delays swap neighbours, long ones let whole exchanges pass: every magnitude is as likely.
  const auto magnitude = static_cast<std::uint32_t>(bits >> 1) % std::bit_width(longest_delay);
  return {now_ + (std::uint32_t{1} << magnitude), precedence};
}

void Reorder::begin_look() noexcept {
  ++now_;
  candidates_ = 0;
  held_back_ = false;
  longest_wait_ = 0;
}

void Reorder::consider(std::uint32_t queue, int slot, std::uint32_t sequence) noexcept {
  Drawn& drawn = drawn_[std::size_t{queue} * depth_ + static_cast<std::uint32_t>(slot)];
  if ((known_[queue] >> slot & 1) == 0) {
    known_[queue] |= std::uint64_t{1} << slot;
    drawn = draw(queue, sequence);
  }
  const auto wait = static_cast<std::int32_t>(now_ - drawn.due);
  if (wait < 0) {
    held_back_ = true;
    return;
  }
  if (candidates_++ == 0 || drawn.precedence > highest_precedence_) {
    highest_precedence_ = drawn.precedence;
    picked_ = {queue, slot};
  }
  if (static_cast<std::uint32_t>(wait) >= longest_wait_) {
    longest_wait_ = static_cast<std::uint32_t>(wait);
    oldest_ = {queue, slot};
  }
}

bool Reorder::choose(Choice& choice) noexcept {
  if (candidates_ == 0) return false;
  choice = longest_wait_ >= patience ? oldest_ : picked_;
  known_[choice.queue] &= ~(std::uint64_t{1} << choice.slot);
  return true;
}

}  // namespace gex::net::emu
