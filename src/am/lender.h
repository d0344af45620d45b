#pragma once
// The credits that this process lends to the peers that need them.
//
// The network holds a number of messages for this process, fewer than all its peers could send at a
// time. Each peer has a small share of them; the rest is lent. A peer that has run out reports that
// with its next request, and its allowance is doubled, as far as there are credits left. When no
// credits are left, each request of a starved peer makes the lender ask one peer that has borrowed
// some, in turn, for those that it does not use. No peer waits for a loan: its share is enough to
// go on.
//
// The borrowers' side is credits.h; both sides report in the prefix of messages (`Terms`, wire.h).
//
// Thread rules: any.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "am/credits.h"
#include "base/assert.h"
#include "base/spin_lock.h"
#include "base/zeroed_table.h"

namespace gex::am {

/// How the credits of a process are divided.
struct Division {
  std::uint32_t share;  ///< of each peer from the start
  std::uint32_t max;    ///< maximum of one peer, with what it borrows
  std::uint32_t bank;   ///< total that can be lent
};

/// Divides the credits of a network that holds `depth` messages for each peer, but no more than
/// `total` together (0: as many as for each).
constexpr Division divide(std::uint32_t depth, std::uint32_t total, std::uint32_t peers) noexcept {
  // Asking for credits, and answering that, each take a message's place beside the requests.
  constexpr std::uint32_t places = 2;
  if (total == 0 || depth <= places || std::uint64_t{depth} * peers <= total)
    return {depth, depth, 0};
  const std::uint32_t max = depth - places;
  const std::uint32_t share = std::clamp(total / 2 / peers, 1U, max);
  const std::uint64_t shared = std::uint64_t{share} * peers;
  return {share, max, shared < total ? total - static_cast<std::uint32_t>(shared) : 0};
}

class Lender {
 public:
  /// Maximum of credits that one message can report.
  static constexpr std::uint32_t max_per_message = 63;
  static constexpr std::uint32_t no_peer = ~0U;

  /// Start-up only. Peers are 0 to `peers` - 1.
  void start(const Division& division, std::uint32_t peers) {
    division_ = division;
    bank_ = division.bank;
    loans_ = ZeroedTable<Loan>(division.bank != 0 ? peers : 0);
  }

  /// Returns true if credits are lent at all; otherwise no other function is called.
  bool lends() const noexcept { return loans_.size() != 0; }

  /// The peer has run out of credits. False: nothing is left to be lent to it.
  bool lend(std::uint32_t peer) noexcept {
    const std::lock_guard guard(lock_);
    Loan& loan = loans_[peer];
    const std::uint32_t allowance = division_.share + loan.lent;
    GEX_ASSERT(allowance <= division_.max);
    const std::uint32_t count = std::min({allowance, division_.max - allowance, bank_});
    bank_ -= count;
    loan.lent += count;
    loan.unreported.fetch_add(count, std::memory_order_relaxed);
    queue(peer);
    return count != 0 || allowance == division_.max;
  }
  /// Takes what a message to the peer can report of what was lent to it.
  std::uint32_t take_unreported(std::uint32_t peer) noexcept {
    return take_counted(loans_[peer].unreported, max_per_message);
  }
  bool has_unreported(std::uint32_t peer) const noexcept {
    return loans_[peer].unreported.load(std::memory_order_relaxed) != 0;
  }
  /// Restores what was taken into a message that was not sent.
  void restore_unreported(std::uint32_t peer, std::uint32_t count) noexcept {
    loans_[peer].unreported.fetch_add(count, std::memory_order_relaxed);
  }

  /// A peer to be asked for credits, other than the starved one, or `no_peer`. It is not asked
  /// again before `answered`, which is also called if it could not be asked.
  std::uint32_t pick_reclaim_peer(std::uint32_t starved) noexcept {
    const std::lock_guard guard(lock_);
    bool starved_was_next = false;
    while (first_ != no_peer) {
      const std::uint32_t peer = leave_queue();
      Loan& loan = loans_[peer];
      // It has given all back since.
      if (loan.lent == 0) continue;
      if (peer == starved) {
        queue(peer);
        if (starved_was_next) break;
        starved_was_next = true;
        continue;
      }
      loan.asked = true;
      return peer;
    }
    return no_peer;
  }
  void answered(std::uint32_t peer) noexcept {
    const std::lock_guard guard(lock_);
    loans_[peer].asked = false;
    queue(peer);
  }

  /// The peer gives so many back; false if it has not borrowed so many.
  bool accept(std::uint32_t peer, std::uint32_t count) noexcept {
    const std::lock_guard guard(lock_);
    Loan& loan = loans_[peer];
    if (count > loan.lent) return false;
    loan.lent -= count;
    bank_ += count;
    GEX_ASSERT(bank_ <= division_.bank);
    return true;
  }

  /// Not lent at the moment. For tests.
  std::uint32_t bank() const noexcept { return bank_; }

 private:
  struct Loan {
    std::atomic<std::uint32_t> unreported;
    std::uint32_t lent;
    std::uint32_t next;  ///< behind it in the queue, if it is there
    bool asked;
    bool queued;
  };

  /// The queue has all peers that have borrowed and are not asked.
  void queue(std::uint32_t peer) noexcept {
    Loan& loan = loans_[peer];
    if (loan.queued || loan.asked || loan.lent == 0) return;
    loan.queued = true;
    loan.next = no_peer;
    (first_ == no_peer ? first_ : loans_[last_].next) = peer;
    last_ = peer;
  }
  std::uint32_t leave_queue() noexcept {
    const std::uint32_t peer = first_;
    GEX_ASSERT(peer != no_peer);
    first_ = loans_[peer].next;
    loans_[peer].queued = false;
    return peer;
  }

  Division division_{};
  ZeroedTable<Loan> loans_;  ///< by peer
  std::uint32_t bank_ = 0;
  // The queue of peers to be asked, each at most once; `last_` counts only if there are any.
  std::uint32_t first_ = no_peer;
  std::uint32_t last_ = no_peer;
  SpinLock lock_;
};

}  // namespace gex::am
