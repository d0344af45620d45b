#include "coll/receive.h"

#include <cstring>
#include <span>

#include "am/outbound.h"
#include "am/token.h"
#include "base/error.h"
#include "coll/known.h"
#include "coll/team_collectives.h"
#include "coll/wire.h"

namespace gex::coll {

namespace {

void on_data(gex_Token_t token, const DataMessage& data, void* payload, std::size_t size) noexcept {
  const FlowName flow = flow_of(token, data.flow);
  TeamCollectives& collectives = collectives_of(data.to.team, data.to.member);
  bool wants_polls = false;
  collectives.with_messages([&](Messages& messages) {
    messages.data_arrived(flow, data.offset, {static_cast<const std::byte*>(payload), size});
    wants_polls = messages.has_credits_to_send();
  });
  if (wants_polls) [[unlikely]]
    collectives.activate();
}

void on_grant(gex_Token_t token, const GrantMessage& grant, void*, std::size_t) noexcept {
  const FlowName flow = flow_of(token, grant.flow);
  collectives_of(grant.to.team, grant.to.member).with_messages([&](Messages& messages) {
    messages.grant_arrived(flow, grant.granted);
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

void on_question(gex_Token_t token, const QuestionMessage& question, void*, std::size_t) noexcept {
  std::byte bytes[max_known_bytes];
  std::size_t size = 0;
  Wanted value{question.value};
  with_collectives(question.to.team, question.to.member, [&](TeamCollectives& collectives) {
    collectives.with_known([&](const Known& known) {
      const std::span<const std::byte> result = known.results.of(question.number);
      std::span<const std::byte> known_value = known.operands.of(question.number);
      if (known_value.empty() || (value == Wanted::result && !result.empty())) {
        known_value = result;
        value = Wanted::result;
      } else {
        value = Wanted::operand;
      }
      size = known_value.size();
      if (size != 0) std::memcpy(bytes, known_value.data(), size);
    });
  });
  const am::Packed packed(AnswerMessage{.to = {question.to.team, question.source},
                                        .number = question.number,
                                        .source = question.to.member,
                                        .value = static_cast<std::uint32_t>(value)});
  am::Outbound answer = packed.message_for(answer_message);
  if (size != 0) {
    answer.what.set_category(Category::medium);
    answer.payload = bytes;
    answer.size = size;
  }
  am::reply_to(token, answer);
}

void on_answer(gex_Token_t token, const AnswerMessage& answer, void* payload,
               std::size_t size) noexcept {
  if (size > max_known_bytes)
    fatal("rank %u: a value of a collective has %zu bytes", token->header.source, size);
  with_collectives(answer.to.team, answer.to.member, [&](TeamCollectives& collectives) {
    collectives.answered(answer.number, answer.source, Wanted{answer.value},
                         {static_cast<const std::byte*>(payload), size});
  });
}

}  // namespace

void start_receiving() {
  am::register_request<on_data>(data_message);
  am::register_request<on_grant>(grant_message);
  am::register_request<on_credit>(credit_message);
  am::register_request<on_announcement>(announcement_message);
  am::register_request<on_agreement>(agreement_message);
  am::register_request<on_question>(question_message);
  am::register_reply<on_answer>(answer_message);
}

}  // namespace gex::coll
