#include "coll/wire.h"

#include <atomic>

#include "am/limits.h"
#include "am/outbound.h"
#include "am/token.h"
#include "base/error.h"

namespace gex::coll {

constinit am::Internal data_message{"data of a collective"};
constinit am::Internal grant_message{"room for a collective"};
constinit am::Internal credit_message{"credit of a collective"};
constinit am::Internal announcement_message{"announcement of a collective"};
constinit am::Internal agreement_message{"agreement on a collective"};
constinit am::Internal question_message{"question for a collective's value"};
constinit am::Internal answer_message{"collective's value that was asked for"};

namespace {

// Relaxed: counts, which order nothing.
std::atomic<std::uint64_t> messages_sent{0};
std::atomic<std::uint64_t> bytes_sent{0};

template <am::Fields T>
bool send_uncounted(Team& team, const am::Internal& kind, const T& fields,
                    const std::byte* payload = nullptr, std::size_t bytes = 0) noexcept {
  const gex_Rank_t to = fields.to.member;
  const am::Packed packed(fields);
  am::Outbound message = packed.message_for(kind);
  message.what.set_endpoints(am::endpoints_of(team.endpoint, team.endpoint_of(to)));
  if (bytes != 0) {
    message.what.set_category(Category::medium);
    message.payload = payload;
    message.size = bytes;
  }
  return am::send_request(team.jobrank_of(to), message, true) == 0;
}

template <am::Fields T>
bool send(Team& team, const am::Internal& kind, const T& fields, const std::byte* payload = nullptr,
          std::size_t bytes = 0) noexcept {
  if (!send_uncounted(team, kind, fields, payload, bytes)) return false;
  messages_sent.fetch_add(1, std::memory_order_relaxed);
  bytes_sent.fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

Receiver receiver(const Team& team, gex_Rank_t to) noexcept {
  return {team.id(), to};
}
FlowId flow_from(const Team& team, std::uint32_t number, Phase phase) noexcept {
  return {number, team.rank, static_cast<std::uint32_t>(phase)};
}

}  // namespace

MessageCounts message_counts() noexcept {
  return {messages_sent.load(std::memory_order_relaxed),
          bytes_sent.load(std::memory_order_relaxed)};
}

std::size_t max_data_bytes(Team& team, gex_Rank_t to) noexcept {
  return am::max_medium(team.jobrank_of(to));
}

bool send_data(Team& team, gex_Rank_t to, std::uint32_t number, Phase phase, std::uint64_t offset,
               const std::byte* payload, std::size_t bytes) noexcept {
  return send(team, data_message,
              DataMessage{receiver(team, to), flow_from(team, number, phase), offset}, payload,
              bytes);
}

bool send_grant(Team& team, gex_Rank_t to, std::uint32_t number, Phase phase,
                std::uint32_t granted) noexcept {
  return send(team, grant_message,
              GrantMessage{receiver(team, to), flow_from(team, number, phase), granted});
}

bool send_credit(Team& team, gex_Rank_t to, std::uint32_t count) noexcept {
  return send(team, credit_message, CreditMessage{receiver(team, to), team.rank, count});
}

bool send_question(Team& team, gex_Rank_t to, std::uint32_t number, Wanted wanted) noexcept {
  return send_uncounted(
      team, question_message,
      QuestionMessage{receiver(team, to), number, team.rank, static_cast<std::uint32_t>(wanted)});
}

bool send_announcement(Team& team, std::uint32_t number,
                       const Announcement& announcement) noexcept {
  return send(team, announcement_message,
              AnnouncementMessage{.to = receiver(team, 0),
                                  .number = number,
                                  .source = team.rank,
                                  .call = static_cast<std::uint32_t>(announcement.call),
                                  .root = announcement.root,
                                  .bytes = announcement.bytes,
                                  .count = announcement.count,
                                  .type = announcement.type,
                                  .operation = announcement.operation,
                                  .flags = announcement.flags});
}

bool send_agreement(Team& team, gex_Rank_t to, std::uint32_t below) noexcept {
  return send(team, agreement_message, AgreementMessage{receiver(team, to), below});
}

FlowName flow_of(gex_Token_t token, const FlowId& flow) noexcept {
  if (flow.phase > static_cast<std::uint32_t>(Phase::result))
    fatal("rank %u: a collective message of phase %u", token->header.source, flow.phase);
  return {flow.number, flow.source, static_cast<Phase>(flow.phase)};
}

Announcement announcement_of(gex_Token_t token, const AnnouncementMessage& message) noexcept {
  if (message.call >= static_cast<std::uint32_t>(Call::count))
    fatal("rank %u: an announcement of call %u", token->header.source, message.call);
  return {.call = static_cast<Call>(message.call),
          .root = message.root,
          .bytes = message.bytes,
          .count = message.count,
          .type = message.type,
          .operation = message.operation,
          .flags = message.flags};
}

}  // namespace gex::coll
