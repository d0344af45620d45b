#include "atomic/domain.h"

#include "atomic/native.h"
#include "base/error.h"
#include "base/immortal.h"

namespace gex::atomic {

namespace {

Immortal<LiveObjects<Domain>> the_live_domains{"domain"};
LiveObjects<Domain>& live_domains() noexcept {
  return the_live_domains.get();
}

bool is_one_neighborhood(const Team& team) {
  for (gex_Rank_t rank = 0; rank < team.size; ++rank)
    if (!process().neighborhood.contains(team.jobrank_of(rank))) return false;
  return true;
}

/// Returns true if the network is to perform the operations, rather than the processors: see
/// domain.h.
bool is_best_by_network(bool one_neighborhood, gex_DT_t type, gex_OP_t operations,
                        gex_Flags_t flags) {
  return (flags & (GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_MY_NBRHD)) == 0 &&
         !one_neighborhood && network_has(type, operations);
}

/// Reports which members are reached by the processor, by the network or by messages: see atomic.h.
void report_routes(const Team& team, gex_DT_t type, gex_OP_t operations, bool by_network) {
  if (by_network) {
    inform(
        "gex_AD_Create: type 0x%x, operations 0x%x: the atomics of network %s for all %u members",
        type, operations, process().conduit_name.c_str(), team.size);
    return;
  }
  gex_Rank_t mapped = 0;
  for (gex_Rank_t rank = 0; rank < team.size; ++rank)
    mapped += team.segment_of(rank).mapped != nullptr ? 1 : 0;
  inform(
      "gex_AD_Create: type 0x%x, operations 0x%x: the processor's atomics for %u of %u members, "
      "messages to the owning rank for the others",
      type, operations, mapped, team.size);
}

}  // namespace

Domain* Domain::create(Team& over, gex_DT_t type, gex_OP_t operation_set,
                       gex_Flags_t creation_flags, bool for_network, bool one_neighborhood) {
  const std::size_t count = for_network ? 0 : 2 * over.interleaved_count();
  return new (count)
      Domain(over, type, operation_set, creation_flags, for_network, one_neighborhood);
}

void* Domain::operator new(std::size_t size, std::size_t displacement_count) {
  return ::operator new (size + displacement_count * sizeof(std::intptr_t),
                         std::align_val_t{alignof(Domain)});
}

void Domain::operator delete(void* domain) noexcept {
  ::operator delete (domain, std::align_val_t{alignof(Domain)});
}

Domain::Domain(Team& over, gex_DT_t type, gex_OP_t operation_set, gex_Flags_t creation_flags,
               bool for_network, bool one_neighborhood)
    : DomainRecord(for_network, one_neighborhood), DomainPrefix{} {
  // For inline code, which leaves a network's operations alone.
  if (!for_network) {
    displacement[0] = over.displacements();
    displacement[1] = over.displacements_by_jobrank();
    over.keep_interleaved(displacements());
  }
  team = over.handle();
  data_type = type;
  operations = operation_set;
  flags = creation_flags;
  live_domains().add(*this);
}

Domain::~Domain() {
  live_domains().remove(*this);
  // By the array alone: the team may have ended before.
  if (!for_network_) Team::drop_interleaved(displacements());
}

gex_AD_t create(Team& team, gex_DT_t type, gex_OP_t operations, gex_Flags_t flags) {
  const bool one_neighborhood = is_one_neighborhood(team);
  const bool by_network = is_best_by_network(one_neighborhood, type, operations, flags);
  if (team.rank == 0) report_routes(team, type, operations, by_network);
  return Domain::create(team, type, operations, flags, by_network, one_neighborhood)->handle();
}

Domain& require_domain(gex_AD_t ad, const char* call) noexcept {
  if (ad == GEX_AD_INVALID) fatal("%s: the domain is GEX_AD_INVALID", call);
  Domain& domain = Domain::from(ad);
  live_domains().require(domain, ad, call);
  return domain;
}

}  // namespace gex::atomic
