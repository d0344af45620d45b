#include "coll/direct_copy.h"

#include <algorithm>
#include <cstring>

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

Step DirectCopy::advance(DirectTeam& team, const Numbered& operation, bool& progressed) {
  return operation.request.root == team.boards.rank() ? serve(team, operation, progressed)
                                                      : take(team, operation, progressed);
}

Step DirectCopy::serve(DirectTeam& team, const Numbered& operation, bool& progressed) {
  const Request& request = operation.request;
  const Step kept = root_.keep(request, progressed);
  if (kept != Step::complete) return kept;
  // Pieces do not wait for those that copy: all have copied or refused before.
  for (; seen_ != team.boards.size(); ++seen_) {
    if (seen_ == team.boards.rank() || team.boards.has_read(seen_, operation.end)) continue;
    if (!team.boards.is_posted(seen_, operation.first)) return Step::incomplete;
    refused_ = true;
  }
  return refused_ ? DirectRoot::note_refusal(team, request) : Step::complete;
}

Step DirectCopy::take(DirectTeam& team, const Numbered& operation, bool& progressed) {
  if (!refused_) {
    const Description* const root = team.description_of(operation.request.root, operation);
    if (root == nullptr) return Step::incomplete;
    if (root->direct == 0) return Step::by_pieces;
    const bool all = copy(team, operation, *root);
    progressed = true;
    if (!refused_ && !all) return Step::incomplete;
  }
  if (refused_) return refuse(team, operation);
  team.boards.read_all_below(operation.end);
  return Step::complete;
}

/// Copies from the root, which is not reached if the operation is `refused_` then. True: all of it.
bool DirectCopy::copy(DirectTeam& team, const Numbered& operation, const Description& root) {
  const Request& request = operation.request;
  std::size_t at = copied_;
  if (!root.source.shared()) at = (at + start_of(request, team.boards)) % request.bytes;
  const std::size_t bytes =
      std::min({request.bytes - copied_, request.bytes - at, max_copied_at_once});
  refused_ =
      !team.access.copy_from(request.root, root.source + at, request.destination + at, bytes);
  copied_ += bytes;
  return copied_ == request.bytes;
}

Step DirectCopy::refuse(DirectTeam& team, const Numbered& operation) {
  if (!team.boards.may_write(operation.first)) return Step::incomplete;
  Description description{};
  description.shared_word = 1;
  team.post(operation, description);
  return Step::by_pieces;
}

}  // namespace gex::coll
