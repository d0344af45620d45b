#pragma once
// Exchange: every member of a team gives a block, every member gets all of them in rank order.
//
// The exchanges that team creation and publication stand on. Blocks go up a tree (exchange_tree.h),
// whose inner members pass on what their subtrees have given, and the whole comes down it; blocks
// may differ in size by rank. So no member sends the whole more often than it has children. Blocks
// are sent packed (blocks.h), and what all members agree on takes next to nothing.

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/team.h"
#include "team/blocks.h"

namespace gex::team {

/// Collective over `team`, from client context; also a barrier.
Blocks exchange(Team& team, std::span<const std::byte> mine);

/// An exchange in which one thread acts for all local members of a team, of which there is at least
/// one: each gives `mine`.
Blocks exchange(std::span<Team* const> local_members, std::span<const std::byte> mine);

/// Counts of what this process has sent in exchanges.
struct ExchangeCounts {
  std::uint64_t exchanges;  ///< begun, of each local member
  std::uint64_t messages;
  std::uint64_t bytes;  ///< payload of these
};
ExchangeCounts exchange_counts() noexcept;

/// Start-up only.
void start_exchange();

}  // namespace gex::team
