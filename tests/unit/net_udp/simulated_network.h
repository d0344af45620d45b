#pragma once
// A network of datagrams in one process, with a clock of its own and faults drawn from a seed.
//
//   SimulatedNetwork network({.seed = 1, .loss = 0.05});
//   std::unique_ptr<Socket> socket = network.open(0);
//
// Thread rules: sockets any, `now` too; everything else one thread at a time.

#include <netinet/in.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <set>
#include <vector>

#include "base/random.h"
#include "net/udp/packet.h"
#include "net/udp/socket.h"

namespace gex::net::udp::test {

inline constexpr double gigabit = 0.125;  ///< a rate, in bytes a nanosecond

struct Faults {
  std::uint64_t seed = 1;
  double loss = 0;
  double duplication = 0;
  double reordering = 0;  ///< takes up to ten times as long
  double corruption = 0;
  Time delay = 5'000;
  double rate = 0;        ///< bytes a nanosecond of each rank's link; 0: no bound
  std::size_t queue = 0;  ///< bytes that may wait in front of it
  std::size_t receive_buffer = std::size_t{1} << 20;
  std::size_t max_datagram = 65507;
  bool joins = false;
  bool searches = false;  ///< senders find out how much of `max_datagram` the way carries
  bool is_paced = true;   ///< senders spread what they send, where links have a rate
};

class SimulatedNetwork {
 public:
  explicit SimulatedNetwork(const Faults& faults) : faults_(faults), random_(faults.seed) {}

  std::atomic<Time> now = 1'000'000;

  static Address address_of(std::uint32_t rank, std::uint16_t shift = 0) {
    return Address::parse("127.0.0.1", static_cast<std::uint16_t>(1000 + rank + shift));
  }

  /// Everything to and from that rank is lost meanwhile.
  void cut_off(std::uint32_t rank, bool is_cut) {
    if (is_cut)
      cut_.insert(port_of(rank));
    else
      cut_.erase(port_of(rank));
  }
  /// From now on its datagrams come from another address, and only those to there reach it.
  void move(std::uint32_t rank) { shift_[rank] += 100; }

  /// Bytes of the largest datagram that the way carries, while the interfaces take `max_datagram`.
  std::size_t path = SIZE_MAX;
  /// Datagrams that were larger, and are lost.
  std::uint64_t too_large = 0;

  std::uint64_t carried() const { return carried_; }
  /// Datagrams that found a receive buffer full.
  std::uint64_t overflowed() const { return overflowed_; }
  /// Datagrams that found no room in front of a link.
  std::uint64_t dropped() const { return dropped_; }
  /// The most bytes that have waited there.
  std::size_t longest_queue() const { return longest_queue_; }
  /// When the next datagram can be received at that rank, if nothing more is sent; ~0: never.
  Time readable_at(std::uint32_t rank) {
    const std::lock_guard guard(mutex_);
    const Queue& queue = queues_[port_of(rank)];
    const Time time = now;
    if (!queue.waiting.empty()) return time;
    return queue.under_way.empty() ? ~Time{0} : std::max(time, queue.under_way.top().arrives);
  }
  /// A datagram from nowhere; `at_once`: it overtakes all others.
  void inject(std::uint32_t to, std::vector<std::byte> bytes, const Address& from,
              bool at_once = false) {
    if (at_once)
      queues_[port_of(to)].under_way.push({now, ++order_, from, std::move(bytes)});
    else
      deliver(port_of(to), from, std::move(bytes));
  }
  /// The rank at a port.
  static std::uint32_t rank_at(std::uint16_t port) { return port % 100U; }
  /// All that was ever sent, if it is wanted.
  bool records = false;
  struct Recorded {
    std::uint16_t to;
    Address from;
    std::vector<std::byte> bytes;
  };
  std::vector<Recorded> recorded;
  /// Something that happens as datagrams are handed over, before their bytes are taken.
  std::function<void()> before_send = [] {};
  /// How many of so many that are handed over in one call the system takes.
  std::function<std::size_t(std::size_t)> takes = [](std::size_t count) { return count; };

  std::unique_ptr<Socket> open(std::uint32_t rank);

 private:
  friend class SimulatedSocket;
  struct Datagram {
    Time arrives;
    std::uint64_t order;
    Address from;
    std::vector<std::byte> bytes;
    bool operator<(const Datagram& other) const {
      return arrives != other.arrives ? arrives > other.arrives : order > other.order;
    }
  };
  struct Queue {
    std::priority_queue<Datagram> under_way;
    std::deque<Datagram> waiting;  ///< in the receive buffer
    std::size_t charged = 0;
    Time free_at = 0;  ///< the link
  };

  std::uint16_t port_of(std::uint32_t rank) {
    return static_cast<std::uint16_t>(1000 + rank + shift_[rank]);
  }
  static std::size_t charge(std::size_t bytes) { return bytes + 768; }

