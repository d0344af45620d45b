#pragma once
// Atomic domains: a team, a data type and a set of operations.
//
// What carries a domain's operations out is chosen when it is made, for all of them and by all
// members alike: the network if it has every one on the type, the team reaches beyond one
// neighborhood, and the flags do not ask for fast operations near by; else the processors. The two
// are not coherent. Beyond that a domain has nothing but what it was made with, so a message about
// one need not name it, and may arrive where the domain does not exist yet.

#include <gasnet_ratomic.h>

#include "core/live_objects.h"
#include "core/team.h"

namespace gex::atomic {

class Domain : public gex_DomainPrefix_, public TaggedHandle<Domain, gex_DomainPrefix_, gex_AD_t> {
 public:
  Domain(Team& over, gex_DT_t type, gex_OP_t operation_set, gex_Flags_t creation_flags,
         bool for_network);
  ~Domain();
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  /// Inline code, which uses the processor, leaves a network's operations alone.
  gex_AD_t handle() noexcept { return TaggedHandle::handle(!for_network_); }

  bool is_for_network() const noexcept { return for_network_; }

 private:
  bool for_network_;
};

/// Makes this member's part of a domain, from arguments that the caller has checked and that are
/// those of all members. Waits for nobody: what carries the operations out follows from the
/// arguments, the neighborhoods and the network, which are the same everywhere.
gex_AD_t create(Team& team, gex_DT_t type, gex_OP_t operations, gex_Flags_t flags);

/// Ends the job unless `ad` is a domain: GEX_AD_INVALID always, one that was destroyed in checked
/// mode.
Domain& require_domain(gex_AD_t ad, const char* call) noexcept;

}  // namespace gex::atomic
