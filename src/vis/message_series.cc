#include "vis/message_series.h"

#include <cstring>
#include <utility>
#include <vector>

#include "am/copy.h"
#include "am/deferred_send.h"
#include "am/outbound.h"
#include "am/prepare.h"
#include "core/progress.h"
#include "core/team.h"
#include "core/thread.h"

namespace gex::vis {

namespace {

am::Outbound medium(std::uint8_t handler, std::size_t bytes, unsigned arg_count,
                    const gex_AM_Arg_t* args) noexcept {
  am::Outbound message;
  message.what = MessageWhat::make(handler, Category::medium, false, arg_count, {});
  message.args = args;
  message.size = bytes;
  return message;
}

}  // namespace

struct MessageSeries::DeferredMessages final : am::DeferredSend {
  struct Message {
    std::unique_ptr<std::byte[]> payload;
    std::unique_ptr<rma::StagingBuffer> staged;  ///< instead of `payload`
    CompletionTarget local_done = nullptr;       ///< of `staged`
    std::size_t bytes = 0;
    alignas(16) gex_AM_Arg_t args[max_args] = {};
  };
  gex_Rank_t jobrank = 0;
  Endpoints endpoints{};
  std::uint8_t handler = 0;
  unsigned arg_count = 0;
  std::vector<Message> messages;
  std::size_t sent = 0;

  bool advance() noexcept override {
    for (; sent < messages.size(); ++sent) {
      Message& next = messages[sent];
      if (next.staged != nullptr) {
        if (!next.staged->is_copied()) return false;
        if (next.local_done != nullptr) complete(std::exchange(next.local_done, nullptr));
      }
      am::Outbound message = medium(handler, next.bytes, arg_count, next.args);
      message.what.set_endpoints(endpoints);
      message.payload = next.staged != nullptr ? next.staged->bytes() : next.payload.get();
      if (am::send_request(jobrank, message, /*immediate=*/true) != 0) return false;
      next.payload.reset();
      next.staged.reset();
    }
    return true;
  }
};

MessageSeries::MessageSeries(const NoncontiguousTransfer& transfer, const am::Internal& internal,
                             unsigned arg_count) noexcept
    : transfer_(transfer),
      route_(am::route_to(transfer.resolved.peer.jobrank)),
      flags_(transfer.immediate ? GEX_FLAG_IMMEDIATE : gex_Flags_t{0}),
      internal_(internal),
      arg_count_(arg_count) {
}

MessageSeries::~MessageSeries() {
  if (deferred_ != nullptr) am::defer(std::move(deferred_));
}

MessageSeries::DeferredMessages& MessageSeries::deferred() noexcept {
  if (deferred_ == nullptr) {
    deferred_ = std::make_unique<DeferredMessages>();
    deferred_->jobrank = transfer_.resolved.peer.jobrank;
    deferred_->endpoints = am::endpoints_of(transfer_.resolved.peer);
    deferred_->handler = internal_.handler();
    deferred_->arg_count = arg_count_;
  }
  return *deferred_;
}

rma::StagingBuffer& MessageSeries::begin_staged(const MemoryKind& kind) noexcept {
  DeferredMessages& all = deferred();
  if (!transfer_.immediate && all.messages.size() - all.sent >= rma::max_staged_ahead) {
    wait_until([&]() noexcept { return transfer_.op(); },
               [&]() noexcept {
                 all.advance();
                 return all.messages.size() - all.sent < rma::max_staged_ahead;
               },
               WaitCause::room);
  }
  DeferredMessages::Message& message = all.messages.emplace_back();
  message.staged = rma::StagingBuffer::of(kind, /*may_refuse=*/false);
  return *message.staged;
}

void MessageSeries::queue_staged(std::size_t bytes, const gex_AM_Arg_t* args,
                                 CompletionTarget local_done) noexcept {
  DeferredMessages::Message& message = deferred_->messages.back();
  message.bytes = bytes;
  message.local_done = local_done;
  am::copy_chunks(message.args, args, arg_count_ * sizeof *args);
}

std::byte* MessageSeries::begin_deferred(std::size_t max_bytes) noexcept {
  DeferredMessages::Message& message = deferred().messages.emplace_back();
  message.payload = std::make_unique<std::byte[]>(max_bytes);
  return message.payload.get();
}

std::byte* MessageSeries::begin(std::size_t max_bytes) noexcept {
  if (deferred_ != nullptr) return begin_deferred(max_bytes);
  message_ = am::prepare_request(route_, am::endpoints_of(transfer_.resolved.peer),
                                 {.client_buffer = nullptr,
                                  .most_payload = max_bytes,
                                  .destination = nullptr,
                                  .is_long = false,
                                  .flags = flags_,
                                  .arg_count = arg_count_});
  if (message_ != GEX_AM_SRCDESC_NO_OP) return static_cast<std::byte*>(message_->address);
  return is_first_ ? nullptr : begin_deferred(max_bytes);
}

bool MessageSeries::send(std::size_t bytes, const gex_AM_Arg_t* args) noexcept {
  if (deferred_ == nullptr) {
    am::Outbound outbound = medium(internal_.handler(), bytes, arg_count_, args);
    if (am::commit(message_, outbound, flags_) == 0) {
      is_first_ = false;
      return true;
    }
    if (!is_first_) std::memcpy(begin_deferred(bytes), message_->address, bytes);
    am::cancel(message_);
    if (is_first_) return false;
  }
  DeferredMessages::Message& message = deferred_->messages.back();
  message.bytes = bytes;
  am::copy_chunks(message.args, args, arg_count_ * sizeof *args);
  return true;
}

}  // namespace gex::vis
