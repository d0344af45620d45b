#include "core/team.h"

#include <cerrno>
#include <memory>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/immortal.h"
#include "core/process.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace gex {

namespace {

Immortal<LiveObjects<Team>> the_live_teams{"team"};
LiveObjects<Team>& live_teams() noexcept {
  return the_live_teams.get();
}

/// Only what changes is written: transfers of other threads read the rest meanwhile.
void set_displacement(std::intptr_t& at, std::intptr_t value) noexcept {
  if (at != value) __atomic_store_n(&at, value, __ATOMIC_RELAXED);
}

/// By `withdraw_displacements`. Under the lock of live teams.
constinit bool is_withdrawn = false;

bool are_displacements_kept() noexcept {
  return !is_inline_withdrawn() && !is_withdrawn;
}

}  // namespace

Team* Team::create(gex_Client_t owner, gex_EP_t local_endpoint, TeamMembers members, gex_Rank_t own,
                   gex_Flags_t creation_flags, TeamId identity) {
  void* const memory = ::operator new (sizeof(Team) + members.size() * sizeof(std::intptr_t),
                                       std::align_val_t{alignof(Team)});
  std::uninitialized_fill_n(
      reinterpret_cast<std::intptr_t*>(static_cast<std::byte*>(memory) + sizeof(Team)),
      members.size(), GEX_NOT_MAPPED_);
  return new (memory)
      Team(owner, local_endpoint, std::move(members), own, creation_flags, identity);
}

Team* Team::create_of_all(gex_Client_t owner, gex_EP_t local_endpoint, TeamId identity) {
  TeamMembers members = TeamMembers::all(gex_proc_.jobsize);
  const shm::JobTables* const tables = process().neighborhood.job_tables();
  if (tables == nullptr)
    return create(owner, local_endpoint, std::move(members), gex_proc_.jobrank, 0, identity);
  os::Mapping displacements = tables->map_displacements();
  if (!displacements) fatal_system("cannot map the displacements of a team", errno);
  constexpr std::size_t before = shm::JobTables::page_bytes;
#ifdef __SANITIZE_ADDRESS__
  // What only the team points to is in use.
  __lsan_register_root_region(displacements.data(), before);
#endif
  static_assert(sizeof(Team) <= before && before % alignof(Team) == 0);
  return new (displacements.release().data() + before - sizeof(Team))
      Team(owner, local_endpoint, std::move(members), gex_proc_.jobrank, 0, identity);
}

void Team::operator delete(void* team) noexcept {
  ::operator delete (team, std::align_val_t{alignof(Team)});
}

Team::Team(gex_Client_t owner, gex_EP_t local_endpoint, TeamMembers members, gex_Rank_t own,
           gex_Flags_t creation_flags, TeamId identity)
    : TeamRecord(identity, Endpoints::make(owner->index, local_endpoint->index, 0),
                 std::move(members)),
      TeamPrefix{} {
  rank = own;
  size = members_.size();
  client = owner;
  endpoint = local_endpoint;
  flags = creation_flags;
  status.id.store(id_, std::memory_order_relaxed);
  status.rank.store(rank, std::memory_order_relaxed);
  // Release: a reader that sees the size sees the rest.
  status.size.store(size, std::memory_order_release);
  // Under one lock: what is published from now on finds the team.
  const auto lock = live_teams().lock();
  live_teams().add(*this, lock);
  refresh_displacements();
}

Team::~Team() {
  live_teams().remove(*this);
  job::RankStatus::own().release_team(status);
}

const std::intptr_t* Team::displacements_by_jobrank() {
  if (members_.are_primordial()) return Team::from(client->team).displacements();
  const auto lock = live_teams().lock();
  by_jobrank_.resize(gex_proc_.jobsize, GEX_NOT_MAPPED_);
  refresh_displacements();
  return by_jobrank_.data();
}

void Team::keep_interleaved(std::intptr_t* pairs) {
  std::uninitialized_fill_n(pairs, 2 * interleaved_count(), GEX_NOT_MAPPED_);
  displacements_by_jobrank();
  const auto lock = live_teams().lock();
  interleaved_.push_back(pairs);
  refresh_interleaved();
}

void Team::drop_interleaved(const std::intptr_t* pairs) noexcept {
  const auto lock = live_teams().lock();
  for (Team* team : live_teams().all()) std::erase(team->interleaved_, pairs);
}

