#include "rma/staging.h"

#include <cstring>

namespace gex::rma {

void deliver_staged(const MemoryKind& kind, std::byte* to, const void* payload, std::size_t size,
                    gex_Token_t token, am::Wide done,
                    void (*delivered)(gex_Token_t token, am::Wide done) noexcept) noexcept {
  auto buffer = StagingBuffer::of(kind, /*may_refuse=*/false);
  std::memcpy(buffer->bytes(), payload, size);
  kind.begin_copy(to, buffer->bytes(), size, buffer->copied(), nullptr);
  finish_when_copied(std::move(buffer), token,
                     [=](gex_Token_t later, const std::byte*) noexcept { delivered(later, done); });
}

void fetch_staged(const MemoryKind& kind, const std::byte* from, std::size_t size,
                  gex_Token_t token, am::Wide done, am::Wide destination,
                  void (*send)(gex_Token_t token, am::Wide done, am::Wide destination,
                               const std::byte* bytes, std::size_t size) noexcept) noexcept {
  auto buffer = StagingBuffer::of(kind, /*may_refuse=*/false);
  kind.begin_copy(buffer->bytes(), from, size, buffer->copied(), nullptr);
  finish_when_copied(std::move(buffer), token,
                     [=](gex_Token_t later, const std::byte* bytes) noexcept {
                       send(later, done, destination, bytes, size);
                     });
}

}  // namespace gex::rma
