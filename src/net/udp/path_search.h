#pragma once
// How large the datagrams to a peer may be, found by probes (packetization layer path MTU
// discovery, the idea of RFC 8899). What the interface takes may be more than a tunnel or a switch
// on the way carries, with or without a report of that (ICMP), and the way may change.
//
// A round sends datagrams of some sizes that hold nothing, and behind them a small one. What is
// answered fits. Where the small one is answered and a size is not, three times, the size does not
// fit; where nothing is answered, the peer does not poll, and the small one is repeated until it is
// answered, with the sizes behind it. So neither a report of a router, which can be forged, nor a
// peer that computes makes packets smaller, and large ones do not pile up at one that does not.
//
//   - At the start a size that nearly every way carries is used, and that of the interface tried.
//   - What is repeated often (`suspect`) may be too large: the size in use is tried. If it does not
//     fit any more, it becomes the one of the start at once.
//   - Where a size does not fit, a round tries known sizes below it, and further rounds those
//     between the largest that fits and the smallest that does not.
//   - As long as the interface takes more than is in use, that is tried again now and then.
//
// A state machine: the time is an argument, and what is to be sent goes through a function.
//
// Thread rules: one thread at a time.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "net/udp/packet.h"

namespace gex::net::udp {

/// Bytes of datagrams, without the headers of IP and UDP.
struct PathLimits {
  std::uint32_t least = 0;  ///< that every way carries; 0: the size of all is known, and no search
  std::uint32_t start = 0;  ///< until more is known
  std::uint32_t max = 0;    ///< that the interface takes
  std::uint32_t headers = 0;

  bool operator==(const PathLimits&) const = default;
};

class PathSearch {
 public:
  static constexpr std::uint32_t max_sizes = 12;
  /// The index of the small one.
  static constexpr std::uint32_t small = max_sizes;
  static constexpr int tries = 3;
  /// Differences that are not worth a round.
  static constexpr std::uint32_t close_enough = 8;
  static constexpr Time shortest_pause = 5'000'000'000;
  static constexpr Time longest_pause = 60'000'000'000;
  static constexpr Time never = ~Time{0};

  PathSearch() noexcept = default;
  explicit PathSearch(const PathLimits& limits) noexcept : limits_(limits), size_(limits.start) {}

  /// The largest datagram that may be sent; 0: any.
  std::uint32_t size() const noexcept { return size_; }
  std::uint32_t least() const noexcept { return limits_.least; }
  std::uint32_t max() const noexcept { return limits_.max; }
  std::uint32_t headers() const noexcept { return limits_.headers; }
  /// Returns true if the size of the interface is still to be tried for the first time.
  bool is_to_begin() const noexcept { return next_at_ == never && size_ < limits_.max; }
  /// When `act` is to be called next.
  Time next_at() const noexcept { return next_at_; }
  std::uint64_t rounds() const noexcept { return rounds_; }
  /// How often the size in use did not fit any more.
  std::uint64_t narrowed() const noexcept { return narrowed_; }

  void begin(Time now) noexcept {
    if (stage_ == idle) test(limits_.max, now);
  }
  /// Datagrams of the size in use seem not to arrive.
  void suspect(Time now) noexcept {
    if (stage_ != idle || size_ <= limits_.least || now < trusted_until_) return;
    test(size_, now);
  }

  /// A probe has been answered; true: the size has changed.
  bool answered(std::uint32_t round, std::uint32_t index, Time now) noexcept {
    if (stage_ == idle || round != round_) return false;
    if (was_complete_) silences_ = 0;
    if (index == small) {
      if (small_answered_at_ == 0) small_answered_at_ = now;
      next_at_ = was_complete_ ? std::min(next_at_, now + patience_) : now;
      return false;
    }
    if (index >= count_) return false;
    answered_ |= 1U << index;
    low_ = std::max(low_, sizes_[index]);
    if (answered_ == (1U << count_) - 1) next_at_ = now;
    if (low_ <= size_) return false;
    size_ = low_;
    return true;
  }

