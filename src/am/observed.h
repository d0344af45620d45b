#pragma once
// Handlers and messages where calls are observed (core/observed.h): what is checked around a
// handler, and what is recorded of messages.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "am/message.h"
#include "am/outbound.h"
#include "am/token.h"
#include "base/clock.h"

namespace gex::am {

/// Before a handler runs, and after. `number`: as in arrived.h.
[[gnu::cold]] void enter_handler(const _gex_Token& token, std::size_t size,
                                 std::uint32_t number) noexcept;
[[gnu::cold]] void leave_handler(const _gex_Token& token, std::size_t size,
                                 std::uint32_t number) noexcept;
/// In place of the latter: the message was set aside.
[[gnu::cold]] void put_off_handler() noexcept;

/// A message was sent at `at`, by its transport as number `number`; traced jobs only. `how`: a
/// MessageDetail.
[[gnu::cold]] void record_sent(gex_Rank_t jobrank, const Outbound& message, std::uint64_t number,
                               std::uint8_t how, Tick at) noexcept;

}  // namespace gex::am
