#pragma once
// The lanes of a process: several ends of the same network, such as endpoints of libfabric or
// workers of UCX, so that its threads do not share one and its lock.
//
// A thread sends over the lane of its number and begins its polls there. Every process has the
// first lane. A further one is opened when a thread of its number sends or transfers something, or
// when a peer offers that lane to a process with such a thread: a process with one thread has one
// lane, and polls nothing else. Nothing relies on an order between messages of two lanes, and what
// is kept of peers is kept for each lane by itself.
//
// Two processes agree on a lane by messages over the first one, its offers: each offers its own to
// a peer, once, when it has opened the lane and has something for the peer, or has got the peer's
// offer. A lane that leads to a peer is used with it; until then threads of the lane go over the
// first, whose connections exist, and so they always do to a process that does not open the lane.
//
// A poll visits the thread's own lane, and one of the others when it finds nothing there, at the
// latest every few times. It leaves alone a lane that a thread of that lane has polled since the
// visit before: what came over a lane whose thread has ended or computes is delivered by the
// others.
//
// A network's own class derives from `LaneSet<That, Lane, Offer>`, makes it a friend, and has what
// differs between networks:
//
//   std::unique_ptr<Lane> make(std::uint32_t number, std::string& error);
//     Opens a further lane; `error`: why it cannot be.
//   bool send_offer(Lane& lane, std::uint32_t number, std::uint32_t peer);
//     Offers an open lane to a peer, over the first one; false: there is no room now.
//   void meet(Lane& lane, std::uint32_t peer, const Offer& offer);
//     The peer has offered its lane of that number: connects with it. Perhaps not for the first
//     time.
//   Lane& for_messages(std::uint32_t peer);
//     `over`, with what the network takes for a way to a peer.
//   std::size_t poll_lane(Lane& lane, std::uint32_t channels, std::size_t max);
//
// A `Lane` has its messages, `network`, with a `prepare_wait` as a conduit's for one descriptor if
// the conduit has one, and `alignas(64) std::atomic<std::uint32_t> polls{0}`,
// which its own threads count, about right. A network has `has_built`, `send`, `buffer` and
// `release`, as in a conduit's table, and, for the end, `begin_to_leave`, `under_way`, `advance`
// and `finish_leaving`.
//
// Thread rules: all but the constructor and `drain` any.

#include <gex/plugin/conduit.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace gex::net {

inline constexpr std::uint32_t max_lanes = 16;

/// The lanes that a variable asks for, from 0 to `max`; outside that range `error` is set.
std::int64_t wanted_lanes(const Host& host, const char* variable, std::uint32_t max,
                          std::string& error);
/// How many lanes a process may have: as many as are wanted, or for 0 one for each processor of the
/// rank's, which threads that share processors would gain nothing from, and not many. One without
/// threads.
std::uint32_t lane_count(const Host& host, std::int64_t wanted);
/// Describes the wanted number for gexinfo: "at most 4 endpoints for the threads ...". `variable`:
/// by which they are wanted.
std::string describe_lanes(std::int64_t wanted, const char* ends, const char* variable);

/// A thread has this relation to the lanes of its process.
struct LaneThread {
  std::uint32_t number = 0;
  std::uint32_t polls_of_own = 0;  ///< since a visit to another lane
  std::uint32_t visits = 0;
  std::array<std::uint32_t, max_lanes> seen{};  ///< the lanes' polls at the last visit
};

template <class Network, class Lane, class Offer>
class LaneSet {
 public:
  LaneSet(const LaneSet&) = delete;
  LaneSet& operator=(const LaneSet&) = delete;

  Lane& first() noexcept { return *first_; }

  /// The calling thread goes by this number.
  void enter(std::uint32_t number) {
    thread_.number = number;
    const std::uint32_t own_number = number % count_;
    if (own_number == 0) return;
    // Before the mutex is taken: an offer finds this, or is found here.
    entered_.fetch_or(1U << own_number, std::memory_order_relaxed);
    const std::lock_guard guard(mutex_);
    if (!slots_[own_number].offers.empty()) open(own_number);
  }

