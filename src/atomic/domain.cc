#include "atomic/domain.h"

#include <cstring>
#include <span>

#include "atomic/native.h"
#include "base/error.h"
#include "base/immortal.h"
#include "team/exchange.h"

namespace gex::atomic {

namespace {

Immortal<LiveObjects<Domain>> the_live_domains{"domain"};
LiveObjects<Domain>& live_domains() noexcept {
  return the_live_domains.get();
}

/// The arguments that must be the same everywhere.
struct Arguments {
  gex_DT_t type;
  gex_OP_t operations;
  gex_Flags_t flags;
};

void require_same(const char* what, std::uint32_t mine, std::uint32_t theirs, gex_Rank_t rank) {
  if (mine != theirs)
    fatal("gex_AD_Create: %s differ: 0x%x here, 0x%x in rank %u of the team", what, mine, theirs,
          rank);
}

bool is_one_neighborhood(const Team& team) {
  for (gex_Rank_t rank = 0; rank < team.size; ++rank)
    if (!process().neighborhood.contains(team.jobrank_of(rank))) return false;
  return true;
}

/// Who is to carry the operations out: see domain.h.
bool is_best_by_network(const Team& team, const Arguments& arguments) {
  return (arguments.flags & (GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_MY_NBRHD)) == 0 &&
         !is_one_neighborhood(team) && network_has(arguments.type, arguments.operations);
}

/// Who is reached how: see atomic.h.
void tell_ways(const Team& team, const Arguments& arguments, bool by_network) {
  if (by_network) {
    inform(
        "gex_AD_Create: type 0x%x, operations 0x%x: the atomics of network %s for all %u members",
        arguments.type, arguments.operations, process().conduit_name.c_str(), team.size);
    return;
  }
  gex_Rank_t mapped = 0;
  for (gex_Rank_t rank = 0; rank < team.size; ++rank)
    mapped += team.segment_of(rank).mapped != nullptr ? 1 : 0;
  inform(
      "gex_AD_Create: type 0x%x, operations 0x%x: the processor's atomics for %u of %u members, "
      "messages to the owner, who uses them, for the others",
      arguments.type, arguments.operations, mapped, team.size);
}

}  // namespace

Domain::Domain(Team& over, gex_DT_t type, gex_OP_t operation_set, gex_Flags_t creation_flags,
               bool for_network)
    : gex_DomainPrefix_{}, for_network_(for_network) {
  // For inline code, which leaves a network's operations alone.
  if (!for_network) {
    displacement[0] = over.displacements();
    displacement[1] = over.displacements_by_jobrank();
  }
  team = over.handle();
  data_type = type;
  operations = operation_set;
  flags = creation_flags;
  live_domains().add(*this);
}

Domain::~Domain() {
  live_domains().remove(*this);
}

gex_AD_t create(Team& team, gex_DT_t type, gex_OP_t operations, gex_Flags_t flags) {
  const Arguments mine{type, operations, flags};
  const auto blocks = team::exchange(team, std::as_bytes(std::span(&mine, 1)));
  for (gex_Rank_t rank = 0; rank < team.size; ++rank) {
    Arguments theirs;
    if (blocks[rank].size() != sizeof theirs)
      fatal("gex_AD_Create: rank %u of the team is in another collective call", rank);
    std::memcpy(&theirs, blocks[rank].data(), sizeof theirs);
    require_same("the data types", type, theirs.type, rank);
    require_same("the operations", operations, theirs.operations, rank);
    require_same("the flags", flags, theirs.flags, rank);
  }
  const bool by_network = is_best_by_network(team, mine);
  if (team.rank == 0) tell_ways(team, mine, by_network);
  return (new Domain(team, type, operations, flags, by_network))->handle();
}

Domain& require_domain(gex_AD_t ad, const char* call) noexcept {
  if (ad == GEX_AD_INVALID) fatal("%s: the domain is GEX_AD_INVALID", call);
  Domain& domain = Domain::from(ad);
  live_domains().require(domain, ad, call);
  return domain;
}

}  // namespace gex::atomic
