#pragma once
// Finds out when messages to a peer are lost.
//
// A provider that makes its endpoints out of connections does not report to the sender that a
// message which it had completed was lost with the connection; the receiver gets no more than the
// error that something broke off. So both ends count. About once a second a rank asks each peer to
// which it has sent since the last answer how many messages have come from it. What had been sent
// before one question and has not come by the answer to the second question after it, a second or
// more each, never comes: a connection keeps its order, and what is fetched by the receiver instead
// takes no longer than the polls between two questions. A peer that does not poll gives no answer:
// no loss is concluded, and questions to it become rare.
//
// Thread rules: `sent` any where the network is `threaded`; everything else one thread at a time.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "base/cache_line.h"
#include "base/met_ranks.h"
#include "base/zeroed_table.h"
#include "net/kit/stamp.h"

namespace gex::net {

/// A question or an answer, as a message of the conduit's own carries it.
struct Tally {
  std::uint64_t round;     ///< of the question's sender
  std::uint64_t received;  ///< answer: messages that have come from the question's sender
  std::uint64_t answers;   ///< 0: a question, 1: an answer
  std::uint64_t unused;
};
static_assert(sizeof(Tally) % message_alignment == 0);

class LossDetector {
 public:
  static constexpr std::uint64_t shortest_interval_ns = 1'000'000'000;
  static constexpr std::uint64_t longest_interval_ns = 64 * shortest_interval_ns;

  /// `patience`: rounds more, for networks that keep no order and may send a message again after
  /// seconds.
  LossDetector(std::size_t ranks, bool threaded, std::uint32_t patience = 0)
      : peers_(ranks), sent_to_(threaded), threaded_(threaded), patience_(patience) {}

  /// Counts a message to that rank; called after it was handed to the provider.
  void sent(std::uint32_t peer) noexcept {
    // Relaxed: a count.
    std::atomic<std::uint64_t>& count = peers_[peer].sent;
    const std::uint64_t before = threaded_ ? count.fetch_add(1, std::memory_order_relaxed)
                                           : count.load(std::memory_order_relaxed);
    if (!threaded_) count.store(before + 1, std::memory_order_relaxed);
    if (before == 0) [[unlikely]]
      sent_to_.add(peer);
  }
  /// One has come from it.
  void received(std::uint32_t peer) noexcept { ++peers_[peer].received; }
  /// The ranks to which any was sent.
  const MetRanks& sent_to() const noexcept { return sent_to_; }

  /// Calls `ask(peer, question)` for all that are to be asked now; false: the question could not be
  /// sent.
  template <class Ask>
  void ask_when_due(std::uint64_t now_ns, Ask ask) {
    if (now_ns < next_look_ns_) return;
    next_look_ns_ = now_ns + shortest_interval_ns;
    for (std::size_t i = 0; i < sent_to_.size(); ++i) {
      const std::uint32_t rank = sent_to_[i];
      PeerCounts& peer = peers_[rank];
      const std::uint64_t sent = peer.sent.load(std::memory_order_relaxed);
      if (sent == peer.confirmed || now_ns < peer.next_ns) continue;
      if (!ask(rank, Tally{peer.round + 1, 0, 0, 0})) continue;
      ++peer.round;
      peer.asked = sent;
      peer.interval_ns =
          std::clamp(2 * peer.interval_ns, shortest_interval_ns, longest_interval_ns);
      peer.next_ns = now_ns + peer.interval_ns;
    }
  }

  Tally answer_to(std::uint32_t asker, const Tally& question) const noexcept {
    return {question.round, peers_[asker].received, 1, 0};
  }

  /// An answer; returns true if more have come for sure than were sent: some were delivered twice.
  bool has_surplus(std::uint32_t rank, const Tally& answer) noexcept {
    PeerCounts& peer = peers_[rank];
    // A thread counts what it has sent only afterwards: once may be by chance.
    const bool is_more = answer.received > peer.sent.load(std::memory_order_relaxed);
    return std::exchange(peer.had_surplus, is_more) && is_more;
  }

  /// An answer; returns how many messages are lost for sure.
  std::uint64_t handle_answer(std::uint32_t rank, const Tally& answer) noexcept {
    PeerCounts& peer = peers_[rank];
    // The snapshot of a question that was given up is forgotten, so its answer has no use.
    if (answer.round != peer.round) return 0;
    peer.interval_ns = 0;
    peer.next_ns = std::min(peer.next_ns, next_look_ns_);
    if (answer.received >= peer.asked) {
      peer.confirmed = peer.asked;
      peer.before = peer.long_before = 0;
      peer.late_rounds = 0;
      return 0;
    }
    if (answer.received < peer.long_before) {
      if (++peer.late_rounds > patience_) return peer.long_before - answer.received;
    } else {
      peer.late_rounds = 0;
      peer.long_before = peer.before;
      peer.before = peer.asked;
    }
    // Only the next round's answer counts.
    ++peer.round;
    return 0;
  }

 private:
  struct PeerCounts {
    alignas(cache_line) std::atomic<std::uint64_t> sent{0};
    std::uint64_t received = 0;
    std::uint64_t confirmed = 0;  ///< so many of those sent have come
    std::uint64_t round = 0;
    std::uint64_t asked = 0;        ///< sent before the last question
    std::uint64_t before = 0;       ///< before the question before, where that found some missing
    std::uint64_t long_before = 0;  ///< and before the one before that
    bool had_surplus = false;       ///< in the last answer
    std::uint32_t late_rounds = 0;  ///< in which those were still missing
    std::uint64_t interval_ns = 0;  ///< between the last question and the next; 0: none was asked
    std::uint64_t next_ns = 0;
  };

  ZeroedTable<PeerCounts> peers_;
  MetRanks sent_to_;
  bool threaded_;
  std::uint32_t patience_;
  std::uint64_t next_look_ns_ = 0;
};

}  // namespace gex::net