  SendResult send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces) {
    // What was built in place goes over the lane whose place that is.
    Lane* const holder = pieces.empty() ? nullptr : holder_of(pieces.back().data);
    Lane& lane = holder != nullptr ? *holder : self().for_messages(peer);
    return lane.network.send(channel, peer, pieces);
  }
  void* buffer(Channel channel, std::uint32_t peer, std::size_t size) {
    return self().for_messages(peer).network.buffer(channel, peer, size);
  }
  void release(void* payload) {
    Lane* const holder = holder_of(payload);
    (holder != nullptr ? *holder : *first_).network.release(payload);
  }

  std::size_t poll(std::uint32_t channels, std::size_t max) {
    // Acquire: what has been opened is in the list.
    if (open_count_.load(std::memory_order_acquire) == 1) [[likely]]
      return self().poll_lane(*first_, channels, max);
    return poll_several(channels, max);
  }

  /// As of a conduit: for what comes over any lane that is open.
  std::int32_t prepare_wait(std::span<int> descriptors, std::uint64_t& limit_ns) {
    std::int32_t count = 0;
    for (Lane* lane : open_lanes()) {
      const std::int32_t result =
          lane->network.prepare_wait(descriptors[static_cast<std::size_t>(count)], limit_ns);
      if (result < 0) return result;
      count += result;
    }
    return count;
  }

 protected:
  /// How long a rank that leaves waits for peers that take nothing.
  static constexpr std::chrono::seconds farewell_limit{5};
  /// Polls that found something in a thread's own lane, after which it visits another all the same.
  static constexpr std::uint32_t max_polls_of_own = 16;

  /// `name`: the conduit's. `first`: the first lane of `count`.
  LaneSet(const Host& host, const char* name, std::uint32_t count, std::unique_ptr<Lane> first)
      : host_(host), name_(name), count_(count) {
    slots_[0].lane = std::move(first);
    first_ = slots_[0].lane.get();
    slots_[0].opened.store(first_, std::memory_order_relaxed);
    open_[0] = first_;
  }
  ~LaneSet() = default;

  std::uint32_t count() const noexcept { return count_; }
  /// Returns the lanes that are open.
  std::span<Lane* const> open_lanes() const noexcept {
    return {open_.data(), open_count_.load(std::memory_order_acquire)};
  }

  /// The calling thread's lane, if that leads to the peer (`leads(lane)`); else the first,
  /// and the peer is offered the thread's.
  template <class Leads>
  Lane& over(std::uint32_t peer, Leads leads) {
    if (count_ == 1) [[likely]]
      return *first_;
    const std::uint32_t number = thread_.number % count_;
    if (number == 0 || peer >= host_.size) return *first_;
    Lane& lane = own(number);
    if (&lane == first_ || leads(lane)) return lane;
    offer(lane, number, peer);
    return *first_;
  }

  /// Takes a peer's offer. The lane is opened if it has a thread here; false: it is not open now,
  /// and the offer is kept until it is.
  bool accept_offer(std::uint32_t number, std::uint32_t peer, Offer&& offered) {
    if (number == 0 || number >= count_) return false;
    const std::lock_guard guard(mutex_);
    Slot& slot = slots_[number];
    const bool has_thread = (entered_.load(std::memory_order_relaxed) >> number & 1U) != 0;
    Lane* const lane = has_thread ? &open(number) : slot.opened.load(std::memory_order_relaxed);
    if (lane == first_) return false;
    if (lane == nullptr) {
      slot.offers.push_back({peer, std::move(offered)});
      return false;
    }
    self().meet(*lane, peer, offered);
    offer(*lane, number, peer);
    return true;
  }
  /// Calls `visit(lane)` if this lane is open. No lane is opened and no offer taken meanwhile.
  template <class Visit>
  void if_open(std::uint32_t number, Visit visit) {
    if (number == 0 || number >= count_) return;
    const std::lock_guard guard(mutex_);
    Lane* const lane = slots_[number].opened.load(std::memory_order_relaxed);
    if (lane != nullptr && lane != first_) visit(*lane);
  }

  /// Returns when nothing is under way on any lane, or after some seconds in which nothing moves.
  /// No other thread runs.
  void drain() {
    for (Lane* lane : open_lanes()) lane->network.begin_to_leave();
    using Clock = std::chrono::steady_clock;
    auto until = Clock::now() + farewell_limit;
    std::size_t before = 0;
    for (;;) {
      std::size_t left = 0;
      for (Lane* lane : open_lanes()) left += lane->network.under_way();
      if (left == 0 || Clock::now() > until) break;
      if (left != before) until = Clock::now() + farewell_limit;
      before = left;
      for (Lane* lane : open_lanes()) lane->network.advance();
      std::this_thread::yield();
    }
    for (Lane* lane : open_lanes()) lane->network.finish_leaving();
  }

 private:
  struct Offered {
    std::uint32_t peer;
    Offer offer;
  };
  /// These belong to a lane whether it is open or not.
  struct Slot {
    std::unique_ptr<Lane> lane;
    std::atomic<Lane*> opened{nullptr};  ///< the first lane if this one could not be opened
    /// True, by peer, if the open lane was offered to it.
    std::unique_ptr<std::atomic<bool>[]> is_offered;
    std::vector<Offered> offers;  ///< taken before it was opened
  };

  Network& self() noexcept { return static_cast<Network&>(*this); }

  /// The lane that gave the place where a payload has been built; null: none did.
  Lane* holder_of(const void* payload) noexcept {
    for (Lane* const lane : open_lanes())
      if (lane->network.has_built(payload)) return lane;
    return nullptr;
  }

  /// The lane of that number, if it is open or could be opened; else the first.
  Lane& own(std::uint32_t number) {
    // Acquire: the lane is complete.
    if (Lane* const lane = slots_[number].opened.load(std::memory_order_acquire)) return *lane;
    const std::lock_guard guard(mutex_);
    return open(number);
  }

  /// With the mutex held.
  Lane& open(std::uint32_t number) {
    Slot& slot = slots_[number];
    if (Lane* const lane = slot.opened.load(std::memory_order_relaxed)) return *lane;
    std::string error;
    slot.lane = self().make(number, error);
    if (!error.empty()) {
      const std::string text =
          std::string(name_) +
          ": a lane for further threads cannot be opened, which share the first one: " + error;
      host_.warn(text.c_str());
      slot.opened.store(first_, std::memory_order_release);
      return *first_;
    }
    Lane& lane = *slot.lane;
    slot.is_offered = std::make_unique<std::atomic<bool>[]>(host_.size);
    // Release: a thread that sees the lane sees it complete.
    slot.opened.store(&lane, std::memory_order_release);
    const std::uint32_t count = open_count_.load(std::memory_order_relaxed);
    open_[count] = &lane;
    open_count_.store(count + 1, std::memory_order_release);
    for (const Offered& one : std::exchange(slot.offers, {})) {
      self().meet(lane, one.peer, one.offer);
      offer(lane, number, one.peer);
    }
    return lane;
  }

  void offer(Lane& lane, std::uint32_t number, std::uint32_t peer) {
    // Relaxed: one of several threads sends it, and what it is made of does not change.
    std::atomic<bool>& is_offered = slots_[number].is_offered[peer];
    if (is_offered.load(std::memory_order_relaxed) ||
        is_offered.exchange(true, std::memory_order_relaxed))
      return;
    // Without room for it now the next message tries again.
    if (!self().send_offer(lane, number, peer)) is_offered.store(false, std::memory_order_relaxed);
  }

  std::size_t poll_several(std::uint32_t channels, std::size_t max) {
    LaneThread& thread = thread_;
    Lane* lane = slots_[thread.number % count_].opened.load(std::memory_order_acquire);
    if (lane == nullptr) lane = first_;
    // Relaxed, and no addition: a sign of life, which threads of one lane may overwrite. A thread
    // that polls replies alone leaves requests to the others.
    if ((channels >> request_channel & 1U) != 0)
      lane->polls.store(lane->polls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    const std::size_t delivered = self().poll_lane(*lane, channels, max);
    if (delivered != 0 && ++thread.polls_of_own < max_polls_of_own) return delivered;
    thread.polls_of_own = 0;
    return delivered + visit_another(*lane, channels, max - delivered);
  }

  /// Polls one of the other lanes, unless its own threads do.
  std::size_t visit_another(const Lane& own, std::uint32_t channels, std::size_t max) {
    const std::span<Lane* const> open = open_lanes();
    LaneThread& thread = thread_;
    const auto next = [&] { return ++thread.visits % static_cast<std::uint32_t>(open.size()); };
    std::uint32_t which = next();
    if (open[which] == &own) which = next();
    Lane& other = *open[which];
    const std::uint32_t polls = other.polls.load(std::memory_order_relaxed);
    if (std::exchange(thread.seen[which], polls) != polls) return 0;
    return self().poll_lane(other, channels, max);
  }

  static inline constinit thread_local LaneThread thread_{};

  const Host& host_;
  const char* const name_;
  const std::uint32_t count_;
  std::array<Slot, max_lanes> slots_;
  Lane* first_;
  std::array<Lane*, max_lanes> open_{};       ///< in the order in which they were opened
  std::atomic<std::uint32_t> open_count_{1};  ///< of them
  std::atomic<std::uint32_t> entered_{0};     ///< bits: lanes with a thread
  std::mutex mutex_;                          ///< of slots and of opening
};

}  // namespace gex::net
