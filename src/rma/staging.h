#pragma once
// Messages of puts and gets that bring bytes to memory of a device, or take them from it: these lie
// in a buffer of the host's until a copy of the device's, which no handler waits for, is done. A
// put is acknowledged, or a get is complete, when its bytes are on the device.
//
// Thread rules: any; for handlers.

#include <gasnetex.h>

#include <cstddef>

#include "am/internal.h"
#include "core/memory.h"

namespace gex::rma {

/// Begins to copy what has arrived to memory of `kind`, and calls `done(token, target)` with a copy
/// of the token when it is there.
void deliver_staged(const MemoryKind& kind, std::byte* to, const void* payload, std::size_t size,
                    gex_Token_t token, am::Wide target,
                    void (*done)(gex_Token_t token, am::Wide target) noexcept) noexcept;

/// Begins to copy memory of `kind`, and calls `send` with a copy of the token when the bytes are in
/// the host's.
void fetch_staged(const MemoryKind& kind, const std::byte* from, std::size_t size,
                  gex_Token_t token, am::Wide target, am::Wide destination,
                  void (*send)(gex_Token_t token, am::Wide target, am::Wide destination,
                               const std::byte* bytes, std::size_t size) noexcept) noexcept;

}  // namespace gex::rma
