#include "team/lifecycle.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "core/memory_class.h"
#include "core/op.h"
#include "core/process.h"
#include "job/limits.h"
#include "observe/restricted.h"
#include "team/barrier.h"
#include "team/exchange.h"

namespace gex::team {

namespace {

/// A team's identity is the endpoint of its rank 0 and a number of that process: of a primordial
/// team its client's, of any other one that was never given before.
std::atomic<std::uint32_t> next_number{max_clients};

TeamId identity_of(const gex_EP_Location_t& leader, std::uint32_t number) {
  static_assert(job::max_ranks <= (1U << 31) / max_endpoints);
  return (TeamId{leader.gex_rank} * max_endpoints + leader.gex_ep_index) << 32 | number;
}

void (*the_end_hook)(Team& team) noexcept = [](Team&) noexcept {};

/// A value that arguments which must be equal have in common, and others hardly.
class Fingerprint {
 public:
  void add(std::uint64_t value) noexcept { value_ = (value_ ^ value) * 0x9E3779B97F4A7C15U; }
  void add(const std::string& text) noexcept {
    for (const char c : text) add(static_cast<unsigned char>(c));
  }
  std::uint32_t value() const noexcept { return static_cast<std::uint32_t>(value_ >> 32); }

 private:
  std::uint64_t value_ = 1;
};

/// Size that Split and Create recommend for scratch: a page; nothing here needs any.
constexpr std::size_t recommended_scratch = GASNET_PAGESIZE;

void warn_of_deprecated(const char* call, gex_Flags_t flags) {
  if ((flags & GEX_FLAG_TM_SCRATCH_SIZE_MIN) != 0)
    warn("%s: GEX_FLAG_TM_SCRATCH_SIZE_MIN is deprecated, use GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED",
         call);
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <class T>
T value_of(std::span<const std::byte> block) {
  T value;
  if (block.size() != sizeof value) fatal("a team exchange brought %zu bytes", block.size());
  std::memcpy(&value, block.data(), sizeof value);
  return value;
}

/// The members of a new team exchange these.
struct Completion {
  std::uint32_t slot;    ///< shm::TeamSlots' of the member, or none
  std::uint32_t client;  ///< fingerprint of its name and flags
};

void release_slot(std::uint32_t slot, bool has_stages) noexcept {
  if (slot == shm::TeamSlots::none) return;
  const shm::Neighborhood& neighborhood = process().neighborhood;
  neighborhood.team_slots().release(slot, neighborhood.local_index(), has_stages);
}

/// Gives a team its barrier: with flags if each member that shares memory with others has a free
/// slot. Returns the members' blocks, by rank.
Blocks complete_team(std::span<Team* const> local_members) {
  const Team& first = *local_members.front();
  Fingerprint client;
  client.add(first.client->name);
  client.add(first.client->flags);
  Completion mine{shm::TeamSlots::none, client.value()};
  const shm::Neighborhood& neighborhood = process().neighborhood;
  const BarrierPlan plan = plan_of(first);
  if (plan.has_flag[first.rank])
    mine.slot = neighborhood.team_slots().reserve(neighborhood.usable_team_slots());
  auto blocks = exchange(local_members, bytes_of(mine));
  bool has_all = plan.shape != BarrierShape::messages;
  for (gex_Rank_t r = 0; r < first.size && has_all; ++r)
    has_all = !plan.has_flag[r] || value_of<Completion>(blocks[r]).slot != shm::TeamSlots::none;
  std::vector<std::uint32_t> slots;
  for (const gex_Rank_t member : plan.near)
    slots.push_back(value_of<Completion>(blocks[member]).slot);
  if (!has_all) {
    release_slot(mine.slot, false);
    slots.clear();
  }
  for (Team* team : local_members) give_barrier(*team, slots);
  return blocks;
}

/// Checked mode: the client has one name and one set of flags.
void require_same_client(const Team& team, const Blocks& blocks) {
  if (!checked()) return;
  const std::uint32_t mine = value_of<Completion>(blocks[team.rank]).client;
  for (gex_Rank_t r = 0; r < team.size; ++r)
    if (value_of<Completion>(blocks[r]).client != mine)
      fatal("gex_Client_Init: rank %u gave another name than \"%s\", or other flags", r,
            team.client->name.c_str());
}

/// Shows where a new team comes from; `made_as`: which of the parent's.
void show_origin(const Team& team, const Team& parent, Call made_by,
                 std::uint32_t made_as) noexcept {
  team.status.parent.store(parent.id(), std::memory_order_relaxed);
  team.status.made_by.store(number_of(made_by), std::memory_order_relaxed);
  team.status.made_as.store(made_as, std::memory_order_relaxed);
}

/// All members of the parent make the same such calls, whether they get a team or not.
std::uint32_t next_team_of(const Team& parent) noexcept {
  return parent.status.teams_made.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Team& create_primordial(gex_Client_t client) {
  Team* team = Team::create_of_all(client, client->endpoint, identity_of({0, 0}, client->index));
  client->team = team->handle();
  require_same_client(*team, complete_team({&team, 1}));
  return *team;
}

std::size_t split(gex_TM_t* new_team, Team& parent, int color, int key, void* scratch,
                  std::size_t scratch_size, gex_Flags_t flags) {
  if ((flags & size_queries) != 0) {
    warn_of_deprecated("gex_TM_Split", flags);
    return new_team != nullptr ? recommended_scratch : 0;
  }

  struct Choice {
    std::int32_t member;
    std::int32_t color;
    std::int32_t key;
    std::uint32_t number;  ///< of the new team, if this member leads it
    std::uint64_t scratch_size;
  };
  struct Member {
    std::int32_t key;
    gex_Rank_t parent_rank;
  };
  const gex_Memvec_t memory = (flags & GEX_FLAG_TM_NO_SCRATCH) == 0
                                  ? gex_Memvec_t{scratch, scratch_size}
                                  : gex_Memvec_t{nullptr, 0};
  const Choice mine{new_team != nullptr, color, key, next_number++, memory.gex_len};
  const std::uint32_t made_as = next_team_of(parent);
  const auto blocks = exchange(parent, bytes_of(mine));
  if (new_team == nullptr) return 0;

  std::vector<Member> members;
  for (gex_Rank_t r = 0; r < parent.size; ++r) {
    const auto choice = value_of<Choice>(blocks[r]);
    if (choice.member == 0 || choice.color != color) continue;
    if (choice.scratch_size != mine.scratch_size)
      fatal("gex_TM_Split: members of color %d give %zu and %zu bytes of scratch", color,
            memory.gex_len, static_cast<std::size_t>(choice.scratch_size));
    members.push_back({choice.key, r});
  }
  std::ranges::stable_sort(members, {}, &Member::key);
  std::vector<gex_EP_Location_t> locations;
  gex_Rank_t own = 0;
  for (const Member& member : members) {
    if (member.parent_rank == parent.rank) own = static_cast<gex_Rank_t>(locations.size());
    locations.push_back(parent.location_of(member.parent_rank));
  }
  const auto number = value_of<Choice>(blocks[members.front().parent_rank]).number;
  Team* team = Team::create(parent.client, parent.endpoint, TeamMembers(locations), own, flags,
                            identity_of(locations.front(), number));
  show_origin(*team, parent, Call::split, made_as);
  team->scratch = memory;
  complete_team({&team, 1});
  *new_team = team->handle();
  return 0;
}

namespace {

/// A member of the parent gives these when teams are created.
struct Proposal {
  std::uint32_t number;
  std::uint32_t arguments;  ///< fingerprint of those that the new team's members must share
};

/// Every process that has a member in the list must have given the same list.
void require_same_list(const Team& parent, const std::vector<gex_EP_Location_t>& members,
                       const std::vector<Proposal>& proposals, std::uint32_t arguments) {
  std::vector<bool> agrees(gex_proc_.jobsize);
  for (gex_Rank_t r = 0; r < parent.size; ++r)
    if (proposals[r].arguments == arguments) agrees[parent.jobrank_of(r)] = true;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (members[i].gex_rank >= agrees.size() || !agrees[members[i].gex_rank])
      fatal(
          "gex_TM_Create: jobrank %u, which has member %zu of the list, is not a member of the "
          "parent "
          "or gave another list or another scratch size",
          members[i].gex_rank, i);
}

/// The scratch of the `local`-th local member, which is member `rank`.
gex_Memvec_t scratch_of(gex_EP_t endpoint, const gex_Addr_t* addresses, std::size_t size,
                        std::size_t local, gex_Rank_t rank, gex_Flags_t flags) {
  if ((flags & GEX_FLAG_TM_NO_SCRATCH) != 0) return {nullptr, 0};
  const std::size_t at = (flags & GEX_FLAG_TM_GLOBAL_SCRATCH) != 0  ? rank
                         : (flags & GEX_FLAG_TM_LOCAL_SCRATCH) != 0 ? local
                                                                    : 0;
  const gex_Segment_t segment = endpoint->segment;
  const bool is_offset = (flags & GEX_FLAG_SCRATCH_SEG_OFFSET) != 0;
  auto* address = static_cast<std::byte*>(addresses[at]);
  if (is_offset && segment != nullptr)
    address = segment->address + reinterpret_cast<std::uintptr_t>(addresses[at]);
  if ((is_offset || checked()) && (segment == nullptr || !segment->contains(address, size)))
    fatal("gex_TM_Create: %zu bytes of scratch at %p are not in the segment of endpoint %u", size,
          static_cast<void*>(address), unsigned{endpoint->index});
  if (checked() && segment->kind != nullptr)
    fatal(
        "gex_TM_Create: scratch is memory of the host, and endpoint %u has memory of %s device %u; "
        "use GEX_FLAG_TM_NO_SCRATCH",
        unsigned{endpoint->index}, class_name(*segment->kind), segment->kind->device);
  return {address, size};
}

}  // namespace

std::size_t create(gex_TM_t* new_teams, std::size_t new_team_count, Team& parent,
                   const gex_EP_Location_t* members, std::size_t member_count,
                   const gex_Addr_t* scratch, std::size_t scratch_size, gex_Flags_t flags) {
  if ((flags & size_queries) != 0) {
    warn_of_deprecated("gex_TM_Create", flags);
    return member_count != 0 ? recommended_scratch : 0;
  }

  std::vector<gex_EP_Location_t> locations;
  std::vector<gex_Rank_t> own;
  Fingerprint arguments;
  for (std::size_t i = 0; i < member_count; ++i) {
    gex_EP_Location_t location = members[i];
    if ((flags & GEX_FLAG_RANK_IS_JOBRANK) == 0)
      location.gex_rank = parent.jobrank_of(members[i].gex_rank);
    if (location.gex_ep_index >= GASNET_MAXEPS)
      fatal("gex_TM_Create: member %zu names endpoint %u of %u", i, unsigned{location.gex_ep_index},
            unsigned{GASNET_MAXEPS});
    if (location.gex_rank == gex_proc_.jobrank) own.push_back(static_cast<gex_Rank_t>(i));
    locations.push_back(location);
    arguments.add(location.gex_rank);
    arguments.add(location.gex_ep_index);
  }
  arguments.add((flags & GEX_FLAG_TM_NO_SCRATCH) == 0 ? scratch_size : 0);
  const Proposal mine{next_number++, arguments.value()};
  const std::uint32_t made_as = next_team_of(parent);
  std::vector<Proposal> proposals;
  for (const auto& block : exchange(parent, bytes_of(mine)))
    proposals.push_back(value_of<Proposal>(block));
  if (member_count == 0) return 0;
  if (own.size() != new_team_count)
    fatal(
        "gex_TM_Create: %zu member(s) of the list are endpoints of this process, but "
        "num_new_tms is %zu",
        own.size(), new_team_count);
  require_same_list(parent, locations, proposals, mine.arguments);
  const gex_Rank_t leader = parent.rank_of(locations.front().gex_rank);

  std::vector<Team*> teams;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const unsigned index = locations[own[i]].gex_ep_index;
    const gex_EP_t endpoint = find_endpoint(parent.client->index, index);
    if (endpoint == nullptr)
      fatal("gex_TM_Create: member %u is endpoint %u of this process, which was not created",
            own[i], index);
    Team* team = Team::create(parent.client, endpoint, TeamMembers(locations), own[i], flags,
                              identity_of(locations.front(), proposals[leader].number));
    show_origin(*team, parent, Call::create, made_as);
    team->scratch = scratch_of(endpoint, scratch, scratch_size, i, own[i], flags);
    teams.push_back(team);
  }
  if (teams.empty()) return 0;
  complete_team(teams);
  for (std::size_t i = 0; i < teams.size(); ++i) new_teams[i] = teams[i]->handle();
  return 0;
}

void set_end_hook(void (*end)(Team& team) noexcept) noexcept {
  the_end_hook = end;
}

int destroy(Team& team, gex_Memvec_t* scratch, gex_Flags_t flags) {
  const std::uint8_t nothing = 0;
  const std::uint32_t slot = barrier_of(team).own_slot();
  // Clients quiesce a team by a barrier over itself. A member that has left it must not take its
  // flag back before the others have seen it; messages cannot be taken back.
  const bool has_slots = !barrier_of(team).slots().empty();
  const bool has_stages = barrier_of(team).has_stages();
  if ((flags & GEX_FLAG_GLOBALLY_QUIESCED) == 0 || has_slots) exchange(team, bytes_of(nothing));
  the_end_hook(team);
  take_barrier(team);
  // The slot is free once every member has seen the flags for the last time.
  if (has_slots) exchange(team, bytes_of(nothing));
  release_slot(slot, has_stages);
  const gex_Memvec_t memory = team.scratch;
  delete &team;
  if (memory.gex_len == 0 || scratch == nullptr) return 0;
  *scratch = memory;
  return 1;
}

}  // namespace gex::team