void Team::refresh_interleaved() noexcept {
  if (!are_displacements_kept() || interleaved_.empty()) return;
  const std::intptr_t* by_jobrank =
      by_jobrank_.empty() ? Team::from(client->team).displacements() : by_jobrank_.data();
  for (std::intptr_t* pairs : interleaved_) {
    for (std::size_t r = 0; r < size; ++r) set_displacement(pairs[2 * r], displacements()[r]);
    for (std::size_t r = 0; r < gex_proc_.jobsize; ++r)
      set_displacement(pairs[2 * r + 1], by_jobrank[r]);
  }
}

void Team::refresh_displacements() noexcept {
  if (!are_displacements_kept()) return;
  auto* const displacement = reinterpret_cast<std::intptr_t*>(this + 1);
  // Inline code copies, and the local memory of an endpoint with another kind of segment is of that
  // kind.
  const bool copies = endpoint->segment == nullptr || endpoint->segment->kind == nullptr;
  const shm::Neighborhood& neighborhood = process().neighborhood;
  for (gex_Rank_t r = 0; r < size; ++r) {
    // Nothing of others is ever mapped.
    if (!neighborhood.contains(jobrank_of(r))) continue;
    set_displacement(displacement[r],
                     copies ? segment_of(r).displacement() : std::intptr_t{GEX_NOT_MAPPED_});
  }
  if (by_jobrank_.empty()) return;
  for (gex_Rank_t r = 0; r < size; ++r)
    if (primordial_rank_of(jobrank_of(r)) == r)
      set_displacement(by_jobrank_[jobrank_of(r)], displacement[r]);
}

void Team::withdraw_displacements() noexcept {
  auto* const displacement = reinterpret_cast<std::intptr_t*>(this + 1);
  for (gex_Rank_t r = 0; r < size; ++r) set_displacement(displacement[r], GEX_NOT_MAPPED_);
  for (std::intptr_t& one : by_jobrank_) set_displacement(one, GEX_NOT_MAPPED_);
  for (std::intptr_t* pairs : interleaved_)
    for (std::size_t i = 0; i < 2 * interleaved_count(); ++i)
      set_displacement(pairs[i], GEX_NOT_MAPPED_);
}

void withdraw_displacements() noexcept {
  const auto lock = live_teams().lock();
  is_withdrawn = true;
  for (Team* team : live_teams().all()) team->withdraw_displacements();
}

void restore_displacements() noexcept {
  {
    const auto lock = live_teams().lock();
    is_withdrawn = false;
  }
  refresh_displacements();
}

void refresh_displacements() noexcept {
  const auto lock = live_teams().lock();
  for (Team* team : live_teams().all()) team->refresh_displacements();
  for (Team* team : live_teams().all()) team->refresh_interleaved();
}

namespace {

/// The team of a handle that is no pair. Checked mode sees that there is one, or still is.
Team& require_live(gex_TM_t tm, const char* call) noexcept {
  if (tm == GEX_TM_INVALID)
    fatal(gex_proc_.jobsize == 0 ? "%s: called before gex_Client_Init"
                                 : "%s: the team is GEX_TM_INVALID",
          call);
  Team& team = Team::from(tm);
  live_teams().require(team, tm, call);
  return team;
}

}  // namespace

void refuse_no_team() noexcept {
  fatal(gex_proc_.jobsize == 0 ? "a call before gex_Client_Init (GEX_CHECK=1 names it)"
                               : "a call whose team is GEX_TM_INVALID (GEX_CHECK=1 names it)");
}

void require_team_or_pair(gex_TM_t tm, const char* call) noexcept {
  if (!GEX_IS_PAIR_(tm)) {
    require_live(tm, call);
    return;
  }
  const Pair pair = decode_pair(tm);
  if (find_endpoint(pair.client, pair.local) == nullptr || pair.remote >= GASNET_MAXEPS)
    fatal("%s: the TM-pair names an endpoint that does not exist (local %u, remote %u)", call,
          pair.local, pair.remote);
}

void require_peer(gex_TM_t tm, gex_Rank_t rank, const char* call) noexcept {
  require_team_or_pair(tm, call);
  const gex_Rank_t size = GEX_IS_PAIR_(tm) ? gex_proc_.jobsize : Team::from(tm).size;
  if (rank >= size) fatal("%s: rank %u is not below the team's size %u", call, rank, size);
}

Team& require_team(gex_TM_t tm, const char* call) noexcept {
  if (GEX_IS_PAIR_(tm)) fatal("%s: a TM-pair cannot make collective calls", call);
  return require_live(tm, call);
}

}  // namespace gex
