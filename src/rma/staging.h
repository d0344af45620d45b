#pragma once
// Messages of puts and gets that bring bytes to memory of a device, or take them from it: these lie
// in a buffer of the host's until a copy of the device's, which no handler waits for, is done. A
// put is acknowledged, or a get is complete, when its bytes are on the device.
//
//   auto buffer = StagingBuffer::of(kind, false);
//   ...begin copies that complete buffer->copied()...
//   finish_when_copied(std::move(buffer), token, [=](gex_Token_t later, std::byte* bytes) ...);
//
// Thread rules: any; for handlers.

#include <gasnetex.h>

#include <cstddef>
#include <memory>
#include <utility>

#include "am/deferred_send.h"
#include "am/internal.h"
#include "am/token.h"
#include "core/memory.h"
#include "core/progress.h"
#include "rma/staging_buffer.h"

namespace gex::rma {

/// Which threads may finish what was staged.
enum class Finisher : bool { any, client };

namespace detail {
template <class Finish>
struct Staged final : am::DeferredSend {
  Staged(std::unique_ptr<StagingBuffer> its_buffer, gex_Token_t its_token, Finisher its_finisher,
         Finish its_finish)
      : buffer(std::move(its_buffer)),
        token(*its_token),
        finisher(its_finisher),
        finish(std::move(its_finish)) {
    its_token->may_reply = false;
  }

  std::unique_ptr<StagingBuffer> buffer;
  _gex_Token token;
  Finisher finisher;
  Finish finish;

  bool advance() noexcept override {
    if (!buffer->is_copied() || (finisher == Finisher::client && in_progress_thread()))
      return false;
    finish(&token, buffer->bytes());
    return true;
  }
};
}  // namespace detail

/// Leaves the rest of a handler's work, `finish(token, bytes)` with a copy of the token, until the
/// copies are done from or to the buffer that holds these bytes. Finisher::client: the rest may run
/// handlers of the client's.
template <class Finish>
void finish_when_copied(std::unique_ptr<StagingBuffer> buffer, gex_Token_t token, Finish finish,
                        Finisher finisher = Finisher::any) noexcept {
  am::defer(std::make_unique<detail::Staged<Finish>>(std::move(buffer), token, finisher,
                                                     std::move(finish)));
}

/// Begins to copy what has arrived to memory of `kind`, and calls `delivered(token, done)` with a
/// copy of the token when it is there.
void deliver_staged(const MemoryKind& kind, std::byte* to, const void* payload, std::size_t size,
                    gex_Token_t token, am::Wide done,
                    void (*delivered)(gex_Token_t token, am::Wide done) noexcept) noexcept;

/// Begins to copy memory of `kind`, and calls `send` with a copy of the token when the bytes are in
/// the host's.
void fetch_staged(const MemoryKind& kind, const std::byte* from, std::size_t size,
                  gex_Token_t token, am::Wide done, am::Wide destination,
                  void (*send)(gex_Token_t token, am::Wide done, am::Wide destination,
                               const std::byte* bytes, std::size_t size) noexcept) noexcept;

}  // namespace gex::rma
