#include "am/accounts.h"

#include <algorithm>
#include <mutex>

namespace gex::am {

void Accounts::start(const Division& division, std::uint32_t ranks) {
  division_ = division;
  credits_ = ZeroedTable<Credits>(ranks);
  // There are rarely more at a time.
  updates_.reserve(std::min<std::size_t>(2 * std::size_t{ranks}, 64));
  lender_.start(division, ranks);
  borrowable_.store(division.bank, std::memory_order_relaxed);
}

void Accounts::add_loans(Account peer, net::Channel channel, Terms& terms) noexcept {
  const auto [jobrank, credits] = peer;
  terms.lent = lender_.take_unreported(jobrank) & Lender::max_per_message;
  terms.returned = credits.take_returned(Lender::max_per_message) & Lender::max_per_message;
  terms.starved = channel == net::request_channel && credits.take_starved() && may_borrow(jobrank);
}

void Accounts::restore(Account peer, const Report& report) noexcept {
  const auto [jobrank, credits] = peer;
  if (report.credits != 0 && credits.owe_again(report.credits))
    defer_update({.jobrank = jobrank, .answers = false});
  const Terms& terms = report.terms;
  if (terms.lent != 0) lender_.restore_unreported(jobrank, terms.lent);
  if (terms.returned != 0) credits.return_later(terms.returned);
  if (terms.starved) credits.mark_starved();
}

const char* Accounts::accept_loans(Account peer, const Terms& terms) noexcept {
  const auto [source, credits] = peer;
  if (!lender_.lends()) return "it lends credits in a job that lends none";
  if (terms.lent != 0) {
    const std::uint32_t borrowed = take_borrowable(terms.lent);
    if (!credits.borrow(borrowed)) return "it lends more credits than it has";
    if (borrowed != terms.lent) credits.return_later(terms.lent - borrowed);
  }
  if (terms.returned != 0 && !lender_.accept(source, terms.returned))
    return "it returns more credits than it has borrowed";
  if (terms.answers) lender_.answered(source);
  if (terms.asks && !defer_update({.jobrank = source, .answers = true}))
    return "it asks for credits again before it was answered";
  return nullptr;
}

void Accounts::return_unused(Account peer) noexcept {
  const std::uint32_t given_up = peer.credits.give_up_borrowed();
  borrowable_.fetch_add(given_up, std::memory_order_relaxed);
  peer.credits.return_later(given_up);
}

/// Returns true if this process may borrow from a peer: if it has borrowed all that it may, it
/// gives up unused credits of another one.
bool Accounts::may_borrow(gex_Rank_t jobrank) noexcept {
  if (borrowable_.load(std::memory_order_relaxed) != 0) return true;
  const std::size_t first = give_up_next_.fetch_add(1, std::memory_order_relaxed);
  const std::size_t count = met_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t other = met_[(first + i) % count];
    Credits& credits = credits_[other];
    const std::uint32_t given_up = other != jobrank ? credits.give_up_borrowed() : 0;
    if (given_up == 0) continue;
    credits.return_later(given_up);
    borrowable_.fetch_add(given_up, std::memory_order_relaxed);
    return true;
  }
  return false;
}

/// Takes up to `count` of what this process may borrow.
std::uint32_t Accounts::take_borrowable(std::uint32_t count) noexcept {
  std::uint32_t before = borrowable_.load(std::memory_order_relaxed);
  while (!borrowable_.compare_exchange_weak(before, before - std::min(before, count),
                                            std::memory_order_relaxed)) {
  }
  return std::min(before, count);
}

/// Returns false if it is deferred already.
bool Accounts::defer_update(const CreditUpdate& update) noexcept {
  const std::lock_guard guard(updates_lock_);
  if (std::find(updates_.begin(), updates_.end(), update) != updates_.end()) return false;
  updates_.push_back(update);
  has_updates_.store(true, std::memory_order_relaxed);
  return true;
}

std::optional<CreditUpdate> Accounts::take_update() noexcept {
  const std::lock_guard guard(updates_lock_);
  std::optional<CreditUpdate> first;
  if (!updates_.empty()) {
    first = updates_.front();
    updates_.erase(updates_.begin());
  }
  has_updates_.store(!updates_.empty(), std::memory_order_relaxed);
  return first;
}

}  // namespace gex::am
