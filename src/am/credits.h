#pragma once
// The credits between this process and one peer over a network: how many requests it may still
// send there, and how many of the peer's it has to give back.
//
// A request takes a credit; its reply, or what the peer gives back for those that ended without
// one, returns it. There are never more than the allowance, so it is refused if a peer returns more
// than are out: the room at the peer, which the credits stand for, would be promised twice. A peer
// may lend some beyond the initial allowance (lender.h), and ask for those that are not in use.
//
// Thread rules: any. All orders are relaxed: what a credit stands for is used by messages, and a
// thread that sends or receives one has synchronized with the conduit.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "base/assert.h"

namespace gex::am {

/// Takes from the count all there is, up to `max`.
inline std::uint32_t take_counted(std::atomic<std::uint32_t>& count, std::uint32_t max) noexcept {
  if (count.load(std::memory_order_relaxed) == 0) return 0;
  const std::uint32_t taken = count.exchange(0, std::memory_order_relaxed);
  if (taken <= max) [[likely]]
    return taken;
  count.fetch_add(taken - max, std::memory_order_relaxed);
  return max;
}

class Credits {
 public:
  /// Maximum that one message can give back.
  static constexpr std::uint32_t max_per_message = std::numeric_limits<std::uint16_t>::max();

  /// Before any other function, by any threads with equal arguments. `share`: how many there are at
  /// first, at least 1; `max`: with all that can be lent. Returns true to the first of them.
  bool start(std::uint32_t share, std::uint32_t max) noexcept {
    GEX_ASSERT(share != 0 && share <= max);
    share_.store(std::min(share, limit), std::memory_order_relaxed);
    max_.store(std::min(max, limit), std::memory_order_relaxed);
    std::uint64_t not_started = 0;
    // Release: a thread that finds this finds the others. Only the first counts, since credits may
    // be out by then.
    return state_.compare_exchange_strong(not_started, both(std::min(share, limit)),
                                          std::memory_order_release, std::memory_order_relaxed);
  }
  /// Zero bits are credits that were not started. Acquire.
  bool is_started() const noexcept { return state_.load(std::memory_order_acquire) != 0; }

  /// Takes the credit of a request; false if there is none.
  bool take() noexcept {
    std::uint64_t state = state_.load(std::memory_order_relaxed);
    do {
      if (left_in(state) == 0) {
        if (allowance_in(state) < max()) starved_.store(true, std::memory_order_relaxed);
        return false;
      }
    } while (!state_.compare_exchange_weak(state, state - 1, std::memory_order_relaxed));
    return true;
  }
  /// Gives one back that was taken: the request was not sent, or its reply's handler has returned.
  void restore() noexcept {
    [[maybe_unused]] const std::uint64_t before = state_.fetch_add(1, std::memory_order_relaxed);
    GEX_ASSERT(left_in(before) < allowance_in(before));
  }

  /// Returns true if any request is out, as one is until `restore` follows its reply.
  bool any_out() const noexcept {
    const std::uint64_t state = state_.load(std::memory_order_relaxed);
    return left_in(state) < allowance_in(state);
  }
  /// The peer gives so many back; false if it has not had so many requests.
  bool accept(std::uint32_t count) noexcept {
    const std::uint64_t before = state_.fetch_add(count, std::memory_order_relaxed);
    return std::uint64_t{left_in(before)} + count <= allowance_in(before);
  }

  /// Returns true if a request found no credit since the last call, though the peer could lend
  /// some.
  bool take_starved() noexcept {
    return starved_.load(std::memory_order_relaxed) &&
           starved_.exchange(false, std::memory_order_relaxed);
  }
  void mark_starved() noexcept { starved_.store(true, std::memory_order_relaxed); }
  /// The peer lends so many; false if that makes more than it can lend.
  bool borrow(std::uint32_t count) noexcept {
    const std::uint64_t before = state_.fetch_add(both(count), std::memory_order_relaxed);
    return std::uint64_t{allowance_in(before)} + count <= max();
  }
  /// Takes borrowed credits out of use, all that are left; returns how many.
  std::uint32_t give_up_borrowed() noexcept {
    std::uint64_t state = state_.load(std::memory_order_relaxed);
    std::uint32_t count = 0;
    do {
      GEX_ASSERT(allowance_in(state) >= share() && left_in(state) <= allowance_in(state));
      count = std::min(left_in(state), allowance_in(state) - share());
    } while (!state_.compare_exchange_weak(state, state - both(count), std::memory_order_relaxed));
    return count;
  }
  /// `count` borrowed credits are to go back with the next messages, each with up to `max`.
  void return_later(std::uint32_t count) noexcept {
    to_return_.fetch_add(count, std::memory_order_relaxed);
  }
  std::uint32_t take_returned(std::uint32_t max) noexcept { return take_counted(to_return_, max); }

  /// One request of the peer's has ended without a reply. Returns whether enough have for a message
  /// of their own: half of its share.
  bool owe() noexcept {
    return owed_.fetch_add(1, std::memory_order_relaxed) + 1 >= give_back_at();
  }
  /// Returns true if that many are owed already.
  bool owes_enough() const noexcept {
    return owed_.load(std::memory_order_relaxed) >= give_back_at();
  }
  /// Takes what is owed into a message, as many as one can give back.
  std::uint16_t take_owed() noexcept {
    return static_cast<std::uint16_t>(take_counted(owed_, max_per_message));
  }
  /// Restores those taken into a message that was not sent. Returns what `owe` does: other threads
  /// have relied on that message.
  [[nodiscard]] bool owe_again(std::uint32_t count) noexcept {
    return owed_.fetch_add(count, std::memory_order_relaxed) + count >= give_back_at();
  }

 private:
  std::uint32_t share() const noexcept { return share_.load(std::memory_order_relaxed); }
  std::uint32_t max() const noexcept { return max_.load(std::memory_order_relaxed); }
  std::uint32_t give_back_at() const noexcept {
    return std::clamp(share() / 2, 1U, max_per_message);
  }

  /// So low that what a hostile peer adds cannot wrap.
  static constexpr std::uint32_t limit = 1U << 30;

  // Both in one word, so that they are seen together.
  static constexpr std::uint64_t both(std::uint32_t count) noexcept {
    return std::uint64_t{count} << 32 | count;
  }
  static constexpr std::uint32_t left_in(std::uint64_t state) noexcept {
    return static_cast<std::uint32_t>(state);
  }
  static constexpr std::uint32_t allowance_in(std::uint64_t state) noexcept {
    return static_cast<std::uint32_t>(state >> 32);
  }

  std::atomic<std::uint64_t> state_{0};
  std::atomic<std::uint32_t> owed_{0};
  std::atomic<std::uint32_t> to_return_{0};
  std::atomic<bool> starved_{false};
  std::atomic<std::uint32_t> share_{0};
  std::atomic<std::uint32_t> max_{0};
};

}  // namespace gex::am
