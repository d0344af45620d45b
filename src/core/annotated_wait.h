#pragma once
// The wait of a layer above the interface, shown as the library's own waits are, with the layer's
// text (gex/annotations.h).

#include <gasnetex.h>

namespace gex {

/// The calling thread waits for that; has no effect if it is shown to wait already. `jobrank` may
/// be GEX_RANK_INVALID, `event` GEX_EVENT_INVALID.
void show_annotated_wait(const char* text, gex_Rank_t jobrank, gex_Event_t event) noexcept;
void end_annotated_wait() noexcept;

}  // namespace gex
