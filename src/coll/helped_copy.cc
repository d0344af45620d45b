#include "coll/helped_copy.h"

#include <algorithm>
#include <atomic>

#include "base/spin.h"

namespace gex::coll {

namespace {

/// Fewer bytes are copied before a root could help.
constexpr std::size_t min_helped_bytes = 48 * 1024;

/// Both claim so many bytes at a time: few enough claims, and small enough for an even end.
constexpr std::size_t chunk_to_claim(std::size_t bytes) noexcept {
  const std::size_t chunk = std::clamp<std::size_t>(bytes / 8, 32 * 1024, 256 * 1024);
  return chunk / page_bytes * page_bytes;
}
constexpr std::uint32_t chunks_to_claim(std::size_t bytes) noexcept {
  const std::size_t chunk = chunk_to_claim(bytes);
  return static_cast<std::uint32_t>((bytes + chunk - 1) / chunk);
}

/// In the count of claims: the root has copied all that it has claimed, and claims no more.
constexpr std::uint32_t all_copied = 1U << 31;

}  // namespace

bool HelpedCopy::takes(const Request& request, gex_Rank_t members) noexcept {
  // All ranks of a host find the same, since either all are oversubscribed or none is.
  return members == 2 && request.bytes >= min_helped_bytes && !oversubscribed();
}

Step HelpedCopy::advance(DirectTeam& team, const Numbered& operation, bool& progressed) {
  return operation.request.root == team.boards.rank() ? serve(team, operation, progressed)
                                                      : take(team, operation, progressed);
}

Step HelpedCopy::serve(DirectTeam& team, const Numbered& operation, bool& progressed) {
  const gex_Rank_t other = 1 - team.boards.rank();
  const Step kept = root_.keep(operation.request, progressed);
  if (kept != Step::complete) return kept;
  if (!has_copied_) has_copied_ = help(team, operation, progressed);
  if (!has_copied_) return Step::incomplete;
  if (team.boards.has_read(other, operation.end)) return Step::complete;
  // Acquire: the member's copies precede what follows here.
  if (team.word_of(other, operation).load(std::memory_order_acquire) == 0) return Step::incomplete;
  return DirectRoot::note_refusal(team, operation.request);
}

/// True once there is nothing to help with.
bool HelpedCopy::help(DirectTeam& team, const Numbered& operation, bool& progressed) {
  const Request& request = operation.request;
  const gex_Rank_t other = 1 - team.boards.rank();
  const Description* const there = team.description_of(other, operation);
  if (there == nullptr) return false;
  // A member that reads the source where it is mapped is faster alone.
  if (memory_at(request.source).shared()) return true;
  // Acquire: pairs with the member's refusal.
  if (team.word_of(other, operation).load(std::memory_order_acquire) != 0) return true;
  if (!team.access.kernel_reaches(other) &&
      !team.access.maps(other, there->destination, request.bytes))
    return true;
  const std::atomic_ref<std::uint32_t> claims = team.word_of(team.boards.rank(), operation);
  const std::size_t chunk = chunk_to_claim(request.bytes);
  const std::uint32_t chunks = chunks_to_claim(request.bytes);
  for (std::size_t copied = 0; copied < max_copied_at_once; copied += chunk) {
    // Relaxed: a claim orders nothing.
    if (claims.fetch_add(1, std::memory_order_relaxed) >= chunks) {
      // Release: the copies come before.
      team.boards.note_shown();
      claims.fetch_or(all_copied, std::memory_order_release);
      return true;
    }
    const std::size_t at = (chunks - 1 - claimed_) * chunk;
    const std::size_t bytes = std::min(chunk, request.bytes - at);
    if (!team.access.copy_to(other, there->destination + at, request.source + at, bytes))
      refuse_memory_of(team.boards.rank_of(other));
    ++claimed_;
    progressed = true;
  }
  return false;
}

Step HelpedCopy::take(DirectTeam& team, const Numbered& operation, bool& progressed) {
  const Request& request = operation.request;
  // Before the root's post is there: the root may be waiting for this one.
  if (!offered_) {
    if (!team.boards.may_write(operation.first)) return Step::incomplete;
    Description description{};
    description.destination = memory_at(request.destination);
    team.post(operation, description);
    offered_ = true;
  }
  if (!has_copied_) {
    const Description* const root = team.description_of(request.root, operation);
    if (root == nullptr) return Step::incomplete;
    if (root->direct == 0) return Step::by_pieces;
    const Taken taken = take_chunks(team, operation, *root);
    progressed = true;
    if (taken == Taken::some) return Step::incomplete;
    if (taken == Taken::refused) {
      // Release: the root posts pieces after this member's last copy.
      team.boards.note_shown();
      team.word_of(team.boards.rank(), operation).store(1, std::memory_order_release);
      return Step::by_pieces;
    }
    has_copied_ = true;
  }
  // Acquire: pairs with the root's mark.
  if (claimed_ != chunks_to_claim(request.bytes) &&
      (team.word_of(request.root, operation).load(std::memory_order_acquire) & all_copied) == 0)
    return Step::incomplete;
  team.boards.read_all_below(operation.end);
  return Step::complete;
}

HelpedCopy::Taken HelpedCopy::take_chunks(DirectTeam& team, const Numbered& operation,
                                          const Description& root) {
  const Request& request = operation.request;
  const std::atomic_ref<std::uint32_t> claims = team.word_of(request.root, operation);
  const std::size_t chunk = chunk_to_claim(request.bytes);
  for (std::size_t copied = 0; copied < max_copied_at_once; copied += chunk) {
    // Relaxed: a claim orders nothing.
    const std::uint32_t count = claims.fetch_add(1, std::memory_order_relaxed) & ~all_copied;
    if (count >= chunks_to_claim(request.bytes)) return Taken::all;
    const std::size_t at = claimed_ * chunk;
    const std::size_t bytes = std::min(chunk, request.bytes - at);
    if (!team.access.copy_from(request.root, root.source + at, request.destination + at, bytes))
      return Taken::refused;
    ++claimed_;
  }
  return Taken::some;
}

}  // namespace gex::coll
