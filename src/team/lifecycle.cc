#include "team/lifecycle.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "core/process.h"
#include "team/barrier.h"
#include "team/exchange.h"

namespace gex::team {

namespace {

/// Teams this process has been rank 0 of: the low half of their identity.
std::uint32_t teams_led = 0;

TeamId identity_of(gex_Rank_t leader, std::uint32_t number) {
  return TeamId{leader} << 32 | number;
}

void (*the_end_hook)(Team& team) noexcept = [](Team&) noexcept {};

/// Size that Split and Create recommend for scratch: a page; nothing here needs any.
constexpr std::size_t recommended_scratch = GASNET_PAGESIZE;

constexpr gex_Flags_t size_queries =
    GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED | GEX_FLAG_TM_SCRATCH_SIZE_MIN;

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <class T>
T value_of(const std::vector<std::byte>& block) {
  T value;
  if (block.size() != sizeof value) fatal("a team exchange brought %zu bytes", block.size());
  std::memcpy(&value, block.data(), sizeof value);
  return value;
}

/// Gives a team its barrier: flags if all members share memory and its rank 0 finds a free slot.
void complete_team(Team& team) {
  const shm::Neighborhood& neighborhood = process().neighborhood;
  bool together = true;
  for (gex_Rank_t r = 0; r < team.size; ++r)
    together = together && neighborhood.contains(team.jobrank_of(r));
  std::uint32_t slot = TeamBarrier::no_slot;
  if (together && team.rank == 0) slot = reserve_slot();
  const auto blocks = exchange(team, bytes_of(slot));
  give_barrier(team, value_of<std::uint32_t>(blocks[0]));
}

/// Makes this process's part of a team; collective over its members.
gex_TM_t make_team(Team& parent, const std::vector<gex_EP_Location_t>& members, gex_Rank_t own,
                   std::uint32_t number, gex_Memvec_t scratch, gex_Flags_t flags) {
  const TeamId identity = identity_of(members.front().gex_rank, number);
  Team* team = Team::create(parent.client, parent.endpoint, members, own, flags, identity);
  team->scratch = scratch;
  complete_team(*team);
  return team->handle();
}

}  // namespace

Team& create_primordial(gex_Client_t client) {
  std::vector<gex_EP_Location_t> members;
  for (gex_Rank_t r = 0; r < gex_proc_.jobsize; ++r) members.push_back({r, 0});
  if (gex_proc_.jobrank == 0) ++teams_led;
  Team* team =
      Team::create(client, client->endpoint, members, gex_proc_.jobrank, 0, identity_of(0, 0));
  client->team = team->handle();
  complete_team(*team);
  return *team;
}

std::size_t split(gex_TM_t* new_team, Team& parent, int color, int key, void* scratch,
                  std::size_t scratch_size, gex_Flags_t flags) {
  if ((flags & size_queries) != 0) {
    if ((flags & GEX_FLAG_TM_SCRATCH_SIZE_MIN) != 0)
      warn(
          "gex_TM_Split: GEX_FLAG_TM_SCRATCH_SIZE_MIN is deprecated, use "
          "GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED");
    return new_team != nullptr ? recommended_scratch : 0;
  }

  struct Choice {
    std::int32_t member;
    std::int32_t color;
    std::int32_t key;
    std::uint32_t number;  ///< of the next team this process leads
    gex_Rank_t parent_rank;
    gex_Rank_t jobrank;
    std::uint32_t endpoint;
  };
  const Choice mine{new_team != nullptr,   color, key, teams_led, parent.rank, gex_proc_.jobrank,
                    parent.endpoint->index};
  const auto blocks = exchange(parent, bytes_of(mine));
  if (new_team == nullptr) return 0;

  std::vector<Choice> members;
  for (const auto& block : blocks) {
    const auto choice = value_of<Choice>(block);
    if (choice.member != 0 && choice.color == color) members.push_back(choice);
  }
  std::stable_sort(members.begin(), members.end(), [](const Choice& a, const Choice& b) {
    return std::tie(a.key, a.parent_rank) < std::tie(b.key, b.parent_rank);
  });
  std::vector<gex_EP_Location_t> locations;
  gex_Rank_t own = 0;
  for (const Choice& member : members) {
    if (member.parent_rank == parent.rank) own = static_cast<gex_Rank_t>(locations.size());
    locations.push_back({member.jobrank, static_cast<gex_EP_Index_t>(member.endpoint)});
  }
  if (own == 0) ++teams_led;
  const bool has_scratch = (flags & GEX_FLAG_TM_NO_SCRATCH) == 0;
  *new_team = make_team(parent, locations, own, members.front().number,
                        has_scratch ? gex_Memvec_t{scratch, scratch_size} : gex_Memvec_t{}, flags);
  return 0;
}

std::size_t create(gex_TM_t* new_teams, std::size_t new_team_count, Team& parent,
                   const gex_EP_Location_t* members, std::size_t member_count,
                   const gex_Addr_t* scratch, std::size_t scratch_size, gex_Flags_t flags) {
  if ((flags & size_queries) != 0) {
    if ((flags & GEX_FLAG_TM_SCRATCH_SIZE_MIN) != 0)
      warn(
          "gex_TM_Create: GEX_FLAG_TM_SCRATCH_SIZE_MIN is deprecated, use "
          "GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED");
    return member_count != 0 ? recommended_scratch : 0;
  }

  // Everybody learns the number of the team that each process would lead next.
  const auto blocks = exchange(parent, bytes_of(teams_led));
  if (member_count == 0) return 0;

  std::vector<gex_EP_Location_t> locations;
  std::vector<gex_Rank_t> own;
  for (std::size_t i = 0; i < member_count; ++i) {
    gex_EP_Location_t location = members[i];
    if ((flags & GEX_FLAG_RANK_IS_JOBRANK) == 0)
      location.gex_rank = parent.jobrank_of(members[i].gex_rank);
    if (location.gex_rank == gex_proc_.jobrank) own.push_back(static_cast<gex_Rank_t>(i));
    locations.push_back(location);
  }
  if (own.size() != new_team_count)
    fatal(
        "gex_TM_Create: %zu member(s) of the list are endpoints of this process, but "
        "num_new_tms is %zu",
        own.size(), new_team_count);
  const gex_Rank_t leader = parent.rank_of(locations.front().gex_rank);
  if (leader == GEX_RANK_INVALID)
    fatal("gex_TM_Create: rank 0 of the new team is no member of the parent");
  const auto number = value_of<std::uint32_t>(blocks[leader]);

  for (std::size_t i = 0; i < own.size(); ++i) {
    gex_Memvec_t memory{nullptr, 0};
    if ((flags & GEX_FLAG_TM_NO_SCRATCH) == 0) {
      const std::size_t at = (flags & GEX_FLAG_TM_GLOBAL_SCRATCH) != 0  ? own[i]
                             : (flags & GEX_FLAG_TM_LOCAL_SCRATCH) != 0 ? i
                                                                        : 0;
      memory = {scratch[at], scratch_size};
      if ((flags & GEX_FLAG_SCRATCH_SEG_OFFSET) != 0)
        memory.gex_addr =
            parent.endpoint->segment->address + reinterpret_cast<std::uintptr_t>(scratch[at]);
    }
    if (own[i] == 0) ++teams_led;
    new_teams[i] = make_team(parent, locations, own[i], number, memory, flags);
  }
  return 0;
}

void set_end_hook(void (*end)(Team& team) noexcept) noexcept {
  the_end_hook = end;
}

int destroy(Team& team, gex_Memvec_t* scratch, gex_Flags_t flags) {
  const std::uint8_t nothing = 0;
  const std::uint32_t slot = team.barrier->slot();
  // Clients quiesce a team by a barrier over itself. A member that has left it must not take its
  // flag back before the others have seen it; messages cannot be taken back.
  if ((flags & GEX_FLAG_GLOBALLY_QUIESCED) == 0 || slot != TeamBarrier::no_slot)
    exchange(team, bytes_of(nothing));
  the_end_hook(team);
  take_barrier(team);
  // The slot is free once every member has set its flags back.
  if (slot != TeamBarrier::no_slot) exchange(team, bytes_of(nothing));
  if (team.rank == 0) free_slot(slot);
  const gex_Memvec_t memory = team.scratch;
  delete &team;
  if (memory.gex_len == 0) return 0;
  if (scratch != nullptr) *scratch = memory;
  return 1;
}

}  // namespace gex::team
