#include "coll/receive.h"

#include "coll/team_collectives.h"
#include "coll/wire.h"

namespace gex::coll {

namespace {

void on_data(gex_Token_t token, const DataMessage& data, void* payload, std::size_t size) noexcept {
  const Phase phase = phase_of(token, data.flow);
  collectives_of(data.to.team, data.to.member).with_messages([&](Messages& messages) {
    messages.data_arrived(data.flow.number, data.flow.source, phase, data.offset,
                          static_cast<const std::byte*>(payload), size);
  });
}

void on_grant(gex_Token_t token, const GrantMessage& grant, void*, std::size_t) noexcept {
  const Phase phase = phase_of(token, grant.flow);
  collectives_of(grant.to.team, grant.to.member).with_messages([&](Messages& messages) {
    messages.grant_arrived(grant.flow.number, grant.flow.source, phase, grant.granted);
  });
}

void on_credit(gex_Token_t, const CreditMessage& credit, void*, std::size_t) noexcept {
  // No member waits for the last credits of a team, which may have ended.
  with_collectives(credit.to.team, credit.to.member, [&](TeamCollectives& collectives) {
    collectives.with_messages(
        [&](Messages& messages) { messages.credit_arrived(credit.source, credit.count); });
  });
}

void on_announcement(gex_Token_t token, const AnnouncementMessage& message, void*,
                     std::size_t) noexcept {
  const Announcement announcement = announcement_of(token, message);
  collectives_of(message.to.team, message.to.member).with_agreement([&](Agreement& agreement) {
    agreement.announced(message.number, message.source, announcement);
  });
}

void on_agreement(gex_Token_t, const AgreementMessage& reached, void*, std::size_t) noexcept {
  // One that a later one has overtaken is not waited for either.
  with_collectives(reached.to.team, reached.to.member, [&](TeamCollectives& collectives) {
    collectives.with_agreement([&](Agreement& agreement) { agreement.agreed(reached.below); });
  });
}

}  // namespace

void start_receiving() {
  am::register_request<on_data>(data_message);
  am::register_request<on_grant>(grant_message);
  am::register_request<on_credit>(credit_message);
  am::register_request<on_announcement>(announcement_message);
  am::register_request<on_agreement>(agreement_message);
}

}  // namespace gex::coll
