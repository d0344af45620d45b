#pragma once
// The messages of collective operations: sent, which may find no room, and read on receipt.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "am/internal.h"
#include "coll/announcement.h"
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

/// To rank 0 of the team.
bool send_announcement(Team& team, std::uint32_t number, const Announcement& announcement) noexcept;
bool send_agreement(Team& team, gex_Rank_t to, std::uint32_t below) noexcept;

/// The member of a team that a message is for.
struct Receiver {
  TeamId team;
  gex_Rank_t member;
};

/// A flow (flow.h) of an operation; `source` is the sender's rank in the team.
struct FlowId {
  std::uint32_t number;
  gex_Rank_t source;
  Phase phase;
};

// Messages as received. Reading one that no member can have sent ends the job.
struct DataMessage {
  Receiver to;
  FlowId flow;
  std::uint64_t offset;  ///< of the payload in the block
};
DataMessage read_data(gex_Token_t token, const gex_AM_Arg_t* args, unsigned arg_count) noexcept;

struct GrantMessage {
  Receiver to;
  FlowId flow;
  std::uint32_t granted;
};
GrantMessage read_grant(gex_Token_t token, const gex_AM_Arg_t* args, unsigned arg_count) noexcept;

struct CreditMessage {
  Receiver to;
  gex_Rank_t source;
  std::uint32_t count;
};
CreditMessage read_credit(gex_Token_t token, const gex_AM_Arg_t* args, unsigned arg_count) noexcept;

struct AnnouncementMessage {
  Receiver to;
  std::uint32_t number;
  gex_Rank_t source;
  Announcement announcement;
};
AnnouncementMessage read_announcement(gex_Token_t token, const gex_AM_Arg_t* args,
                                      unsigned arg_count) noexcept;

struct AgreementMessage {
  Receiver to;
  std::uint32_t below;
};
AgreementMessage read_agreement(gex_Token_t token, const gex_AM_Arg_t* args,
                                unsigned arg_count) noexcept;

/// Registers the handlers of these messages; start-up only.
struct Handlers {
  am::InternalHandler data;
  am::InternalHandler grant;
  am::InternalHandler credit;
  am::InternalHandler announcement;
  am::InternalHandler agreement;
};
void register_handlers(const Handlers& handlers) noexcept;

}  // namespace gex::coll
