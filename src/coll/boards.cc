#include "coll/boards.h"

#include <algorithm>

#include "base/error.h"
#include "core/process.h"

namespace gex::coll {

namespace {

std::vector<shm::PostBoard*> boards_of(const Team& team, const std::vector<gex_Rank_t>& members,
                                       const std::vector<std::uint32_t>& slots) {
  const shm::Neighborhood& neighborhood = process().neighborhood;
  std::vector<shm::PostBoard*> boards;
  boards.reserve(members.size());
  for (std::size_t i = 0; i < members.size(); ++i)
    boards.push_back(&neighborhood.team_slots().post_board(
        slots[i], neighborhood.local_index_of(team.jobrank_of(members[i]))));
  return boards;
}

}  // namespace

Boards::Boards(Team& team, std::vector<gex_Rank_t> members, const std::vector<std::uint32_t>& slots)
    : team_(team),
      members_(std::move(members)),
      own_(static_cast<gex_Rank_t>(std::ranges::lower_bound(members_, team.rank) -
                                   members_.begin())),
      boards_(boards_of(team, members_, slots)),
      window_(shm::post_shape),
      reader_(shm::post_shape) {
}

Boards::~Boards() {
  // Relaxed: the slot is used again only after all members have agreed that it is free.
  own_board().read.store(0, std::memory_order_relaxed);
  for (shm::PostCell& cell : own_board().cells) cell.ready.store(0, std::memory_order_relaxed);
}

void Boards::refuse_size(gex_Rank_t member, std::uint64_t there, std::size_t bytes) const noexcept {
  fatal(
      "a collective operation of %lu bytes in rank %u of the team meets one of %zu bytes here: "
      "the members' calls differ",
      static_cast<unsigned long>(there), members_[member], bytes);
}

}  // namespace gex::coll
