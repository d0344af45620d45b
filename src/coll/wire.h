#pragma once
// The messages of collective operations: their arguments, and how they are sent, which may find no
// room.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "am/internal.h"
#include "coll/announcement.h"
#include "coll/flow.h"
#include "core/team.h"

namespace gex::coll {

/// The value that a member is asked for first: the result, or its neighborhood's operand.
enum class Wanted : std::uint32_t { result, operand };

/// The largest piece of a block that one message carries.
std::size_t max_data_bytes(Team& team, gex_Rank_t to) noexcept;

// Each returns whether the message was sent; nothing waits, nothing polls.
bool send_data(Team& team, gex_Rank_t to, std::uint32_t number, Phase phase, std::uint64_t offset,
               const std::byte* payload, std::size_t bytes) noexcept;
bool send_grant(Team& team, gex_Rank_t to, std::uint32_t number, Phase phase,
                std::uint32_t granted) noexcept;
bool send_credit(Team& team, gex_Rank_t to, std::uint32_t count) noexcept;
/// Asks a member for a value of an operation.
bool send_question(Team& team, gex_Rank_t to, std::uint32_t number, Wanted wanted) noexcept;

/// To rank 0 of the team.
bool send_announcement(Team& team, std::uint32_t number, const Announcement& announcement) noexcept;
bool send_agreement(Team& team, gex_Rank_t to, std::uint32_t below) noexcept;

/// Counts of what this process has sent for collectives, but questions and answers.
struct MessageCounts {
  std::uint64_t messages;
  std::uint64_t bytes;  ///< of operands and results
};
MessageCounts message_counts() noexcept;

/// The member of a team that a message is for. All messages start with it.
struct Receiver {
  am::Wide team;
  gex_Rank_t member;
};

/// A FlowName in a message, unchecked; `source` is the sender's rank in the team.
struct FlowId {
  std::uint32_t number;
  gex_Rank_t source;
  std::uint32_t phase;
};

/// The flow that a message names; ends the job if its phase is invalid.
FlowName flow_of(gex_Token_t token, const FlowId& flow) noexcept;

extern am::Internal data_message;
extern am::Internal grant_message;
extern am::Internal credit_message;
extern am::Internal announcement_message;
extern am::Internal agreement_message;
extern am::Internal question_message;
extern am::Internal answer_message;

struct DataMessage {
  Receiver to;
  FlowId flow;
  am::Wide offset;  ///< of the payload in the flow's bytes
};

struct GrantMessage {
  Receiver to;
  FlowId flow;
  std::uint32_t granted;
};

struct CreditMessage {
  Receiver to;
  gex_Rank_t source;
  std::uint32_t count;
};

struct AnnouncementMessage {
  Receiver to;
  std::uint32_t number;
  gex_Rank_t source;
  std::uint32_t call;
  gex_Rank_t root;
  am::Wide bytes;
  am::Wide count;
  gex_DT_t type;
  gex_OP_t operation;
  gex_Flags_t flags;
};

/// Returns what it announces; ends the job if that is no call that a member can make.
Announcement announcement_of(gex_Token_t token, const AnnouncementMessage& message) noexcept;

/// `source`: the member that asks, or that answers; `value`: a Wanted.
struct QuestionMessage {
  Receiver to;
  std::uint32_t number;
  gex_Rank_t source;
  std::uint32_t value;
};
/// The payload is that value, which may be the other one than what was asked for; none: neither is
/// known.
using AnswerMessage = QuestionMessage;

struct AgreementMessage {
  Receiver to;
  std::uint32_t below;
};

}  // namespace gex::coll