  void carry(std::uint32_t from, const Address& to, std::vector<std::byte> bytes) {
    ++carried_;
    if (records) recorded.push_back({to.port(), address_of(from, shift_[from]), bytes});
    if (cut_.contains(port_of(from)) || cut_.contains(to.port())) return;
    if (random_.unit() < faults_.loss) return;
    const int copies = random_.unit() < faults_.duplication ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      auto copy = bytes;
      if (random_.unit() < faults_.corruption && !copy.empty())
        copy[random_.below(copy.size())] ^=
            std::byte{static_cast<unsigned char>(1 << random_.below(8))};
      deliver(to.port(), address_of(from, shift_[from]), std::move(copy));
    }
  }
  void deliver(std::uint16_t port, const Address& from, std::vector<std::byte> bytes) {
    Queue& queue = queues_[port];
    Time leaves = now;
    if (faults_.rate != 0) {
      const Time begins = std::max<Time>(now, queue.free_at);
      const auto waiting =
          static_cast<std::size_t>(static_cast<double>(begins - now) * faults_.rate);
      if (waiting > faults_.queue) {
        ++dropped_;
        return;
      }
      longest_queue_ = std::max(longest_queue_, waiting);
      leaves = begins + static_cast<Time>(static_cast<double>(bytes.size()) / faults_.rate);
      queue.free_at = leaves;
    }
    Time delay = faults_.delay;
    if (random_.unit() < faults_.reordering) delay += random_.below(10 * faults_.delay + 1);
    queue.under_way.push({leaves + delay, ++order_, from, std::move(bytes)});
  }
  /// Datagrams that have arrived by now.
  std::deque<Datagram>& arrived(std::uint16_t port) {
    Queue& queue = queues_[port];
    for (; !queue.under_way.empty() && queue.under_way.top().arrives <= now;
         queue.under_way.pop()) {
      const Datagram& datagram = queue.under_way.top();
      if (queue.charged + charge(datagram.bytes.size()) > faults_.receive_buffer) {
        ++overflowed_;
        continue;
      }
      queue.charged += charge(datagram.bytes.size());
      queue.waiting.push_back(datagram);
    }
    return queue.waiting;
  }
  void taken(std::uint16_t port, const Datagram& datagram) {
    queues_[port].charged -= charge(datagram.bytes.size());
  }

  Faults faults_;
  std::recursive_mutex mutex_;  ///< what happens as datagrams are handed over may use the network
  Random random_;
  std::map<std::uint16_t, Queue> queues_;
  std::map<std::uint32_t, std::uint16_t> shift_;
  std::set<std::uint16_t> cut_;
  std::uint64_t order_ = 0;
  std::uint64_t carried_ = 0;
  std::uint64_t overflowed_ = 0;
  std::uint64_t dropped_ = 0;
  std::size_t longest_queue_ = 0;
};

class SimulatedSocket final : public Socket {
 public:
  SimulatedSocket(SimulatedNetwork& network, std::uint32_t rank) : network_(network), rank_(rank) {
    limits_.max_batch = 65000;
    limits_.max_segments = 64;
    limits_.joins = network.faults_.joins;
    limits_.max_joined = 65536;
    limits_.receive_buffer = network.faults_.receive_buffer;
  }

  std::size_t send(std::span<const Outgoing> all) override {
    const std::lock_guard guard(network_.mutex_);
    network_.before_send();
    const std::size_t taken = std::min(network_.takes(all.size()), all.size());
    for (const Outgoing& one : all.first(taken)) {
      std::vector<std::byte> bytes;
      for (std::uint32_t i = 0; i < one.count; ++i) {
        const auto* from = static_cast<const std::byte*>(one.pieces[i].iov_base);
        bytes.insert(bytes.end(), from, from + one.pieces[i].iov_len);
      }
      const std::size_t segment = one.segment != 0 ? one.segment : bytes.size();
      for (std::size_t at = 0; at < bytes.size(); at += segment) {
        const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(at);
        const std::size_t size = std::min(segment, bytes.size() - at);
        if (size > network_.faults_.max_datagram || size > network_.path)
          ++network_.too_large;
        else
          network_.carry(rank_, *one.to, {begin, begin + static_cast<std::ptrdiff_t>(size)});
      }
    }
    return taken;
  }

  std::size_t receive(std::span<Incoming> all) override {
    const std::lock_guard guard(network_.mutex_);
    const std::uint16_t port = network_.port_of(rank_);
    auto& waiting = network_.arrived(port);
    std::size_t count = 0;
    for (; count < all.size() && !waiting.empty(); ++count) {
      std::vector<std::byte> bytes = waiting.front().bytes;
      const Address from = waiting.front().from;
      network_.taken(port, waiting.front());
      waiting.pop_front();
      Incoming& place = all[count];
      place.segment = 0;
      const std::size_t segment = bytes.size();
      // Joins what is of one size and one sender.
      while (limits_.joins && !waiting.empty() && waiting.front().from == from &&
             waiting.front().bytes.size() <= segment && segment != 0 &&
             bytes.size() % segment == 0 && bytes.size() + segment <= 65536) {
        const auto& more = waiting.front().bytes;
        bytes.insert(bytes.end(), more.begin(), more.end());
        place.segment = static_cast<std::uint16_t>(segment);
        network_.taken(port, waiting.front());
        waiting.pop_front();
      }
      place.from = from;
      place.bytes = bytes.size();
      place.congested = false;
      place.cut = false;
      std::size_t at = 0;
      for (std::uint32_t i = 0; i < place.count; ++i) {
        const std::size_t size = std::min(place.pieces[i].iov_len, bytes.size() - at);
        if (size != 0) std::memcpy(place.pieces[i].iov_base, bytes.data() + at, size);
        at += size;
      }
      if (at != bytes.size()) {
        place.cut = true;
        place.bytes = at;
      }
    }
    return count;
  }

  const SocketLimits& limits() const noexcept override { return limits_; }
  std::size_t max_datagram(const Address&) const override { return network_.faults_.max_datagram; }
  std::size_t charge(std::size_t bytes) const noexcept override {
    return SimulatedNetwork::charge(bytes);
  }

 private:
  SimulatedNetwork& network_;
  std::uint32_t rank_;
  SocketLimits limits_;
};

inline std::unique_ptr<Socket> SimulatedNetwork::open(std::uint32_t rank) {
  return std::make_unique<SimulatedSocket>(*this, rank);
}

}  // namespace gex::net::udp::test
