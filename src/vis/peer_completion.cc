#include "vis/peer_completion.h"

#include <atomic>
#include <cstring>
#include <map>
#include <utility>

#include "am/deliver.h"
#include "am/internal.h"
#include "am/outbound.h"
#include "am/token.h"
#include "base/error.h"
#include "base/immortal.h"
#include "base/spin_lock.h"
#include "core/process.h"
#include "core/team.h"

namespace gex::vis {

namespace {

constinit am::Internal notice_message{"notice of a non-contiguous put",
                                      am::Internal::runs_client_code};

using CompletionSlot = Slot<ThreadRecord, ThreadSlot::peer_completion, PeerCompletion>;

/// A record that another thread takes over is not armed.
void disarm(ThreadRecord& thread) noexcept {
  if (PeerCompletion* const armed = CompletionSlot::of(thread)) *armed = {};
}

/// Bytes that have arrived of incomplete puts, by source and number.
struct Arrivals {
  SpinLock lock;
  std::map<std::pair<gex_Rank_t, std::uint64_t>, std::uint64_t> bytes;
};
Immortal<Arrivals> the_arrivals;

/// Runs the client's handler as if the notice had been a reply of its own.
void run(gex_Token_t token, std::uint8_t handler, const void* payload, std::size_t size) noexcept {
  const gex_Rank_t source = token->header.source;
  if (handler < GEX_AM_INDEX_BASE)
    fatal("rank %u: a peer completion names the handler index %u", source, unsigned{handler});
  if (size > max_notice_payload) fatal("rank %u: a peer completion of %zu bytes", source, size);
  alignas(16) std::byte aligned[max_notice_payload + 1];
  if (size != 0) std::memcpy(aligned, payload, size);
  am::Arrived arrived;
  arrived.header = {
      MessageWhat::make(handler, Category::medium, true, 0, token->header.endpoints()), source,
      MessageHeader::make_size_and_slab(static_cast<std::uint32_t>(size), no_slab)};
  arrived.args = nullptr;
  arrived.payload = aligned;
  arrived.size = size;
  arrived.ring = token->ring;
  am::run_handler<am::Sender::any>(arrived, am::not_counted);
}

struct Notice {
  std::uint32_t handler;
};

void on_notice(gex_Token_t token, const Notice& notice, void* payload, std::size_t size) noexcept {
  run(token, static_cast<std::uint8_t>(notice.handler), payload, size);
}

}  // namespace

void arm(gex_AM_Index_t handler, const void* payload, std::size_t size) noexcept {
  ThreadRecord& thread = this_thread();
  if (CompletionSlot::of(thread) == nullptr) CompletionSlot::set(thread, new PeerCompletion);
  *CompletionSlot::of(thread) = {handler, payload, size};
}

PeerCompletion take_armed() noexcept {
  PeerCompletion* const armed = CompletionSlot::of(this_thread());
  return armed != nullptr ? std::exchange(*armed, PeerCompletion{}) : PeerCompletion{};
}

bool is_armed() noexcept {
  const PeerCompletion* const armed = CompletionSlot::of(this_thread());
  return armed != nullptr && armed->is_set();
}

void send_notice(const Target& peer, const PeerCompletion& notice) noexcept {
  const am::Packed packed(Notice{notice.handler});
  am::Outbound message = packed.message_for(notice_message);
  message.what.set_category(Category::medium);
  message.what.set_endpoints(am::endpoints_of(peer));
  message.payload = notice.payload;
  message.size = notice.size;
  am::send_request(peer.jobrank, message, false);
}

std::uint64_t next_put_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  // Relaxed: the numbers need only be distinct.
  return last.fetch_add(1, std::memory_order_relaxed);
}

void note_arrival(gex_Token_t token, const ArrivedNotice& notice, std::size_t bytes) noexcept {
  if (bytes != notice.total) {
    Arrivals& arrivals = the_arrivals.get();
    // The lock also orders what other threads have written of this put before the handler.
    const OptionalGuard guard(arrivals.lock, process().threaded);
    const auto [found, is_first] =
        arrivals.bytes.try_emplace({token->header.source, notice.number}, 0);
    found->second += bytes;
    if (found->second != notice.total) return;
    arrivals.bytes.erase(found);
  }
  run(token, notice.handler, notice.payload, notice.size);
}

void start_peer_completion() {
  register_renewal(disarm);
  am::register_request<on_notice>(notice_message);
}

}  // namespace gex::vis
