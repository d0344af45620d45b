#include "match.h"

#include <algorithm>
#include <array>
#include <memory>
#include <tuple>
#include <vector>

namespace gextrace {

namespace {

using gex::trace::by_network;
using gex::trace::by_shared_ring;
using gex::trace::is_reply;
using gex::trace::network_id_bits;
using gex::trace::to_itself;

/// One end of a message. What is the same at both ends comes first.
struct End {
  std::uint64_t ranks;    ///< source and target
  std::uint32_t channel;  ///< how it went, request or reply
  std::uint64_t id;
  bool handled;
  Place place;

  auto key() const { return std::tuple(ranks, channel, id, handled); }
  bool same_message(const End& other) const {
    return ranks == other.ranks && channel == other.channel && id == other.id;
  }
};

constexpr std::uint32_t channel_of(std::uint8_t detail) {
  return detail & (is_reply | by_network | to_itself | by_shared_ring);
}

/// Gives the handlers of one channel of a network the whole numbers of their messages, of which
/// they have the lower bits.
class Channel {
 public:
  Channel(std::vector<End>& ends, std::size_t begin, std::size_t end, const Job& job) : job_(job) {
    for (std::size_t i = begin; i < end; ++i) {
      if (ends[i].handled)
        handled_.push_back(&ends[i]);
      else
        sent_[ends[i].id % cycle].push_back(&ends[i]);
    }
    std::sort(handled_.begin(), handled_.end(),
              [this](const End* one, const End* other) { return time_of(*one) < time_of(*other); });
    for (std::vector<const End*>& alike : sent_)
      std::sort(alike.begin(), alike.end(),
                [](const End* one, const End* other) { return one->id < other->id; });
  }

  void complete_numbers() {
    // Numbers from here on are of messages whose sending the sender's ring has dropped.
    std::uint64_t unknown = std::uint64_t{1} << 63;
    std::uint64_t expected = none;
    for (End* const one : handled_) {
      const End* message = nearest(*one, expected);
      if (message == nullptr) message = latest_before(*one);
      // One that is far behind is of an earlier cycle: the ring has dropped the handler's own.
      const bool behind =
          message != nullptr && expected != none && message->id + cycle / 2 < expected;
      if (message == nullptr || behind) {
        one->id = unknown++;
        continue;
      }
      one->id = message->id;
      expected = expected == none ? message->id : std::max(expected, message->id);
    }
  }

 private:
  static constexpr std::uint64_t cycle = std::uint64_t{1} << network_id_bits;
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  std::int64_t time_of(const End& one) const {
    return job_.ranks[one.place.rank].events[one.place.event].at;
  }

  /// Returns true if the message can have run the handler. Clocks of different hosts are not
  /// aligned yet.
  bool can_be(const End& message, const End& handler) const {
    constexpr std::int64_t between_hosts = 100'000'000;
    const bool same =
        job_.ranks[message.place.rank].boot_id == job_.ranks[handler.place.rank].boot_id;
    return time_of(message) <= time_of(handler) + (same ? 0 : between_hosts);
  }

  /// The message whose number is nearest to those before: messages overtake few others.
  const End* nearest(const End& handler, std::uint64_t expected) const {
    if (expected == none) return nullptr;
    std::uint64_t number = expected - expected % cycle + handler.id % cycle;
    if (number > expected + cycle / 2 && number >= cycle)
      number -= cycle;
    else if (number + cycle / 2 < expected)
      number += cycle;
    const std::vector<const End*>& alike = sent_[number % cycle];
    const auto found =
        std::lower_bound(alike.begin(), alike.end(), number,
                         [](const End* one, std::uint64_t other) { return one->id < other; });
    const bool fits = found != alike.end() && (*found)->id == number && can_be(**found, handler);
    return fits ? *found : nullptr;
  }

  /// The last one with its lower bits that was sent before. Numbers rise with time.
  const End* latest_before(const End& handler) const {
    const std::vector<const End*>& alike = sent_[handler.id % cycle];
    const auto after = std::partition_point(alike.begin(), alike.end(),
                                            [&](const End* one) { return can_be(*one, handler); });
    return after == alike.begin() ? nullptr : *(after - 1);
  }

  const Job& job_;
  std::vector<End*> handled_;
  std::array<std::vector<const End*>, cycle> sent_;  ///< by the lower bits
};

}  // namespace

Messages match(const Job& job) {
  Messages messages;
  std::vector<End> ends;
  for (std::uint32_t index = 0; index < job.ranks.size(); ++index) {
    const RankTrace& trace = job.ranks[index];
    for (std::uint32_t i = 0; i < trace.events.size(); ++i) {
      const Event& event = trace.events[i];
      const bool sent = event.kind == Kind::message_sent;
      if (!sent && event.kind != Kind::handler_begin) continue;
      (sent ? messages.sent : messages.handled) += 1;
      const std::uint64_t from = sent ? trace.rank : event.peer;
      const std::uint64_t to = sent ? event.peer : trace.rank;
      ends.push_back({from << 32 | to, channel_of(event.detail), event.id, !sent, {index, i}});
    }
  }
  const auto in_order = [](const End& one, const End& other) { return one.key() < other.key(); };
  std::sort(ends.begin(), ends.end(), in_order);
  for (std::size_t begin = 0, end; begin < ends.size(); begin = end) {
    end = begin;
    while (end < ends.size() && ends[end].ranks == ends[begin].ranks &&
           ends[end].channel == ends[begin].channel)
      ++end;
    if ((ends[begin].channel & by_network) == 0) continue;
    std::make_unique<Channel>(ends, begin, end, job)->complete_numbers();
    std::sort(ends.begin() + static_cast<std::ptrdiff_t>(begin),
              ends.begin() + static_cast<std::ptrdiff_t>(end), in_order);
  }
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    if (ends[i].handled || !ends[i + 1].handled || !ends[i].same_message(ends[i + 1])) continue;
    messages.arrows.push_back({ends[i].place, ends[i + 1].place});
  }
  return messages;
}

}  // namespace gextrace
