#pragma once
// Messages that have arrived and wait to be delivered: a queue that grows.
//
// Thread rules: any where the network is `threaded`.

#include <gex/plugin/conduit.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/spin_lock.h"

namespace gex::net {

/// `Arrival` is a message's place and sender.
template <class Arrival>
class Arrivals {
 public:
  explicit Arrivals(bool threaded) : threaded_(threaded), ring_(64) {}

  void push(const Arrival& arrival) {
    const OptionalGuard guard(mutex_, threaded_);
    const std::size_t count = count_.load(std::memory_order_relaxed);
    if (count == ring_.size()) grow();
    ring_[(first_ + count) % ring_.size()] = arrival;
    count_.store(count + 1, std::memory_order_relaxed);
  }

  /// About right while other threads run.
  bool is_empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }

  /// Takes the oldest; false when there is none.
  bool pop(Arrival& arrival) {
    // Under the mutex it is looked at again.
    if (is_empty()) return false;
    const OptionalGuard guard(mutex_, threaded_);
    const std::size_t count = count_.load(std::memory_order_relaxed);
    if (count == 0) return false;
    arrival = ring_[first_];
    first_ = (first_ + 1) % ring_.size();
    count_.store(count - 1, std::memory_order_relaxed);
    return true;
  }

 private:
  void grow() {
    std::vector<Arrival> larger;
    larger.reserve(2 * ring_.size());
    for (std::size_t i = 0; i < ring_.size(); ++i)
      larger.push_back(ring_[(first_ + i) % ring_.size()]);
    larger.resize(2 * ring_.size());
    ring_ = std::move(larger);
    first_ = 0;
  }

  bool threaded_;
  std::mutex mutex_;
  std::vector<Arrival> ring_;
  std::size_t first_ = 0;
  std::atomic<std::size_t> count_{0};
};

/// The arrivals of both channels.
template <class Arrival>
class ChannelArrivals {
 public:
  explicit ChannelArrivals(bool threaded)
      : queues_{Arrivals<Arrival>(threaded), Arrivals<Arrival>(threaded)} {}

  void push(Channel channel, const Arrival& arrival) { queues_[channel].push(arrival); }
  /// About right while other threads run.
  bool is_empty() const noexcept {
    return queues_[request_channel].is_empty() && queues_[reply_channel].is_empty();
  }
  /// Takes the oldest of these channels; false when there is none. Replies first: they give room
  /// and credits back, and their handlers are short.
  bool pop(std::uint32_t channels, Channel& channel, Arrival& arrival) {
    for (const Channel one : {reply_channel, request_channel}) {
      if ((channels >> one & 1U) == 0 || !queues_[one].pop(arrival)) continue;
      channel = one;
      return true;
    }
    return false;
  }
  /// Calls `drop(arrival)` for each that waits.
  template <class Drop>
  void drop_all(Drop drop) {
    Channel channel;
    for (Arrival arrival; pop(1U << request_channel | 1U << reply_channel, channel, arrival);)
      drop(arrival);
  }

 private:
  std::array<Arrivals<Arrival>, 2> queues_;
};

}  // namespace gex::net
