#pragma once
// Exchange: every member of a team gives a block, every member gets all of them in rank order.
//
// The exchanges that team creation and publication stand on. Blocks go to the team's rank 0 in
// messages, and the whole comes back from there; blocks may differ in size by rank. Set-up only:
// its cost is linear in the team, with no care for latency.

#include <cstddef>
#include <span>
#include <vector>

#include "core/team.h"

namespace gex::team {

/// Each rank of a team gave one of these.
using Blocks = std::vector<std::vector<std::byte>>;

/// Collective over `team`, from client context; also a barrier.
Blocks exchange(Team& team, std::span<const std::byte> mine);

/// An exchange in which one thread acts for all local members of a team, of which there is at least
/// one: each gives `mine`.
Blocks exchange(std::span<Team* const> local_members, std::span<const std::byte> mine);

/// Start-up only.
void start_exchange();

}  // namespace gex::team
