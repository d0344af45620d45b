#include "coll/direct_reduction.h"

#include <algorithm>
#include <cstring>

#include "coll/by_pieces.h"

namespace gex::coll {

namespace {

/// Bytes that one call combines: then others may want the core, or handlers run.
constexpr std::size_t max_combined_at_once = 256 * 1024;

/// So many bytes are combined before they are copied to their place: for a near cache where all
/// operands are mapped, else so much that the kernel's calls cost little beside its copies.
constexpr std::size_t mapped_chunk = 16 * 1024;
constexpr std::size_t copied_chunk = 64 * 1024;
/// Each member has to reach the memory of each other.
constexpr gex_Rank_t max_members = 64;
/// Below so many bytes of a slice the kernel's calls cost more than pieces.
constexpr std::size_t min_slice_by_kernel = 4096;

/// A member's answer in the second posts.
struct Verdict {
  std::uint8_t reaches_all;            ///< that it needs of this operation
  std::uint8_t kernel_copies_for_all;  ///< between it and each other member
};

bool by_kernel(const Request& request, gex_Rank_t members) noexcept {
  return request.bytes / members >= min_slice_by_kernel;
}

}  // namespace

bool DirectReduction::suits(const Request& request, gex_Rank_t members) noexcept {
  return is_reduction(request.kind) && members <= max_members;
}

bool DirectReduction::describe(DirectTeam& team, const DirectOperation& operation) {
  const Request& request = operation.request;
  if (!team.boards.may_write(operation.first)) return false;
  Description description{};
  description.source = memory_at(request.source);
  if (writes_destination(request, team.boards.own()))
    description.destination = memory_at(request.destination);
  team.post(operation, description);
  return true;
}

Step DirectReduction::advance(DirectTeam& team, const DirectOperation& operation,
                              bool& progressed) {
  for (const Stage before : {Stage::learning, Stage::agreeing}) {
    if (stage_ != before) continue;
    const Step step = before == Stage::learning ? learn(team, operation) : agree(team, operation);
    if (step != Step::done) return step;
    progressed = true;
  }
  if (stage_ == Stage::combining && !combine(team, operation, progressed)) return Step::incomplete;
  for (; seen_ != team.boards.size(); ++seen_)
    if (!team.boards.find_post(seen_, operation.first + 2, operation.request.bytes))
      return Step::incomplete;
  return Step::done;
}

/// Done: a later stage has been entered.
Step DirectReduction::learn(DirectTeam& team, const DirectOperation& operation) {
  using KernelAgreement = DirectTeam::KernelAgreement;
  for (; seen_ != team.boards.size(); ++seen_) {
    const Description* const description = team.description_of(seen_, operation);
    if (description == nullptr) return Step::incomplete;
    all_shared_ =
        all_shared_ && description->source.shared() &&
        (!writes_destination(operation.request, seen_) || description->destination.shared());
  }
  const bool kernel_may = by_kernel(operation.request, team.boards.size());
  if (kernel_may && team.kernel == KernelAgreement::between_all) {
    enter(Stage::combining);
    return Step::done;
  }
  if (!all_shared_ && (!kernel_may || team.kernel == KernelAgreement::not_between_all))
    return Step::by_pieces;
  if (!post_verdict(team, operation)) return Step::incomplete;
  enter(Stage::agreeing);
  return Step::done;
}

/// Done: the next stage has been entered.
Step DirectReduction::agree(DirectTeam& team, const DirectOperation& operation) {
  using KernelAgreement = DirectTeam::KernelAgreement;
  for (; seen_ != team.boards.size(); ++seen_) {
    if (!team.boards.find_post(seen_, operation.first + 1, operation.request.bytes))
      return Step::incomplete;
    Verdict verdict{};
    std::memcpy(&verdict, team.boards.cell(seen_, operation.first + 1), sizeof verdict);
    agrees_ = agrees_ && verdict.reaches_all != 0;
    kernel_agrees_ = kernel_agrees_ && verdict.kernel_copies_for_all != 0;
  }
  team.kernel = kernel_agrees_ ? KernelAgreement::between_all : KernelAgreement::not_between_all;
  if (!agrees_) return Step::by_pieces;
  enter(Stage::combining);
  return Step::done;
}

bool DirectReduction::post_verdict(DirectTeam& team, const DirectOperation& operation) {
  const Request& request = operation.request;
  const std::uint32_t number = operation.first + 1;
  if (!team.boards.may_write(number)) return false;
  Verdict verdict{1, 1};
  for (gex_Rank_t member = 0; member < team.boards.size(); ++member) {
    if (member == team.boards.own()) continue;
    const bool kernel = team.access.kernel_reaches(member);
    if (!kernel) verdict.kernel_copies_for_all = 0;
    if (kernel && by_kernel(request, team.boards.size())) continue;
    const Description& description = *team.description_of(member, operation);
    if (!team.access.maps(member, description.source, request.bytes) ||
        (writes_destination(request, member) &&
         !team.access.maps(member, description.destination, request.bytes)))
      verdict.reaches_all = 0;
  }
  std::memcpy(team.boards.own_cell(number), &verdict, sizeof verdict);
  team.boards.publish(number, request.bytes);
  return true;
}

bool DirectReduction::combine(DirectTeam& team, const DirectOperation& operation,
                              bool& progressed) {
  const Request& request = operation.request;
  const std::size_t element = request.reduction.element;
  const Slice slice = slice_of(request.bytes, element, team.boards.own(), team.boards.size());
  const std::size_t chunk = (all_shared_ ? mapped_chunk : copied_chunk) / element * element;
  for (std::size_t combined = 0; moved_ != slice.bytes;) {
    if (combined >= max_combined_at_once) return false;
    const std::size_t bytes = std::min(chunk, slice.bytes - moved_);
    combine_chunk(team, operation, slice.offset + moved_, bytes);
    moved_ += bytes;
    combined += bytes;
    progressed = true;
  }
  const std::uint32_t number = operation.first + 2;
  if (!team.boards.may_write(number)) return false;
  team.boards.publish(number, request.bytes);
  enter(Stage::collecting);
  return true;
}

void DirectReduction::combine_chunk(DirectTeam& team, const DirectOperation& operation,
                                    std::size_t offset, std::size_t bytes) {
  const Request& request = operation.request;
  const gex_Rank_t me = team.boards.own();
  const gex_Rank_t members = team.boards.size();
  if (team.workspace.empty()) team.workspace.resize(3 * copied_chunk / sizeof(Line));
  std::byte* const partial = reinterpret_cast<std::byte*>(team.workspace.data());
  std::byte* const buffer = partial + copied_chunk;
  const auto with_operand = [&](gex_Rank_t member, std::byte* place, auto act) {
    if (member == me) {
      act(request.source + offset);
      return;
    }
    const MemoryAt source = team.description_of(member, operation)->source + offset;
    if (!team.access.read(member, source, place, bytes, act))
      refuse_memory_of(team.boards.rank_of(member));
  };
  // The last step makes the result in its place. A user's operator changes one of its operands, of
  // which the other may be there.
  std::byte* const result = writes_destination(request, me) && request.reduction.builtin != nullptr
                                ? request.destination + offset
                                : partial;
  // From the last operand down. The first two are combined without a copy of either.
  with_operand(members - 1, buffer + copied_chunk, [&](const std::byte* last) {
    with_operand(members - 2, buffer, [&](const std::byte* left) {
      request.reduction.apply(left, last, members == 2 ? result : partial, bytes);
    });
  });
  for (gex_Rank_t member = members - 2; member-- > 0;)
    with_operand(member, buffer, [&](const std::byte* left) {
      if (member == 0 && result != partial)
        request.reduction.apply(left, partial, result, bytes);
      else
        request.reduction.apply(left, partial, bytes);
    });
  // Each begins with its own, so that not all write to the same one.
  for (gex_Rank_t i = 0; i < members; ++i) {
    const gex_Rank_t member = (me + i) % members;
    if (!writes_destination(request, member)) continue;
    if (member == me) {
      if (result == partial) std::memcpy(request.destination + offset, partial, bytes);
      continue;
    }
    const MemoryAt destination = team.description_of(member, operation)->destination + offset;
    if (!team.access.copy_to(member, destination, result, bytes))
      refuse_memory_of(team.boards.rank_of(member));
  }
}

}  // namespace gex::coll
