#include "match.h"

#include <algorithm>
#include <tuple>

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

/// The ends of the messages of one channel of a network, with whole numbers: a handler knows the
/// lower bits of its message's. Numbers count from 0 and arrive in nearly that order.
void complete_numbers(std::vector<End>& ends, std::size_t begin, std::size_t end, const Job& job) {
  constexpr std::uint64_t cycle = std::uint64_t{1} << network_id_bits;
  std::vector<End*> handled;
  std::vector<const End*> sent;
  for (std::size_t i = begin; i < end; ++i) {
    if (ends[i].handled)
      handled.push_back(&ends[i]);
    else
      sent.push_back(&ends[i]);
  }
  if (handled.empty() || sent.empty()) return;
  const auto time_of = [&](const End& one) {
    return job.ranks[one.place.rank].events[one.place.event].at;
  };
  std::sort(handled.begin(), handled.end(),
            [&](const End* one, const End* other) { return time_of(*one) < time_of(*other); });
  std::sort(sent.begin(), sent.end(),
            [](const End* one, const End* other) { return one->id < other->id; });
  // Where the rings have dropped the beginning of either side, the first number is not the lowest:
  // of those with its lower bits it is the latest that was sent before it arrived.
  std::uint64_t expected = handled.front()->id;
  for (const End* one : sent) {
    if (one->id % cycle != handled.front()->id % cycle) continue;
    if (one->id != sent.front()->id && time_of(*one) > time_of(*handled.front())) break;
    expected = one->id;
  }
  for (End* one : handled) {
    const std::uint64_t lower = one->id % cycle;
    std::uint64_t number = expected - expected % cycle + lower;
    if (number > expected + cycle / 2 && number >= cycle)
      number -= cycle;
    else if (number + cycle / 2 < expected)
      number += cycle;
    one->id = number;
    expected = std::max(expected, number);
  }
}

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
    complete_numbers(ends, begin, end, job);
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
