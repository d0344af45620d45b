#include "coll/helped_copy.h"

#include <algorithm>
#include <atomic>

#include "base/round_up.h"
#include "base/spin.h"

namespace gex::coll {

namespace {

/// Fewer bytes are copied before a root could help.
constexpr std::size_t min_helped_bytes = 48 * 1024;

/// Both claim so many bytes at a time: few enough claims, and small enough for an even end.
constexpr std::size_t chunk_bytes(std::size_t bytes) noexcept {
  const std::size_t chunk = std::clamp<std::size_t>(bytes / 8, 32 * 1024, 256 * 1024);
  return chunk / page_bytes * page_bytes;
}
constexpr std::uint32_t chunk_count(std::size_t bytes) noexcept {
  const std::size_t chunk = chunk_bytes(bytes);
  return static_cast<std::uint32_t>(quotient_up(bytes, chunk));
}

/// The mark in the count of claims.
constexpr std::uint32_t all_copied = 1U << 31;

}  // namespace

bool HelpedCopy::suits(const Request& request, gex_Rank_t members) noexcept {
  // All ranks of a host find the same, since either all are oversubscribed or none is.
  return request.kind == Kind::broadcast && members == 2 && request.bytes >= min_helped_bytes &&
         !oversubscribed();
}

Step HelpedCopy::advance(DirectTeam& team, const DirectOperation& operation, bool& progressed) {
  if (operation.is_root) {
    const Step own = root_.make_own(operation.request, progressed);
    if (own != Step::done) return own;
    has_copied_ = has_copied_ || help(team, operation, progressed);
    return has_copied_ ? collect(team, operation) : Step::incomplete;
  }
  has_offered_ = has_offered_ || offer(team, operation);
  if (!has_offered_) return Step::incomplete;
  return has_copied_ ? look_for_mark(team, operation) : take(team, operation, progressed);
}

bool HelpedCopy::help(DirectTeam& team, const DirectOperation& operation, bool& progressed) {
  const Request& request = operation.request;
  const gex_Rank_t other = 1 - team.boards.own();
  const Description* const there = team.description_of(other, operation);
  if (there == nullptr) return false;
  // A source in a segment is mapped there as a rule, and a member that reads it so is faster alone.
  if (root_.source().shared()) return true;
  // Acquire: pairs with the member's `decline`.
  if (team.word_of(other, operation).load(std::memory_order_acquire) != 0) return true;
  if (!team.access.kernel_reaches(other) &&
      !team.access.maps(other, there->destination, request.bytes))
    return true;
  const std::atomic_ref<std::uint32_t> claims = team.word_of(team.boards.own(), operation);
  const std::size_t chunk = chunk_bytes(request.bytes);
  const std::uint32_t chunks = chunk_count(request.bytes);
  for (std::size_t copied = 0; copied < max_copied_at_once; copied += chunk) {
    // Relaxed: a claim orders nothing.
    if (claims.fetch_add(1, std::memory_order_relaxed) >= chunks) {
      // Release: the copies come before.
      team.boards.note_shown();
      claims.fetch_or(all_copied, std::memory_order_release);
      return true;
    }
    const std::size_t at = (chunks - 1 - chunks_copied_) * chunk;
    const std::size_t bytes = std::min(chunk, request.bytes - at);
    if (!team.access.copy_to(other, there->destination + at, request.source + at, bytes))
      refuse_memory_of(team.boards.rank_of(other));
    ++chunks_copied_;
    progressed = true;
  }
  return false;
}

Step HelpedCopy::collect(DirectTeam& team, const DirectOperation& operation) {
  const gex_Rank_t other = 1 - team.boards.own();
  if (team.boards.has_read(other, operation.end)) return Step::done;
  // Acquire: the member's copies precede what follows here.
  if (team.word_of(other, operation).load(std::memory_order_acquire) == 0) return Step::incomplete;
  return root_.note_decline(team);
}

bool HelpedCopy::offer(DirectTeam& team, const DirectOperation& operation) {
  if (!team.boards.may_write(operation.first)) return false;
  Description description{};
  description.destination = memory_at(operation.request.destination);
  team.post(operation, description);
  return true;
}

Step HelpedCopy::take(DirectTeam& team, const DirectOperation& operation, bool& progressed) {
  const Description* const there = team.description_of(operation.request.root, operation);
  if (there == nullptr) return Step::incomplete;
  if (there->direct == 0) return Step::by_pieces;
  const Taken taken = take_some(team, operation, *there);
  progressed = true;
  if (taken == Taken::some) return Step::incomplete;
  if (taken == Taken::declined) return decline(team, operation);
  has_copied_ = true;
  return look_for_mark(team, operation);
}

Taken HelpedCopy::take_some(DirectTeam& team, const DirectOperation& operation,
                            const Description& there) {
  const Request& request = operation.request;
  const std::atomic_ref<std::uint32_t> claims = team.word_of(request.root, operation);
  const std::size_t chunk = chunk_bytes(request.bytes);
  for (std::size_t copied = 0; copied < max_copied_at_once; copied += chunk) {
    // Relaxed: a claim orders nothing.
    const std::uint32_t count = claims.fetch_add(1, std::memory_order_relaxed) & ~all_copied;
    if (count >= chunk_count(request.bytes)) return Taken::all;
    const std::size_t at = chunks_copied_ * chunk;
    const std::size_t bytes = std::min(chunk, request.bytes - at);
    if (!team.access.copy_from(request.root, there.source + at, request.destination + at, bytes))
      return Taken::declined;
    ++chunks_copied_;
  }
  return Taken::some;
}

Step HelpedCopy::look_for_mark(DirectTeam& team, const DirectOperation& operation) {
  const Request& request = operation.request;
  // Acquire: pairs with the root's mark.
  if (chunks_copied_ != chunk_count(request.bytes) &&
      (team.word_of(request.root, operation).load(std::memory_order_acquire) & all_copied) == 0)
    return Step::incomplete;
  team.boards.publish_read_below_now(operation.end);
  return Step::done;
}

Step HelpedCopy::decline(DirectTeam& team, const DirectOperation& operation) {
  // Release: the root posts pieces after this member's last copy.
  team.boards.note_shown();
  team.word_of(team.boards.own(), operation).store(1, std::memory_order_release);
  return Step::by_pieces;
}

}  // namespace gex::coll
