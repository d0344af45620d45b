#include "coll/wire.h"

#include "am/limits.h"
#include "am/outbound.h"
#include "am/token.h"
#include "base/error.h"

namespace gex::coll {

namespace {

using am::get_word;
using am::Internal;
using am::put_word;

// All messages start with the team's id (two arguments) and the receiver's rank in it.
constexpr unsigned team_args = 3;
// data: number, sender's rank, phase, offset
constexpr std::uint8_t data_args = team_args + 5;
// grant: number, sender's rank, phase, blocks
constexpr std::uint8_t grant_args = team_args + 4;
// credit: sender's rank, flows
constexpr std::uint8_t credit_args = team_args + 2;
// announce: number, sender's rank, call, root, bytes, count, type, operation, flags
constexpr std::uint8_t announce_args = team_args + 11;
// agreed: number
constexpr std::uint8_t agreed_args = team_args + 1;

constexpr std::size_t padded(std::size_t args) {
  return (args + 3) / 4 * 4;
}

gex_AM_Arg_t as_arg(std::uint32_t value) noexcept {
  return static_cast<gex_AM_Arg_t>(value);
}
std::uint32_t word(gex_AM_Arg_t arg) noexcept {
  return static_cast<std::uint32_t>(arg);
}

bool send(Team& team, gex_Rank_t to, Internal handler, gex_AM_Arg_t* args, std::uint8_t arg_count,
          const std::byte* bytes, std::size_t size) noexcept {
  put_word(args, team.id());
  args[2] = as_arg(to);
  am::Outbound message;
  message.handler = static_cast<std::uint8_t>(handler);
  message.arg_count = arg_count;
  message.args = args;
  message.endpoints = am::endpoints_of(team.endpoint, team.endpoint_of(to));
  if (size != 0) {
    message.category = Category::medium;
    message.payload = bytes;
    message.size = size;
  }
  return am::send_request(team.jobrank_of(to), message, true) == 0;
}

void require_args(gex_Token_t token, unsigned arg_count, unsigned expected) noexcept {
  if (arg_count != expected)
    fatal("rank %u: a collective message of %u arguments", token->header.source, arg_count);
}
Phase phase_of(gex_Token_t token, gex_AM_Arg_t arg) noexcept {
  if (word(arg) > static_cast<std::uint32_t>(Phase::result))
    fatal("rank %u: a collective message of phase %u", token->header.source, word(arg));
  return static_cast<Phase>(arg);
}

Receiver receiver_of(const gex_AM_Arg_t* args) noexcept {
  return {get_word(args), word(args[2])};
}
FlowId flow_of(gex_Token_t token, const gex_AM_Arg_t* args) noexcept {
  return {word(args[3]), word(args[4]), phase_of(token, args[5])};
}

}  // namespace

std::size_t most_bytes(Team& team, gex_Rank_t to) noexcept {
  return am::max_medium(team.jobrank_of(to));
}

bool send_data(Team& team, gex_Rank_t to, std::uint32_t number, Phase phase, std::uint64_t offset,
               const std::byte* bytes, std::size_t size) noexcept {
  alignas(16) gex_AM_Arg_t args[padded(data_args)] = {};
  args[3] = as_arg(number);
  args[4] = as_arg(team.rank);
  args[5] = as_arg(static_cast<std::uint32_t>(phase));
  put_word(args + 6, offset);
  return send(team, to, Internal::coll_data, args, data_args, bytes, size);
}

bool send_grant(Team& team, gex_Rank_t to, std::uint32_t number, Phase phase,
                std::uint32_t granted) noexcept {
  alignas(16) gex_AM_Arg_t args[padded(grant_args)] = {};
  args[3] = as_arg(number);
  args[4] = as_arg(team.rank);
  args[5] = as_arg(static_cast<std::uint32_t>(phase));
  args[6] = as_arg(granted);
  return send(team, to, Internal::coll_grant, args, grant_args, nullptr, 0);
}

bool send_credit(Team& team, gex_Rank_t to, std::uint32_t count) noexcept {
  alignas(16) gex_AM_Arg_t args[padded(credit_args)] = {};
  args[3] = as_arg(team.rank);
  args[4] = as_arg(count);
  return send(team, to, Internal::coll_credit, args, credit_args, nullptr, 0);
}

bool send_announcement(Team& team, std::uint32_t number,
                       const Announcement& announcement) noexcept {
  alignas(16) gex_AM_Arg_t args[padded(announce_args)] = {};
  args[3] = as_arg(number);
  args[4] = as_arg(team.rank);
  args[5] = as_arg(static_cast<std::uint32_t>(announcement.call));
  args[6] = as_arg(announcement.root);
  put_word(args + 7, announcement.bytes);
  put_word(args + 9, announcement.count);
  args[11] = as_arg(announcement.type);
  args[12] = as_arg(announcement.operation);
  args[13] = as_arg(announcement.flags);
  return send(team, 0, Internal::coll_announce, args, announce_args, nullptr, 0);
}

bool send_agreement(Team& team, gex_Rank_t to, std::uint32_t below) noexcept {
  alignas(16) gex_AM_Arg_t args[padded(agreed_args)] = {};
  args[3] = as_arg(below);
  return send(team, to, Internal::coll_agreed, args, agreed_args, nullptr, 0);
}

DataMessage read_data(gex_Token_t token, const gex_AM_Arg_t* args, unsigned arg_count) noexcept {
  require_args(token, arg_count, data_args);
  return {receiver_of(args), flow_of(token, args), get_word(args + 6)};
}

GrantMessage read_grant(gex_Token_t token, const gex_AM_Arg_t* args, unsigned arg_count) noexcept {
  require_args(token, arg_count, grant_args);
  return {receiver_of(args), flow_of(token, args), word(args[6])};
}

CreditMessage read_credit(gex_Token_t token, const gex_AM_Arg_t* args,
                          unsigned arg_count) noexcept {
  require_args(token, arg_count, credit_args);
  return {receiver_of(args), word(args[3]), word(args[4])};
}

AnnouncementMessage read_announcement(gex_Token_t token, const gex_AM_Arg_t* args,
                                      unsigned arg_count) noexcept {
  require_args(token, arg_count, announce_args);
  if (word(args[5]) >= static_cast<std::uint32_t>(Call::count))
    fatal("rank %u: an announcement of call %u", token->header.source, word(args[5]));
  return {receiver_of(args),
          word(args[3]),
          word(args[4]),
          {.call = static_cast<Call>(args[5]),
           .root = word(args[6]),
           .bytes = get_word(args + 7),
           .count = get_word(args + 9),
           .type = word(args[11]),
           .operation = word(args[12]),
           .flags = word(args[13])}};
}

AgreementMessage read_agreement(gex_Token_t token, const gex_AM_Arg_t* args,
                                unsigned arg_count) noexcept {
  require_args(token, arg_count, agreed_args);
  return {receiver_of(args), word(args[3])};
}

void register_handlers(const Handlers& handlers) noexcept {
  const auto request = [](Internal index, am::InternalHandler handler, unsigned least_args) {
    am::register_internal(index, handler, {.is_reply = false, .least_args = least_args});
  };
  request(Internal::coll_data, handlers.data, data_args);
  request(Internal::coll_grant, handlers.grant, grant_args);
  request(Internal::coll_credit, handlers.credit, credit_args);
  request(Internal::coll_announce, handlers.announcement, announce_args);
  request(Internal::coll_agreed, handlers.agreement, agreed_args);
}

}  // namespace gex::coll
