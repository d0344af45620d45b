#pragma once
// Atomic domains: a team, a data type and a set of operations.
//
// What performs a domain's operations is chosen when it is created, for all of them and by all
// members alike: the network if it has every one on the type, the team reaches beyond one
// neighborhood, and the flags do not ask for fast operations near by; else the processors. The two
// are not coherent. Beyond that a domain has nothing but what it was created with, so a message
// about one need not name it, and may arrive where the domain does not exist yet.

#include <gasnet_ratomic.h>

#include "core/live_objects.h"
#include "core/team.h"

namespace gex::atomic {

/// The library alone reads this part of a domain. It lies before what clients read, behind which,
/// at a fixed distance, the displacements lie.
class alignas(64) DomainRecord {
 public:
  bool is_for_network() const noexcept { return for_network_; }

 protected:
  DomainRecord(bool for_network, bool one_neighborhood) noexcept
      : for_network_(for_network), one_neighborhood_(one_neighborhood) {}

  const bool for_network_;
  const bool one_neighborhood_;  ///< of all members
};

/// Clients read this part, in a cache line of its own.
struct alignas(64) DomainPrefix : gex_DomainPrefix_ {};

class Domain : public DomainRecord,
               public DomainPrefix,
               public TaggedHandle<Domain, gex_DomainPrefix_, gex_AD_t> {
 public:
  static Domain* create(Team& over, gex_DT_t type, gex_OP_t operation_set,
                        gex_Flags_t creation_flags, bool for_network, bool one_neighborhood);
  ~Domain();
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;
  static void operator delete(void* domain) noexcept;

  /// Inline code, which uses the processor, is kept away from a network's operations, and from a
  /// domain in which messages bring those of other members: inline there is no poll.
  gex_AD_t handle() noexcept { return TaggedHandle::handle(!for_network_ && one_neighborhood_); }

 private:
  Domain(Team& over, gex_DT_t type, gex_OP_t operation_set, gex_Flags_t creation_flags,
         bool for_network, bool one_neighborhood);
  static void* operator new(std::size_t size, std::size_t displacement_count);

  /// GEX_DOMAIN_DISPLACEMENT_ of the domain.
  std::intptr_t* displacements() noexcept { return reinterpret_cast<std::intptr_t*>(this + 1); }
};
static_assert(sizeof(Domain) == sizeof(DomainRecord) + sizeof(gex_DomainPrefix_),
              "the displacements follow the prefix");

/// Makes this member's part of a domain, from arguments that the caller has validated and that are
/// those of all members. Waits for no other member: what performs the operations follows from the
/// arguments, the neighborhoods and the network, which are the same on all ranks.
gex_AD_t create(Team& team, gex_DT_t type, gex_OP_t operations, gex_Flags_t flags);

/// Ends the job unless `ad` is a domain: GEX_AD_INVALID always, one that was destroyed in checked
/// mode.
Domain& require_domain(gex_AD_t ad, const char* call) noexcept;

}  // namespace gex::atomic
