#pragma once
// Atomic domains: a team, a data type and a set of operations.
//
// A domain has nothing but what it was made with: the way to a target (atomic.h) depends on where
// the target's segment is mapped and on nothing else, so every domain takes the same ways, and a
// message about one need not name it.

#include <gasnet_ratomic.h>

#include "core/live_objects.h"
#include "core/team.h"

namespace gex::atomic {

class Domain : public gex_DomainPrefix_, public TaggedHandle<Domain, gex_DomainPrefix_, gex_AD_t> {
 public:
  Domain(Team& over, gex_DT_t type, gex_OP_t operation_set, gex_Flags_t creation_flags);
  ~Domain();
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;
};

/// Collective over the team; ends the job if its members differ about the arguments, which the
/// caller has checked.
gex_AD_t create(Team& team, gex_DT_t type, gex_OP_t operations, gex_Flags_t flags);

/// Ends the job unless `ad` is a domain: GEX_AD_INVALID always, one that was destroyed in checked
/// mode.
Domain& require_domain(gex_AD_t ad, const char* call) noexcept;

}  // namespace gex::atomic
