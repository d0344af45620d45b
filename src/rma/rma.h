#pragma once
// Contiguous put and get, out of line: for peers whose memory is not mapped, for flags that the
// inline form leaves to a call, and for checked mode.
//
// Where the peer's segment is mapped, a transfer is a copy. Where the network has a key for it and
// put and get of its own, it carries the bytes (native.h). All else, be it behind a network or a
// neighbor's memory that is not shared, is reached by messages of the library (reference.h).

#include <gasnetex.h>

#include <cstddef>

#include "core/initiate.h"
#include "rma/resolved_transfer.h"

namespace gex::rma {

/// Resolves (tm, rank), offsets and mapping; checks in checked mode.
ResolvedTransfer resolve_transfer(gex_TM_t tm, gex_Rank_t rank, const void* local, void* remote,
                                  std::size_t size, gex_Flags_t flags, Call call) noexcept;

/// Injects the put of a transfer that is not empty, and not just a copy by the processor.
Injected inject_put(const ResolvedTransfer& transfer, const Targets& targets,
                    LocalCompletion wanted, gex_Flags_t flags) noexcept;
/// How often a put that is not empty completes its target, by a copy or whichever way it goes.
std::uint32_t parts_of_put(const ResolvedTransfer& transfer) noexcept;

int put_blocking(const ResolvedTransfer& transfer, gex_Flags_t flags) noexcept;
int put_implicit(const ResolvedTransfer& transfer, const gex_Event_t* local_completion,
                 gex_Flags_t flags) noexcept;
gex_Event_t put_explicit(const ResolvedTransfer& transfer, gex_Event_t* local_completion,
                         gex_Flags_t flags) noexcept;
int get_blocking(const ResolvedTransfer& transfer, gex_Flags_t flags) noexcept;
int get_implicit(const ResolvedTransfer& transfer, gex_Flags_t flags) noexcept;
gex_Event_t get_explicit(const ResolvedTransfer& transfer, gex_Flags_t flags) noexcept;

/// Start-up only.
void start();

}  // namespace gex::rma
