#pragma once
// The credits between this process and one peer over a network: how many requests it may still
// send there, and how many of the peer's it has to give back.
//
// A request takes a credit; its reply, or what the peer gives back for those that ended without
// one, returns it. There are never more than at the start, so a peer that returns more than are out
// is not believed: the room at the peer, which the credits stand for, would be promised twice.
//
// Thread rules: any. All orders are relaxed: what a credit is about comes and goes with messages,
// and whoever sends or receives one of those has synchronized with the conduit.

#include <atomic>
#include <cstdint>
#include <limits>

namespace gex::am {

class Credits {
 public:
  /// What one message can give back.
  static constexpr std::uint32_t most_in_a_message = std::numeric_limits<std::uint16_t>::max();

  /// Start-up only.
  void start(std::uint32_t depth) noexcept {
    depth_ = depth < most ? static_cast<std::int32_t>(depth) : most;
    left_.store(depth_, std::memory_order_relaxed);
    give_back_at_ = static_cast<std::uint32_t>(depth_) / 2;
    if (give_back_at_ < 1) give_back_at_ = 1;
    if (give_back_at_ > most_in_a_message) give_back_at_ = most_in_a_message;
  }

  /// Takes the credit of a request; false if there is none.
  bool take() noexcept {
    if (left_.fetch_sub(1, std::memory_order_relaxed) > 0) return true;
    restore();
    return false;
  }
  /// Gives one back that was taken: the request was not sent, or its reply's handler has returned.
  void restore() noexcept { left_.fetch_add(1, std::memory_order_relaxed); }

  /// Whether any request is out, as one is until `restore` follows its reply.
  bool any_out() const noexcept { return left_.load(std::memory_order_relaxed) < depth_; }
  /// The peer gives so many back; false if it has not had so many requests.
  bool accept(std::uint32_t count) noexcept {
    // Whoever finds none left has it one lower for a moment, never higher than it is.
    const std::int32_t before =
        left_.fetch_add(static_cast<std::int32_t>(count), std::memory_order_relaxed);
    return static_cast<std::int64_t>(before) + count <= depth_;
  }

  /// One request of the peer's has ended without a reply. Returns whether so many have that they
  /// deserve a message of their own.
  bool owe() noexcept { return owed_.fetch_add(1, std::memory_order_relaxed) + 1 >= give_back_at_; }
  /// Takes what is owed into a message, as many as one can give back.
  std::uint16_t take_owed() noexcept {
    if (owed_.load(std::memory_order_relaxed) == 0) return 0;
    std::uint32_t taken = owed_.exchange(0, std::memory_order_relaxed);
    if (taken > most_in_a_message) [[unlikely]] {
      owe_again(taken - most_in_a_message);
      taken = most_in_a_message;
    }
    return static_cast<std::uint16_t>(taken);
  }
  /// Those that were taken into a message which was not sent.
  void owe_again(std::uint32_t count) noexcept {
    owed_.fetch_add(count, std::memory_order_relaxed);
  }

 private:
  /// Far from where what a hostile peer adds could wrap.
  static constexpr std::int32_t most = 1 << 30;

  std::atomic<std::int32_t> left_{0};
  std::atomic<std::uint32_t> owed_{0};
  std::int32_t depth_ = 0;
  std::uint32_t give_back_at_ = 1;
};

}  // namespace gex::am
