#pragma once
// The part of a barrier between neighborhoods: dissemination, in words that the members of a
// neighborhood share (shm/barrier_stage.h).
//
// In round k a neighborhood reports to the one 2^k further on how far its members and those of
// which it has reports have come. One member, its leader, does that for the neighborhood. But a
// report holds for good once it holds: any member may send it, and one that comes twice or late
// does no harm, because the furthest counts. So a member that waits and sees no progress of the
// leader (LeaderWatch), which computes, takes its place, without any agreement.
//
// Reports go to the lowest of a neighborhood, until another member asks for them. A sender notes
// the report and its receiver in one word, in which the member that asks is noted, too: either that
// one is answered with the report, or the sender finds it there and sends the report again.
//
// Pure: no process, no network. Any thread of any member, any function.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

#include "base/clock.h"
#include "shm/barrier_stage.h"
#include "team/barrier_flags.h"
#include "team/barrier_value.h"

namespace gex::team {

/// How far members have come, and what their values make together, in one word.
class Report {
 public:
  explicit constexpr Report(std::uint64_t word) noexcept : word_(word) {}
  constexpr Report(std::uint32_t number, const BarrierValue& value) noexcept
      : word_(std::uint64_t{number} << value_bits | packed(value)) {}

  constexpr std::uint64_t word() const noexcept { return word_; }
  constexpr BarrierValue value() const noexcept { return unpacked(word_ & value_mask); }
  /// The number, of which the word has the lower bits; `near`: one that is not far from it.
  constexpr std::uint32_t number(std::uint32_t near) const noexcept {
    const auto ahead = static_cast<std::uint32_t>(word_ >> value_bits) - near;
    return near +
           static_cast<std::uint32_t>(static_cast<std::int32_t>(ahead << lost_bits) >> lost_bits);
  }

 private:
  static constexpr unsigned value_bits = 34;
  static constexpr unsigned lost_bits = 2;
  static constexpr std::uint64_t value_mask = (std::uint64_t{1} << value_bits) - 1;

  std::uint64_t word_;
};

/// Raises a word to a report, unless it has come as far; returns whether it did.
inline bool raise(std::atomic<std::uint64_t>& word, std::uint32_t number,
                  const BarrierValue& value = {}) noexcept {
  std::uint64_t seen = word.load(std::memory_order_relaxed);
  while (!reached(Report(seen).number(number), number))
    // Release: hands on what the members released that have come so far.
    if (word.compare_exchange_weak(seen, Report(number, value).word(), std::memory_order_release,
                                   std::memory_order_relaxed))
      return true;
  return false;
}
inline bool raise(std::atomic<std::uint32_t>& word, std::uint32_t number) noexcept {
  std::uint32_t seen = word.load(std::memory_order_relaxed);
  while (!reached(seen, number))
    // Release: as above.
    if (word.compare_exchange_weak(seen, number, std::memory_order_release,
                                   std::memory_order_relaxed))
      return true;
  return false;
}

class BarrierRounds {
 public:
  /// The receiver of a report: the lowest of the neighborhood, or this member of the team.
  class Receiver {
   public:
    constexpr Receiver() = default;
    explicit constexpr Receiver(std::uint32_t member) noexcept : word_(member + 1) {}
    constexpr std::uint32_t or_lowest(std::uint32_t lowest) const noexcept {
      return word_ == 0 ? lowest : word_ - 1;
    }

   private:
    friend class BarrierRounds;
    std::uint32_t word_ = 0;
  };

  struct Progress {
    bool sent = false;
    bool complete = false;    ///< all members of the team have come as far as `level`
    std::uint32_t level = 0;  ///< so far all have come of which is known
    BarrierValue value;       ///< of those, named barriers
    unsigned missing = 0;     ///< the first round whose report has not come; their number: none
  };

  constexpr BarrierRounds() = default;
  /// `named`: barriers one at a time, with values.
  BarrierRounds(std::span<shm::BarrierRound> rounds, bool named) noexcept
      : rounds_(rounds), named_(named) {}

  unsigned count() const noexcept { return static_cast<unsigned>(rounds_.size()); }

  /// A report has come; returns whether it was news.
  bool receive(unsigned round, std::uint32_t number, const BarrierValue& value) noexcept {
    return raise(rounds_[round].received[place_of(number)], number, value);
  }

