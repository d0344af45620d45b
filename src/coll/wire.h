#pragma once
// The messages of collective operations: what they say, and that they may find no room.

#include <cstddef>
#include <cstdint>

#include "coll/flow.h"
#include "core/team.h"

namespace gex::coll {

/// The largest piece of a block that one message carries.
std::size_t most_bytes(Team& team, gex_Rank_t to) noexcept;

// Each returns whether the message was sent; nothing waits, nothing polls.
bool send_data(Team& team, gex_Rank_t to, std::uint32_t number, Phase phase, std::uint64_t offset,
               const std::byte* bytes, std::size_t size) noexcept;
bool send_grant(Team& team, gex_Rank_t to, std::uint32_t number, Phase phase,
                std::uint32_t granted) noexcept;
bool send_credit(Team& team, gex_Rank_t to, std::uint32_t count) noexcept;

struct Announcement;
/// To rank 0 of the team.
bool send_announcement(Team& team, std::uint32_t number, const Announcement& announcement) noexcept;
bool send_agreement(Team& team, gex_Rank_t to, std::uint32_t below) noexcept;

void start_wire();

}  // namespace gex::coll
