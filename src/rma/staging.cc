#include "rma/staging.h"

#include <cstring>
#include <memory>
#include <utility>

#include "am/deferred_send.h"
#include "am/token.h"
#include "rma/staging_buffer.h"

namespace gex::rma {

namespace {

/// A handler's work that is left for when a copy from, or to, its buffer is done.
template <class Finish>
struct Staged final : am::DeferredSend {
  Staged(const MemoryKind& kind, gex_Token_t handlers, Finish its_finish)
      : part(StagingBuffer::of(kind, /*may_wait=*/false)), token(*handlers), finish(its_finish) {
    handlers->may_reply = false;
  }

  std::unique_ptr<StagingBuffer> part;
  _gex_Token token;
  Finish finish;

  bool advance() noexcept override {
    if (!part->is_copied()) return false;
    finish(&token, part->bytes());
    return true;
  }
};

template <class Finish>
std::unique_ptr<Staged<Finish>> stage(const MemoryKind& kind, gex_Token_t token, Finish finish) {
  return std::make_unique<Staged<Finish>>(kind, token, finish);
}

}  // namespace

void deliver_staged(const MemoryKind& kind, std::byte* to, const void* payload, std::size_t size,
                    gex_Token_t token, am::Wide target,
                    void (*done)(gex_Token_t token, am::Wide target) noexcept) noexcept {
  auto staged = stage(kind, token, [=](gex_Token_t handlers, const std::byte*) noexcept {
    done(handlers, target);
  });
  std::memcpy(staged->part->bytes(), payload, size);
  kind.begin_copy(to, staged->part->bytes(), size, staged->part->copied(), nullptr);
  am::defer(std::move(staged));
}

void fetch_staged(const MemoryKind& kind, const std::byte* from, std::size_t size,
                  gex_Token_t token, am::Wide target, am::Wide destination,
                  void (*send)(gex_Token_t token, am::Wide target, am::Wide destination,
                               const std::byte* bytes, std::size_t size) noexcept) noexcept {
  auto staged = stage(kind, token, [=](gex_Token_t handlers, const std::byte* bytes) noexcept {
    send(handlers, target, destination, bytes, size);
  });
  kind.begin_copy(staged->part->bytes(), from, size, staged->part->copied(), nullptr);
  am::defer(std::move(staged));
}

}  // namespace gex::rma
