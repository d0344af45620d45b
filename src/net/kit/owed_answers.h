#pragma once
// Acknowledgements of puts that were made of messages and have arrived here: several to one peer go
// in one message, once what has come is handled.
//
// Thread rules: one thread at a time.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gex::net {

class OwedAnswers {
 public:
  /// Acknowledgements in one message.
  static constexpr std::size_t max_together = 64;

  /// `number`: of the put, at the peer.
  void add(std::uint32_t peer, std::uint32_t number) { owed_.push_back({peer, number}); }
  bool is_empty() const noexcept { return owed_.empty(); }

  /// Calls `send(peer, numbers)` for all of them, those to one peer together; false: it cannot be
  /// sent now, and stays owed.
  template <class Send>
  void send_all(Send send) {
    const auto by_peer = [](const Owed& one, const Owed& other) { return one.peer < other.peer; };
    // Mostly they are of one peer.
    if (!std::ranges::is_sorted(owed_, by_peer)) std::ranges::stable_sort(owed_, by_peer);
    std::array<std::uint32_t, max_together> numbers;
    std::size_t left = 0;
    for (std::size_t i = 0; i < owed_.size();) {
      const std::size_t first = i;
      std::size_t count = 0;
      for (; i < owed_.size() && owed_[i].peer == owed_[first].peer && count < max_together; ++i)
        numbers[count++] = owed_[i].number;
      if (!send(owed_[first].peer, std::span<const std::uint32_t>(numbers.data(), count)))
        for (std::size_t kept = first; kept < i; ++kept) owed_[left++] = owed_[kept];
    }
    owed_.resize(left);
  }

 private:
  struct Owed {
    std::uint32_t peer;
    std::uint32_t number;
  };
  std::vector<Owed> owed_;
};

}  // namespace gex::net
