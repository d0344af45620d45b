#include "rma/staged_put.h"

#include <deque>
#include <memory>
#include <utility>

#include "am/deferred_send.h"
#include "rma/messages.h"
#include "rma/staging_buffer.h"

namespace gex::rma {

namespace {

/// A put from a device.
struct StagedPut final : am::DeferredSend {
  StagedPut(const ResolvedTransfer& put, const MemoryKind& its_kind,
            const CompletionTargets& its_targets) noexcept
      : transfer(put), kind(its_kind), targets(its_targets) {}

  ResolvedTransfer transfer;
  const MemoryKind& kind;
  CompletionTargets targets;
  std::size_t begun = 0;  ///< bytes
  std::size_t sent = 0;
  std::deque<std::unique_ptr<StagingBuffer>> parts;

  bool advance() noexcept override {
    send_copied();
    begin_copies();
    return sent == transfer.size;
  }

 private:
  void begin_copies() noexcept {
    while (begun < transfer.size && parts.size() < max_staged_ahead) {
      std::unique_ptr<StagingBuffer> part = StagingBuffer::of(kind, /*may_refuse=*/true);
      if (part == nullptr) return;
      const std::size_t size = part_size(transfer, begun);
      const auto* const from = static_cast<const std::byte*>(transfer.local) + begun;
      kind.begin_copy(part->bytes(), from, size, part->copied(), targets.local_done);
      parts.push_back(std::move(part));
      begun += size;
    }
  }
  void send_copied() noexcept {
    while (!parts.empty() && parts.front()->is_copied()) {
      const std::size_t size =
          put_part_from(transfer, sent, parts.front()->bytes(), targets.done, /*immediate=*/true);
      if (size == 0) return;
      sent += size;
      parts.pop_front();
    }
  }
};

}  // namespace

Injected put_staged(const ResolvedTransfer& transfer, const MemoryKind& kind,
                    const CompletionTargets& targets) noexcept {
  const Injected injected{message_parts_of(transfer), /*completes_local_done=*/true};
  auto put = std::make_unique<StagedPut>(transfer, kind, targets);
  if (!put->advance()) am::defer(std::move(put));
  return injected;
}

}  // namespace gex::rma