  /// Requires `now >= next_at()`. `round_trip`: what one takes; `is_used`: something goes there.
  /// `hint`: returns a size that has been reported to the system. Calls `send(round, index, size)`
  /// for each probe. True: the size has changed.
  template <class Hint, class Send>
  bool act(Time now, Time round_trip, bool is_used, Hint hint, Send send) {
    const std::uint32_t before = size_;
    patience_ = 2'000'000 + std::min<Time>(round_trip, 1'000'000'000);
    if (stage_ == idle) {
      if (!is_used || size_ >= limits_.max) {
        next_at_ = size_ >= limits_.max ? never : now + pause_;
        return false;
      }
      test(limits_.max, now);
    } else if (answered_ == (1U << count_) - 1) {
      conclude(now, hint);
    } else if (small_answered_at_ != 0 && was_complete_) {
      if (now < small_answered_at_ + patience_) {
        next_at_ = small_answered_at_ + patience_;
        return false;
      }
      if (++tried_ == tries) conclude(now, hint);
    } else if (sent_at_ != 0 && small_answered_at_ == 0) {
      // The peer does not poll. Where nothing goes there, it need not.
      ++silences_;
      if (!is_used) {
        stage_ = idle;
        next_at_ = never;
        return false;
      }
    }
    if (stage_ != idle) send_round(now, send);
    return size_ != before;
  }

 private:
  enum Stage : std::uint8_t { idle, testing, searching };

  void begin_round(Stage stage, Time now) noexcept {
    stage_ = stage;
    ++round_;
    answered_ = 0;
    tried_ = 0;
    silences_ = 0;
    sent_at_ = 0;
    small_answered_at_ = 0;
    was_complete_ = true;
    next_at_ = now;
  }
  void test(std::uint32_t size, Time now) noexcept {
    sizes_[0] = size;
    count_ = 1;
    low_ = 0;
    begin_round(testing, now);
  }
  template <class Send>
  void send_round(Time now, Send send) {
    ++rounds_;
    const bool is_complete = silences_ == 0 || small_answered_at_ != 0;
    // Small ones before may be answered late, which must not be taken for an answer to this one.
    if (is_complete && !was_complete_) ++round_;
    was_complete_ = is_complete;
    small_answered_at_ = 0;
    sent_at_ = now;
    const Time wait = (20'000'000 + 4 * patience_) << std::min(silences_, 6U);
    next_at_ = now + std::min<Time>(wait, 2'000'000'000);
    for (std::uint32_t i = 0; is_complete && i < count_; ++i)
      if ((answered_ >> i & 1) == 0) send(round_, i, sizes_[i]);
    send(round_, small, std::uint32_t{0});
  }

  template <class Hint>
  void conclude(Time now, Hint hint) {
    const bool fits = answered_ == (1U << count_) - 1;
    if (stage_ == testing && fits) {
      trusted_until_ = now + 500'000'000;
      finish(now);
      return;
    }
    for (std::uint32_t i = 0; i < count_; ++i)
      if ((answered_ >> i & 1) == 0 && sizes_[i] > low_) high_ = std::min(high_, sizes_[i]);
    if (stage_ == testing) {
      high_ = sizes_[0];
      if (high_ <= size_) {
        ++narrowed_;
        pause_ = shortest_pause;
        size_ = size_ > limits_.start ? limits_.start : limits_.least;
      } else if (is_confirmed_) {
        low_ = size_;
      }
      is_confirmed_ = false;
      choose_known(hint());
      if (count_ == 0) choose_between();
    } else {
      // Not even what was used meanwhile.
      if (low_ < size_) size_ = std::max(low_, limits_.least);
      choose_between();
    }
    if (count_ == 0)
      finish(now);
    else
      begin_round(searching, now);
  }
  void finish(Time now) noexcept {
    is_confirmed_ = true;
    stage_ = idle;
    high_ = ~std::uint32_t{0};
    next_at_ = size_ < limits_.max ? now + pause_ : never;
    if (size_ < limits_.max) pause_ = std::min(2 * pause_, longest_pause);
  }

  void choose(std::uint32_t size) noexcept {
    if (size <= low_ || size >= high_ || size < limits_.least || count_ == max_sizes) return;
    for (std::uint32_t i = 0; i < count_; ++i)
      if (sizes_[i] == size) return;
    sizes_[count_++] = size;
  }
  /// Sizes that interfaces, tunnels and links often have.
  void choose_known(std::uint32_t hint) noexcept {
    count_ = 0;
    choose(limits_.least);
    choose(limits_.start);
    choose(hint);
    for (const std::uint32_t mtu : {9000U, 4352U, 1500U, 1492U, 1450U, 1420U, 1400U, 1280U, 1006U})
      choose(mtu - limits_.headers);
  }
  void choose_between() noexcept {
    count_ = 0;
    constexpr std::uint32_t parts = 9;
    const std::uint32_t low = std::max(low_, limits_.least);
    if (low_ == 0 || high_ <= low + close_enough) return;
    for (std::uint32_t i = 1; i < parts; ++i) choose(low + (high_ - low) * i / parts);
  }

  PathLimits limits_;
  std::uint32_t size_ = 0;
  Stage stage_ = idle;
  bool is_confirmed_ = false;  ///< the size in use, by a probe
  // A search ends where these two sizes, in bytes, meet.
  std::uint32_t low_ = 0;                   ///< the largest that fits
  std::uint32_t high_ = ~std::uint32_t{0};  ///< the smallest that does not
  // State of the current round.
  std::uint32_t round_ = 0;
  std::array<std::uint32_t, max_sizes> sizes_{};
  std::uint32_t count_ = 0;
  std::uint32_t answered_ = 0;  ///< bits
  int tried_ = 0;
  bool was_complete_ = true;    ///< the last try: not just the small one
  std::uint32_t silences_ = 0;  ///< tries in a row of which nothing was answered
  Time sent_at_ = 0;
  Time small_answered_at_ = 0;
  Time patience_ = 2'000'000;
  Time next_at_ = never;
  Time trusted_until_ = 0;
  Time pause_ = shortest_pause;
  std::uint64_t rounds_ = 0;
  std::uint64_t narrowed_ = 0;
};

}  // namespace gex::net::udp
