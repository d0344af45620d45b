#pragma once
// Teams: ordered sets of endpoints with one local representative, and TM-pairs, which are values.
//
// A team has its members' locations and their displacements. What needs messages between members
// (creation, barriers) is in the room team/.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/endpoint_address.h"
#include "core/live_objects.h"
#include "core/objects.h"
#include "core/process.h"
#include "core/published.h"
#include "core/slots.h"
#include "core/team_members.h"
#include "job/rank_status.h"

namespace gex {

/// Identifies a team to all of its members: the endpoint of its rank 0 and a number of that
/// process.
using TeamId = std::uint64_t;

/// Calls of one kind that a member has made over a team, and those of them that are over for it.
/// Every member makes the same calls, so one that has left with fewer than another keeps it
/// waiting.
struct CollectiveCalls {
  /// `shown_count`: where the guardian reads how many have begun.
  explicit CollectiveCalls(std::atomic<std::uint32_t>& shown_count) noexcept : shown(shown_count) {}

  // Relaxed: counts, which order nothing. One thread at a time changes either.
  std::atomic<std::uint32_t> begun{0};
  std::atomic<std::uint32_t> over{0};
  std::atomic<std::uint32_t>& shown;

  std::uint32_t begin() noexcept {
    const std::uint32_t before = increment(begun);
    shown.store(before + 1, std::memory_order_relaxed);
    return before;
  }
  void end() noexcept { increment(over); }

 private:
  /// The value before.
  static std::uint32_t increment(std::atomic<std::uint32_t>& count) noexcept {
    const std::uint32_t before = count.load(std::memory_order_relaxed);
    count.store(before + 1, std::memory_order_relaxed);
    return before;
  }
};

/// The state that rooms above keep with a team, each in a slot of its own (core/slots.h).
enum class TeamSlot : unsigned {
  barrier,      ///< team: of the team's calls
  collectives,  ///< coll; null until it is needed
  count
};

/// The part of a team that only the library reads. It lies before the prefix that clients read,
/// behind which, at a distance that is part of the ABI, the displacements lie.
class alignas(64) TeamRecord {
 public:
  job::TeamStatus& status;  ///< what the guardian reads of it
  gex_Memvec_t scratch{nullptr, 0};
  CollectiveCalls exchanges{status.agreements};  ///< see team/exchange.h
  /// These are the calls of coll/; one is over once its event is synchronised.
  CollectiveCalls collectives_called{status.collectives};
  Slots<TeamSlot> slots;

 protected:
  TeamRecord(TeamId identity, Endpoints from_here, TeamMembers members) noexcept
      : status(job::RankStatus::own().claim_team()),
        id_(identity),
        from_here_(from_here),
        members_(std::move(members)) {}

