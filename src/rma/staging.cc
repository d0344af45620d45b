#include "rma/staging.h"

#include <cstring>
#include <memory>
#include <utility>

#include "am/deferred_send.h"
#include "am/token.h"
#include "rma/staging_buffer.h"

namespace gex::rma {

namespace {

/// Bytes of a message's on their way to a device.
struct Delivery final : am::DeferredSend {
  std::unique_ptr<StagingBuffer> part;
  _gex_Token token;
  am::Wide target;
  void (*done)(gex_Token_t token, am::Wide target) noexcept;

  bool advance() noexcept override {
    if (!part->is_copied()) return false;
    done(&token, target);
    return true;
  }
};

/// Bytes of a device's on their way to a message.
struct Fetch final : am::DeferredSend {
  std::unique_ptr<StagingBuffer> part;
  std::size_t size;
  _gex_Token token;
  am::Wide target;
  am::Wide destination;
  void (*send)(gex_Token_t token, am::Wide target, am::Wide destination, const std::byte* bytes,
               std::size_t size) noexcept;

  bool advance() noexcept override {
    if (!part->is_copied()) return false;
    send(&token, target, destination, part->bytes(), size);
    return true;
  }
};

}  // namespace

void deliver_staged(const MemoryKind& kind, std::byte* to, const void* payload, std::size_t size,
                    gex_Token_t token, am::Wide target,
                    void (*done)(gex_Token_t token, am::Wide target) noexcept) noexcept {
  auto delivery = std::make_unique<Delivery>();
  delivery->part = StagingBuffer::of(kind, /*may_wait=*/false);
  delivery->token = *token;
  delivery->target = target;
  delivery->done = done;
  token->may_reply = false;
  std::memcpy(delivery->part->bytes(), payload, size);
  kind.begin_copy(to, delivery->part->bytes(), size, delivery->part->copied(), nullptr);
  am::defer(std::move(delivery));
}

void fetch_staged(const MemoryKind& kind, const std::byte* from, std::size_t size,
                  gex_Token_t token, am::Wide target, am::Wide destination,
                  void (*send)(gex_Token_t token, am::Wide target, am::Wide destination,
                               const std::byte* bytes, std::size_t size) noexcept) noexcept {
  auto fetch = std::make_unique<Fetch>();
  fetch->part = StagingBuffer::of(kind, /*may_wait=*/false);
  fetch->size = size;
  fetch->token = *token;
  fetch->target = target;
  fetch->destination = destination;
  fetch->send = send;
  token->may_reply = false;
  kind.begin_copy(fetch->part->bytes(), from, size, fetch->part->copied(), nullptr);
  am::defer(std::move(fetch));
}

}  // namespace gex::rma
