#pragma once
// Broadcast, reductions, and the data movement of the GASNet-1 collectives, over any team.
//
// Members that share memory and have a slot of it post values there (shared.h); everything else
// goes by messages (messages.h): between neighborhoods those of their leaders (by_leaders.h), where
// every member has blocks for all others in rounds (by_doubling.h). Which way depends on the team
// and on arguments that are the same at all members, and so does the order in which operands are
// combined: results are the same whenever the call is repeated.

#include <gasnetex.h>

#include "coll/agreement.h"
#include "coll/collective.h"
#include "core/team.h"

namespace gex::coll {

/// Starts an operation whose arguments are checked; never waits. Collective; one thread at a time
/// starts collectives on a team.
gex_Event_t start(Team& team, const Request& request, const Announcement& announcement) noexcept;

/// Checked mode: another collective call of the team's, of which nothing else is done here.
void announce(Team& team, const Announcement& announcement) noexcept;

/// Events of this process's calls on the team that were not synchronised; barriers apart.
std::size_t unsynchronised_events(Team& team) noexcept;

/// Start-up only.
void start();

}  // namespace gex::coll