  TeamId id_;
  Endpoints from_here_;
  const TeamMembers members_;
  std::vector<std::intptr_t> by_jobrank_;    ///< displacements, once they are asked for
  std::vector<std::intptr_t*> interleaved_;  ///< kept by `keep_interleaved`
};

/// Clients read these, in a cache line of their own: a plain base would begin in the padding of the
/// record.
struct alignas(64) TeamPrefix : gex_TeamPrefix_ {};

class Team : public TeamRecord,
             public TeamPrefix,
             public TaggedHandle<Team, gex_TeamPrefix_, gex_TM_t> {
 public:
  /// `members` in rank order; `own` is this process's rank among them.
  static Team* create(gex_Client_t owner, gex_EP_t local_endpoint, TeamMembers members,
                      gex_Rank_t own, gex_Flags_t creation_flags, TeamId identity);
  /// A team of endpoint 0 of each rank, which is never destroyed. Where a neighborhood keeps tables
  /// of the job (shm/job_tables.h) its displacements are one of those, and take memory of the
  /// process only for neighbors.
  static Team* create_of_all(gex_Client_t owner, gex_EP_t local_endpoint, TeamId identity);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  static void operator delete(void* team) noexcept;

  TeamId id() const noexcept { return id_; }
  gex_EP_Location_t location_of(gex_Rank_t member) const noexcept { return members_[member]; }
  gex_Rank_t jobrank_of(gex_Rank_t member) const noexcept { return members_.jobrank_of(member); }
  gex_EP_Index_t endpoint_of(gex_Rank_t member) const noexcept {
    return members_.endpoint_of(member);
  }
  /// The endpoints of a message from here to that member.
  Endpoints endpoints_to(const gex_EP_Location_t& member) const noexcept {
    return {static_cast<std::uint16_t>(from_here_.bits |
                                       Endpoints::make(0, 0, member.gex_ep_index).bits)};
  }
  /// The lowest if that process has several endpoints in the team, GEX_RANK_INVALID if it has none.
  gex_Rank_t rank_of(gex_Rank_t jobrank) const noexcept { return members_.rank_of(jobrank); }
  /// The primordial one if that process has several endpoints in the team, GEX_RANK_INVALID if it
  /// has none.
  gex_Rank_t primordial_rank_of(gex_Rank_t jobrank) const noexcept {
    return members_.primordial_rank_of(jobrank);
  }

  /// The segment that a member has published, as it was received here.
  PublishedSegment segment_of(gex_Rank_t member) const noexcept {
    return published_segment(endpoint_address(client->index, endpoint_of(member)),
                             jobrank_of(member));
  }
  /// One for each member: GEX_TEAM_DISPLACEMENT_ of the team.
  const std::intptr_t* displacements() const noexcept {
    return reinterpret_cast<const std::intptr_t*>(this + 1);
  }
  /// One for each jobrank, that of its `primordial_rank_of`; "not mapped" for processes that have
  /// no endpoint in the team, unless its endpoints are all primordial.
  const std::intptr_t* displacements_by_jobrank();

  /// Both in one array of the caller's, as in GEX_DOMAIN_DISPLACEMENT_, which from now on follows
  /// published segments as the team's own do, until `drop_interleaved` or the end of the team.
  void keep_interleaved(std::intptr_t* pairs);
  static void drop_interleaved(const std::intptr_t* pairs) noexcept;
  /// How many pairs: members, or processes of the job.
  std::size_t interleaved_count() const noexcept { return std::max(size, gex_proc_.jobsize); }

  /// Follows published segments; see published.h. Under the lock of live teams.
  void refresh_displacements() noexcept;
  /// The arrays of `keep_interleaved`, once the displacements of all teams are right.
  void refresh_interleaved() noexcept;
  /// Nothing is mapped in any of the arrays; see published.h. Under the lock of live teams.
  void withdraw_displacements() noexcept;

 private:
  /// A displacement is there for each member, of which none is mapped.
  Team(gex_Client_t owner, gex_EP_t local_endpoint, TeamMembers members, gex_Rank_t own,
       gex_Flags_t creation_flags, TeamId identity);
  static void* operator new(std::size_t /*size*/, void* place) noexcept { return place; }
};
static_assert(sizeof(Team) == sizeof(TeamRecord) + sizeof(gex_TeamPrefix_),
              "the displacements follow the prefix");

/// A TM-pair taken apart.
struct Pair {
  gex_EP_Index_t local;
  gex_EP_Index_t remote;
  std::uint8_t client;
};
inline gex_TM_t make_pair_handle(const Pair& pair) noexcept {
  return reinterpret_cast<gex_TM_t>(std::uintptr_t{2} | std::uintptr_t{pair.client} << 8 |
                                    std::uintptr_t{pair.local} << 16 |
                                    std::uintptr_t{pair.remote} << 32);
}
inline Pair decode_pair(gex_TM_t tm) noexcept {
  const auto bits = reinterpret_cast<std::uintptr_t>(tm);
  return {static_cast<gex_EP_Index_t>(bits >> 16), static_cast<gex_EP_Index_t>(bits >> 32),
          static_cast<std::uint8_t>(bits >> 8)};
}

/// This is the process and endpoint that (tm, rank) names, for a team or a TM-pair.
struct Target {
  gex_EP_t local_endpoint;
  gex_Rank_t jobrank;
  gex_EP_Index_t endpoint;

  PublishedSegment segment() const noexcept {
    return published_segment(endpoint_address(local_endpoint->client->index, endpoint), jobrank);
  }
};
/// Ends the job: a call that is not checked has no team.
[[gnu::cold]] [[noreturn]] void refuse_no_team() noexcept;
/// The team of a handle that inline code may not look behind and that is no pair: one of checked
/// mode, or none.
inline const Team& team_out_of_line(gex_TM_t tm) noexcept {
  if (tm == GEX_TM_INVALID) [[unlikely]]
    refuse_no_team();
  return Team::from(tm);
}
inline Target resolve(gex_TM_t tm, gex_Rank_t rank) noexcept {
  const auto member = [rank](const Team& team) noexcept -> Target {
    return {team.endpoint, team.jobrank_of(rank), team.endpoint_of(rank)};
  };
  if (GEX_IS_READABLE_TEAM_(tm)) [[likely]]
    return member(*static_cast<const Team*>(GEX_TEAM_PREFIX_(tm)));
  if (GEX_IS_PAIR_(tm)) {
    const Pair pair = decode_pair(tm);
    return {find_endpoint(pair.client, pair.local), rank, pair.remote};
  }
  return member(team_out_of_line(tm));
}

/// Ends the job unless `tm` is a team or pair. Checked mode.
void require_team_or_pair(gex_TM_t tm, const char* call) noexcept;
/// Ends the job unless `tm` is a team or pair and `rank` is in its range. Checked mode.
void require_peer(gex_TM_t tm, gex_Rank_t rank, const char* call) noexcept;
/// Ends the job unless `tm` is a team (no pair). Checked mode and collectives.
Team& require_team(gex_TM_t tm, const char* call) noexcept;

}  // namespace gex
