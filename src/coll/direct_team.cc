#include "coll/direct_team.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace gex::coll {

namespace {

/// Members of a broadcast whose data the kernel copies out of memory that is not shared. It counts
/// the users of a page, and a huge page is one: with more members they wait for each other (1 MiB
/// to 7 members took four times as long as by pieces, to 15 eight times).
constexpr gex_Rank_t max_members_by_kernel = 3;

std::uint32_t upper_half(std::size_t bytes) noexcept {
  return static_cast<std::uint32_t>(std::uint64_t{bytes} >> 32);
}

}  // namespace

const Description* DirectTeam::description_of(gex_Rank_t member,
                                              const DirectOperation& operation) noexcept {
  const std::size_t bytes = operation.request.bytes;
  if (!boards.find_post(member, operation.first, bytes)) return nullptr;
  const auto* const description =
      reinterpret_cast<const Description*>(boards.cell(member, operation.first));
  if (description->upper_bytes != upper_half(bytes)) [[unlikely]]
    boards.refuse_size(member, std::uint64_t{description->upper_bytes} << 32, bytes);
  return description;
}

std::atomic_ref<std::uint32_t> DirectTeam::word_of(
    gex_Rank_t member, const DirectOperation& operation) const noexcept {
  auto* const description = reinterpret_cast<Description*>(boards.cell(member, operation.first));
  return std::atomic_ref<std::uint32_t>(description->shared_word);
}

void DirectTeam::post(const DirectOperation& operation, Description description) noexcept {
  description.upper_bytes = upper_half(operation.request.bytes);
  std::memcpy(boards.own_cell(operation.first), &description, sizeof description);
  boards.publish(operation.first, operation.request.bytes);
}

bool DirectRoot::describe(DirectTeam& team, const DirectOperation& operation) noexcept {
  if (!team.boards.may_write(operation.first)) return false;
  Description description{};
  description.source = source_ = memory_at(operation.request.source);
  const bool kernel_copies = !team.kernel_declined && team.boards.size() <= max_members_by_kernel;
  is_direct_ = kernel_copies || (!team.mapped_declined && source_.shared());
  description.direct = is_direct_ ? 1 : 0;
  team.post(operation, description);
  return true;
}

Step DirectRoot::make_own(const Request& request, bool& progressed) noexcept {
  if (!is_direct_) return Step::by_pieces;
  if (own_result_is_there(request) || own_made_ == request.bytes) return Step::done;
  const std::size_t bytes = std::min(request.bytes - own_made_, max_copied_at_once);
  make_own_result(request, own_made_, bytes);
  own_made_ += bytes;
  progressed = true;
  return own_made_ == request.bytes ? Step::done : Step::incomplete;
}

Step DirectRoot::note_decline(DirectTeam& team) const noexcept {
  team.kernel_declined = true;
  team.mapped_declined = team.mapped_declined || source_.shared();
  return Step::by_pieces;
}

void refuse_memory_of(gex_Rank_t rank) noexcept {
  fatal(
      "a collective operation does not reach the memory of rank %u of the team any more: its "
      "segment was replaced meanwhile, or the kernel refuses to copy",
      rank);
}

}  // namespace gex::coll
