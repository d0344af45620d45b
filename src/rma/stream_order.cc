#include "rma/stream_order.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "am/deferred_send.h"
#include "base/error.h"
#include "core/event.h"
#include "core/initiate.h"
#include "core/memory_class.h"
#include "rma/rma.h"

namespace gex::rma {

namespace {

struct PutAfter final : am::DeferredSend {
  PutAfter(const ResolvedTransfer& put, const CompletionTargets& its_targets,
           gex_Flags_t its_flags) noexcept
      : transfer(put), targets(its_targets), flags(its_flags | GEX_FLAG_IMMEDIATE) {}

  ResolvedTransfer transfer;
  CompletionTargets targets;
  gex_Flags_t flags;
  StdCompletion::Word happened{0};

  bool advance() noexcept override {
    if (StdCompletion::load_acquire(happened) == 0) return false;
    if (transfer.way != Way::copy)
      return inject_put(transfer, targets, LocalCompletion::with_done, flags).parts != 0;
    copy_memory(transfer.mapped, transfer.local, transfer.size);
    complete(targets.done);
    return true;
  }
};

/// A stream that waits for an event.
struct HeldStream final : am::DeferredSend {
  HeldStream(gex_Event_t awaited, std::atomic<std::uint32_t>* its_gate) noexcept
      : event(awaited), gate(its_gate) {}

  gex_Event_t event;
  std::atomic<std::uint32_t>* gate;

  bool advance() noexcept override {
    if (test_event(event) != GASNET_OK) return false;
    // Release: the stream finds what the operation has written.
    gate->store(gate_open, std::memory_order_release);
    return true;
  }
};

}  // namespace

gex_Event_t put_after(const ResolvedTransfer& transfer, const MemoryKind& kind, void* device_event,
                      gex_Flags_t flags) noexcept {
  const auto inject = [&](const CompletionTargets& targets) noexcept {
    auto put = std::make_unique<PutAfter>(transfer, targets, flags);
    const Injected injected{parts_of_put(transfer)};
    if (const std::string why = kind.follow_event(device_event, &put->happened); !why.empty())
      fatal("%s: the event of %s device %u cannot be followed: %s", name_of(transfer.call),
            class_name(kind), kind.device, why.c_str());
    am::defer(std::move(put));
    return injected;
  };
  return initiate_with_event(transfer.as(OpKind::put), ec_put, LocalCompletion::with_done, inject)
      .event;
}

void hold_stream(const MemoryKind& kind, void* stream, gex_Event_t event, Call call) noexcept {
  if (event == GEX_EVENT_INVALID) return;
  std::string why;
  std::atomic<std::uint32_t>* const gate = kind.hold_stream(stream, why);
  if (!why.empty())
    fatal("%s: a stream of %s device %u cannot be made to wait: %s", name_of(call),
          class_name(kind), kind.device, why.c_str());
  auto held = std::make_unique<HeldStream>(event, gate);
  if (!held->advance()) am::defer(std::move(held));
}

}  // namespace gex::rma
