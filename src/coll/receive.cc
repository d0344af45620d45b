#include "coll/receive.h"

#include "coll/team_collectives.h"
#include "coll/wire.h"

namespace gex::coll {

namespace {

void on_data(gex_Token_t token, void* payload, std::size_t size, const gex_AM_Arg_t* args,
             unsigned arg_count) noexcept {
  const DataMessage data = read_data(token, args, arg_count);
  collectives_of(data.to.team, data.to.member).with_messages([&](Messages& messages) {
    messages.data_arrived(data.flow.number, data.flow.source, data.flow.phase, data.offset,
                          static_cast<const std::byte*>(payload), size);
  });
}

void on_grant(gex_Token_t token, void*, std::size_t, const gex_AM_Arg_t* args,
              unsigned arg_count) noexcept {
  const GrantMessage grant = read_grant(token, args, arg_count);
  collectives_of(grant.to.team, grant.to.member).with_messages([&](Messages& messages) {
    messages.grant_arrived(grant.flow.number, grant.flow.source, grant.flow.phase, grant.granted);
  });
}

void on_credit(gex_Token_t token, void*, std::size_t, const gex_AM_Arg_t* args,
               unsigned arg_count) noexcept {
  const CreditMessage credit = read_credit(token, args, arg_count);
  // Nobody waits for the last credits of a team, which may have ended.
  with_collectives(credit.to.team, credit.to.member, [&](TeamCollectives& collectives) {
    collectives.with_messages(
        [&](Messages& messages) { messages.credit_arrived(credit.source, credit.count); });
  });
}

void on_announcement(gex_Token_t token, void*, std::size_t, const gex_AM_Arg_t* args,
                     unsigned arg_count) noexcept {
  const AnnouncementMessage made = read_announcement(token, args, arg_count);
  collectives_of(made.to.team, made.to.member).with_agreement([&](Agreement& agreement) {
    agreement.announced(made.number, made.source, made.announcement);
  });
}

void on_agreement(gex_Token_t token, void*, std::size_t, const gex_AM_Arg_t* args,
                  unsigned arg_count) noexcept {
  const AgreementMessage reached = read_agreement(token, args, arg_count);
  // One that a later one has overtaken is not waited for either.
  with_collectives(reached.to.team, reached.to.member, [&](TeamCollectives& collectives) {
    collectives.with_agreement([&](Agreement& agreement) { agreement.agreed(reached.below); });
  });
}

}  // namespace

void start_receiving() {
  register_handlers({.data = on_data,
                     .grant = on_grant,
                     .credit = on_credit,
                     .announcement = on_announcement,
                     .agreement = on_agreement});
}

}  // namespace gex::coll
