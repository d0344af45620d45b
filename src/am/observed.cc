#include "am/observed.h"

#include "am/arrived.h"
#include "am/handlers.h"
#include "am/internal.h"
#include "am/rings.h"
#include "core/process.h"
#include "core/thread.h"
#include "observe/trace.h"

namespace gex::am {

namespace {

/// Other processes read it; the calling thread alone writes.
void count(std::atomic<std::uint64_t>& handlers) noexcept {
  handlers.store(handlers.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

trace::Message message_of(const MessageHeader& header, gex_Rank_t peer, std::size_t size,
                          std::uint64_t number, unsigned how) noexcept {
  unsigned detail = static_cast<unsigned>(header.category()) | how;
  if (header.is_reply()) detail |= trace::is_reply;
  const unsigned endpoint = header.endpoints().target_address();
  return {number, peer, size, trace::handler_number(header.handler(), endpoint),
          static_cast<std::uint8_t>(detail)};
}

trace::Message arrived(const _gex_Token& token, std::size_t size, std::uint32_t number) noexcept {
  const MessageHeader& header = token.header;
  unsigned how = 0;
  std::uint64_t id = number;
  if (number == not_counted)
    how = trace::in_another;
  else if (header.source == gex_proc_.jobrank)
    how = trace::to_itself;
  else if (token.ring == nullptr)
    how = trace::by_network;
  else if (!process().neighborhood.has_pair_rings())
    how = trace::by_shared_ring;
  else
    id = number_in_lane(token.ring->lane, number);
  return message_of(header, header.source, size, id, how);
}

}  // namespace

void enter_handler(const _gex_Token& token, std::size_t size, std::uint32_t number) noexcept {
  if (checked()) ++this_thread().handler_depth;
  if (progress_watched()) count(this_thread().status.handlers_begun);
  if (traced()) trace::handler_begin(arrived(token, size, number));
}

void put_off_handler() noexcept {
  if (checked()) --this_thread().handler_depth;
  if (progress_watched()) count(this_thread().status.handlers_ended);
  if (traced()) trace::handler_put_off();
}

void leave_handler(const _gex_Token& token, std::size_t size, std::uint32_t number) noexcept {
  if (traced()) trace::handler_end(arrived(token, size, number));
  if (progress_watched()) count(this_thread().status.handlers_ended);
  if (!checked()) return;
  ThreadRecord& thread = this_thread();
  --thread.handler_depth;
  check_return(token, thread);
}

void record_sent(gex_Rank_t jobrank, const Outbound& message, std::uint64_t number,
                 std::uint8_t how, Tick at) noexcept {
  const MessageHeader header{message.what, gex_proc_.jobrank, 0};
  trace::message_sent(message_of(header, jobrank, message.size, number, how), at);
}

}  // namespace gex::am