  /// Sends what can be sent, and takes what has come, round by round. All of the neighborhood have
  /// come as far as `level`, with that value. `send(round, receiver, level, value)` sends a report
  /// and returns whether there was room.
  template <class Send>
  Progress advance(std::uint32_t level, const BarrierValue& value, Send&& send) noexcept {
    Progress at{.level = level, .value = value, .missing = count()};
    for (unsigned k = 0; k < count(); ++k) {
      shm::BarrierRound& round = rounds_[k];
      // Acquire: what is in the word is handed on with it.
      std::uint64_t sent = round.sent.load(std::memory_order_acquire);
      while (!reached(number_sent(sent), at.level)) {
        const Receiver receiver = receiver_of(sent);
        if (!send(k, receiver, at.level, at.value)) return at;
        at.sent = true;
        // Unless another one has asked, or sent, meanwhile.
        if (round.sent.compare_exchange_strong(sent, sent_word(at.level, receiver),
                                               std::memory_order_acq_rel,
                                               std::memory_order_acquire))
          break;
      }
      const Report received(round.received[place_of(at.level)].load(std::memory_order_acquire));
      const std::uint32_t number = received.number(at.level);
      if (number != at.level && (named_ || !reached(number, at.level))) {
        at.missing = std::min(at.missing, k);
        if (named_) return at;
        at.level = number;
      }
      at.value = combine(at.value, received.value());
    }
    at.complete = true;
    return at;
  }

  /// How far a round's reports have gone. Acquire, as of `redirect`.
  std::uint32_t sent(unsigned round) const noexcept {
    return number_sent(rounds_[round].sent.load(std::memory_order_acquire));
  }
  /// A member asks for the reports of a round; returns how far they have gone to others.
  std::uint32_t redirect(unsigned round, std::uint32_t member) noexcept {
    std::atomic<std::uint64_t>& word = rounds_[round].sent;
    std::uint64_t sent = word.load(std::memory_order_relaxed);
    // Acquire: the answer hands on what the sender had acquired. Release: for the next member.
    while (!word.compare_exchange_weak(sent, sent_word(number_sent(sent), Receiver(member)),
                                       std::memory_order_acq_rel, std::memory_order_relaxed)) {
    }
    return number_sent(sent);
  }

  /// The value of a report that was sent, of which the neighborhood's is `value`; none if it is of
  /// a barrier long ago. Once `redirect` has returned a number that has reached `number`.
  std::optional<BarrierValue> value_sent(unsigned round, std::uint32_t number,
                                         BarrierValue value) const noexcept {
    for (unsigned k = 0; named_ && k < round; ++k) {
      // Relaxed: `redirect` has acquired it.
      const Report received(rounds_[k].received[place_of(number)].load(std::memory_order_relaxed));
      if (received.number(number) != number) return {};
      value = combine(value, received.value());
    }
    return value;
  }

  /// The place of what belongs to a number: a member may be one named barrier ahead.
  unsigned place_of(std::uint32_t number) const noexcept { return named_ ? number & 1 : 0; }

 private:
  static std::uint64_t sent_word(std::uint32_t number, Receiver receiver) noexcept {
    return std::uint64_t{number} << 32 | receiver.word_;
  }
  static std::uint32_t number_sent(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }
  static Receiver receiver_of(std::uint64_t word) noexcept {
    Receiver receiver;
    receiver.word_ = static_cast<std::uint32_t>(word);
    return receiver;
  }

  std::span<shm::BarrierRound> rounds_;
  bool named_ = false;
};

/// The looks of a member that waits at its leader. Relaxed, all of it: taking its place without
/// need costs some messages.
class LeaderWatch {
 public:
  /// Returns true if it is time for another look; `is_over(interval)`: so many ticks are enough
  /// between two.
  template <class IsOver>
  bool is_due(Tick now, IsOver is_over) noexcept {
    Tick last = looked_.load(std::memory_order_relaxed);
    return is_over(now - last) &&
           looked_.compare_exchange_strong(last, now, std::memory_order_relaxed);
  }
  /// In a look: returns true if the leader has not moved for several of them, in a barrier in which
  /// only it can.
  bool stands_still(std::uint32_t leader, std::uint32_t pulse, std::uint32_t number) noexcept {
    const std::uint64_t seen = std::uint64_t{leader ^ number << 8} << 32 | pulse;
    if (seen_.exchange(seen, std::memory_order_relaxed) != seen) {
      looks_.store(0, std::memory_order_relaxed);
      return false;
    }
    return looks_.fetch_add(1, std::memory_order_relaxed) + 1 >= enough;
  }
  void restart() noexcept { looks_.store(0, std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t enough = 4;

  std::atomic<Tick> looked_{0};
  std::atomic<std::uint64_t> seen_{0};
  std::atomic<std::uint32_t> looks_{0};
};

}  // namespace gex::team
