#include "coll/direct_copy.h"

#include <algorithm>

namespace gex::coll {

namespace {

/// Where a member begins to copy a broadcast's bytes if they lie in no segment, so that the kernel
/// copies. It counts the users of each page that it copies: members that are at the same page at
/// the same time wait for each other.
std::size_t start_of(const Request& request, const Boards& boards) noexcept {
  const gex_Rank_t behind = (boards.own() + boards.size() - request.root) % boards.size() - 1;
  const std::size_t start = request.bytes / (boards.size() - 1) * behind;
  return start / page_bytes * page_bytes;
}

}  // namespace

Step DirectCopy::advance(DirectTeam& team, const DirectOperation& operation, bool& progressed) {
  if (!operation.is_root) return take(team, operation, progressed);
  const Step own = root_.make_own(operation.request, progressed);
  return own == Step::done ? collect(team, operation) : own;
}

Step DirectCopy::collect(DirectTeam& team, const DirectOperation& operation) {
  // Pieces do not wait for those that copy: all have copied or declined before.
  for (; collected_ != team.boards.size(); ++collected_) {
    if (collected_ == team.boards.own() || team.boards.has_read(collected_, operation.end))
      continue;
    if (!team.boards.is_posted(collected_, operation.first)) return Step::incomplete;
    any_declined_ = true;
  }
  return any_declined_ ? root_.note_decline(team) : Step::done;
}

Step DirectCopy::take(DirectTeam& team, const DirectOperation& operation, bool& progressed) {
  if (!declines_) {
    const Description* const there = team.description_of(operation.request.root, operation);
    if (there == nullptr) return Step::incomplete;
    if (there->direct == 0) return Step::by_pieces;
    const Taken taken = take_some(team, operation, *there);
    progressed = true;
    if (taken == Taken::some) return Step::incomplete;
    declines_ = taken == Taken::declined;
  }
  if (declines_) return decline(team, operation);
  team.boards.publish_read_below_now(operation.end);
  return Step::done;
}

Taken DirectCopy::take_some(DirectTeam& team, const DirectOperation& operation,
                            const Description& there) {
  const Request& request = operation.request;
  std::size_t at = copied_;
  // In a segment they are mapped as a rule, and copied from the first on.
  if (!there.source.shared()) at = (at + start_of(request, team.boards)) % request.bytes;
  const std::size_t bytes =
      std::min({request.bytes - copied_, request.bytes - at, max_copied_at_once});
  if (!team.access.copy_from(request.root, there.source + at, request.destination + at, bytes))
    return Taken::declined;
  copied_ += bytes;
  return copied_ == request.bytes ? Taken::all : Taken::some;
}

Step DirectCopy::decline(DirectTeam& team, const DirectOperation& operation) {
  if (!team.boards.may_write(operation.first)) return Step::incomplete;
  Description description{};
  description.shared_word = 1;
  team.post(operation, description);
  return Step::by_pieces;
}

}  // namespace gex::coll
