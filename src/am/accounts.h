#pragma once
// The accounts of this process with its peers over a network: the credits of each (credits.h), what
// this process lends (lender.h) and borrows, and what messages report of these.
//
// Accounting only: network.cc sends what is to be reported.
//
// Thread rules: any.

#include <gex/plugin/conduit.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "am/credits.h"
#include "am/lender.h"
#include "am/wire.h"
#include "base/met_ranks.h"
#include "base/spin_lock.h"
#include "base/zeroed_table.h"

namespace gex::am {

/// The part of a message that reports on accounts.
struct Report {
  std::uint16_t credits;  ///< given back
  Terms terms;
};

/// A message with a report and nothing else, which the next poll sends because it may wait for
/// room.
struct CreditUpdate {
  gex_Rank_t jobrank;
  bool answers;  ///< the peer's request for unused credits

  bool operator==(const CreditUpdate&) const = default;
};

/// The account with one peer.
struct Account {
  gex_Rank_t jobrank;
  Credits& credits;
};

class Accounts {
 public:
  /// Start-up only.
  void start(const Division& division, std::uint32_t ranks);

  std::size_t ranks() const noexcept { return credits_.size(); }

  /// The account with a peer, whose credits start with the first message to it or from it.
  Account with(gex_Rank_t jobrank) noexcept {
    Credits& credits = credits_[jobrank];
    if (!credits.is_started()) [[unlikely]]
      if (credits.start(division_.share, division_.max)) met_.add(jobrank);
    return {jobrank, credits};
  }

  /// Takes what the next message to a peer reports, `terms` among it.
  Report take_report(Account peer, net::Channel channel, const Terms& terms) noexcept {
    Report report{peer.credits.take_owed(), terms};
    if (lender_.lends()) add_loans(peer, channel, report.terms);
    return report;
  }
  /// Restores a report whose message was not sent.
  void restore(Account peer, const Report& report) noexcept;

  /// Applies what a peer reports. Returns null, or why no peer can report that.
  [[nodiscard]] const char* accept(Account peer, const Report& report) noexcept {
    if (report.credits != 0 && !peer.credits.accept(report.credits))
      return "it gives back more credits than it has";
    if (report.terms == Terms{}) [[likely]]
      return nullptr;
    return accept_loans(peer, report.terms);
  }
  /// Lends to a peer that is starved. Where nothing is left to be lent, returns the one that is to
  /// be asked for credits which it does not use, else `Lender::no_peer`.
  std::uint32_t lend(gex_Rank_t starved) noexcept {
    return lender_.lend(starved) ? Lender::no_peer : lender_.pick_reclaim_peer(starved);
  }
  /// It could not be asked.
  void not_asked(gex_Rank_t peer) noexcept { lender_.answered(peer); }

  /// A request of the peer's has ended without a reply. Returns true if a message of its own is to
  /// report that.
  bool owe(Account peer) noexcept { return peer.credits.owe() || has_unreported(peer.jobrank); }
  /// Returns true if that is still so: another thread's message may have reported it.
  bool owes_message(Account peer) const noexcept {
    return peer.credits.owes_enough() || has_unreported(peer.jobrank);
  }
  /// Has a peer's unused credits reported to it as returned: the answer to its question for them.
  void return_unused(Account peer) noexcept;

  bool has_updates() const noexcept { return has_updates_.load(std::memory_order_relaxed); }
  /// The oldest one.
  std::optional<CreditUpdate> take_update() noexcept;

 private:
  bool has_unreported(gex_Rank_t jobrank) const noexcept {
    return lender_.lends() && lender_.has_unreported(jobrank);
  }
  void add_loans(Account peer, net::Channel channel, Terms& terms) noexcept;
  const char* accept_loans(Account peer, const Terms& terms) noexcept;
  bool may_borrow(gex_Rank_t jobrank) noexcept;
  std::uint32_t take_borrowable(std::uint32_t count) noexcept;
  bool defer_update(const CreditUpdate& update) noexcept;

  ZeroedTable<Credits> credits_;  ///< by jobrank; those not started of ranks that are silent
  MetRanks met_;                  ///< whose credits are started
  Division division_{};
  Lender lender_;
  /// This process may still borrow so many credits: its peers' replies have as much room here as
  /// its share of what it lends.
  std::atomic<std::uint32_t> borrowable_{0};
  std::atomic<std::uint32_t> give_up_next_{0};
  std::vector<CreditUpdate> updates_;  ///< each once at most
  SpinLock updates_lock_;
  /// True if there are any; changes under the lock.
  std::atomic<bool> has_updates_{false};
};

}  // namespace gex::am
