#include "net/emu/reorder.h"

#include <bit>
#include <cstddef>

namespace gex::net::emu {

Reorder::Reorder(std::uint64_t seed, std::uint32_t rank, std::uint32_t queues, std::uint32_t depth)
    : random_(seed, rank), depth_(depth), known_(queues), due_(std::size_t{queues} * depth) {
}

std::uint32_t Reorder::draw_delay() noexcept {
  const std::uint64_t bits = random_();
  if ((bits & 1) != 0) return 0;
  // Short delays swap neighbours, long ones let whole exchanges pass: every magnitude is as likely.
  const auto magnitude = static_cast<std::uint32_t>(bits >> 1) % std::bit_width(longest_delay);
  return std::uint32_t{1} << magnitude;
}

void Reorder::look() noexcept {
  ++now_;
  candidates_ = 0;
  held_back_ = false;
  longest_wait_ = 0;
}

void Reorder::consider(std::uint32_t queue, std::uint64_t ready) noexcept {
  std::uint32_t* due = &due_[std::size_t{queue} * depth_];
  for (std::uint64_t left = ready; left != 0; left &= left - 1) {
    const int slot = std::countr_zero(left);
    if ((known_[queue] >> slot & 1) == 0) {
      known_[queue] |= std::uint64_t{1} << slot;
      due[slot] = now_ + draw_delay();
    }
    const auto wait = static_cast<std::int32_t>(now_ - due[slot]);
    if (wait < 0) {
      held_back_ = true;
      continue;
    }
    ++candidates_;
    if (random_.below(candidates_) == 0) picked_ = {queue, slot};
    if (static_cast<std::uint32_t>(wait) >= longest_wait_) {
      longest_wait_ = static_cast<std::uint32_t>(wait);
      oldest_ = {queue, slot};
    }
  }
}

bool Reorder::choose(Choice& choice) noexcept {
  if (candidates_ == 0) return false;
  choice = longest_wait_ >= patience ? oldest_ : picked_;
  known_[choice.queue] &= ~(std::uint64_t{1} << choice.slot);
  return true;
}

}  // namespace gex::net::emu
