#include "coll/direct_copy.h"

#include <algorithm>

namespace gex::coll {

namespace {

/// Where a member begins to copy a broadcast's bytes if the kernel does it, which counts the users
/// of each page that it copies: members that are at the same page at the same time wait for each
/// other.
std::size_t start_of(const Request& request, const Boards& boards) noexcept {
  const gex_Rank_t behind = (boards.rank() + boards.size() - request.root) % boards.size() - 1;
  const std::size_t start = request.bytes / (boards.size() - 1) * behind;
  return start / page_bytes * page_bytes;
}

}  // namespace

Step DirectCopy::advance(DirectTeam& team, const DirectOperation& operation, bool& progressed) {
  if (!operation.is_root) return take(team, operation, progressed);
  const Step kept = root_.keep(operation.request, progressed);
  return kept == Step::done ? collect(team, operation) : kept;
}

Step DirectCopy::collect(DirectTeam& team, const DirectOperation& operation) {
  // Pieces do not wait for those that copy: all have copied or refused before.
  for (; collected_ != team.boards.size(); ++collected_) {
    if (collected_ == team.boards.rank() || team.boards.has_read(collected_, operation.end))
      continue;
    if (!team.boards.is_posted(collected_, operation.first)) return Step::incomplete;
    any_refused_ = true;
  }
  return any_refused_ ? DirectRoot::note_refusal(team, operation.request) : Step::done;
}

Step DirectCopy::take(DirectTeam& team, const DirectOperation& operation, bool& progressed) {
  if (!refuses_) {
    const Description* const root = team.description_of(operation.request.root, operation);
    if (root == nullptr) return Step::incomplete;
    if (root->direct == 0) return Step::by_pieces;
    const Taken taken = take_some(team, operation, *root);
    progressed = true;
    if (taken == Taken::some) return Step::incomplete;
    refuses_ = taken == Taken::refused;
  }
  if (refuses_) return refuse(team, operation);
  team.boards.read_all_below(operation.end);
  return Step::done;
}

Taken DirectCopy::take_some(DirectTeam& team, const DirectOperation& operation,
                            const Description& root) {
  const Request& request = operation.request;
  std::size_t at = copied_;
  if (!root.source.shared()) at = (at + start_of(request, team.boards)) % request.bytes;
  const std::size_t bytes =
      std::min({request.bytes - copied_, request.bytes - at, max_copied_at_once});
  if (!team.access.copy_from(request.root, root.source + at, request.destination + at, bytes))
    return Taken::refused;
  copied_ += bytes;
  return copied_ == request.bytes ? Taken::all : Taken::some;
}

Step DirectCopy::refuse(DirectTeam& team, const DirectOperation& operation) {
  if (!team.boards.may_write(operation.first)) return Step::incomplete;
  Description description{};
  description.shared_word = 1;
  team.post(operation, description);
  return Step::by_pieces;
}

}  // namespace gex::coll
