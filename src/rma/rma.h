#pragma once
// Contiguous put and get, out of line: for peers whose memory is not mapped, for flags that the
// inline form leaves to a call, and for checked mode.
//
// The path of a put; a get's is the same, with `get` in the names:
//
//   gex_RMA_PutNB        gex/rma.h         copies, where the peer's segment is mapped
//   gex_put_nb_          api/rma.cc        checks the arguments
//   resolve_transfer     rma.cc            makes (tm, rank, address) a ResolvedTransfer
//   choose_way           way.h             decides what carries it
//   put_explicit         rma.cc            copies, where the peer's segment is mapped
//   initiate_with_event  core/initiate.h   makes the event, and counts its parts
//   inject_put           rma.cc            gives the transfer to what carries it:
//
//   put_by_kind          by_kind.h         a device, whose copies reach both sides
//   native_put           native.h          the network, which has a key for the segment
//   put_staged           staged_put.h      messages, from memory of a device
//   put_by_messages      messages.h        messages, for all else: a network without put and get,
//                                          or a neighbor's memory that is not shared
//
// `native_put` calls the conduit's `put` (gex/plugin/conduit.h) for as much at a time as the
// network takes; that of udp is followed in net/udp/endpoint.h. Where there is no room,
// `inject_all` (injection.h) waits for it, polling, or leaves what remains to polls. Each way
// completes the parts that it carries: a network by `Host::complete`, which calls `complete`
// (core/thread.h) and rings waiters (core/conduit_host.cc). `done` is a count of the event's
// (core/event.h), by which gex_Event_Wait sees that all are complete.
//
// On the way `local` is the memory of the caller and `remote` that of the peer, for puts and gets
// alike; `done` and `local_done` are what the operation completes (core/initiate.h). A conduit has
// them under the same names.

#include <gasnetex.h>

#include <cstddef>

#include "core/initiate.h"
#include "rma/resolved_transfer.h"

namespace gex::rma {

/// Resolves offsets, chooses the way, and reports both to the trace; checks in checked mode.
ResolvedTransfer resolve_transfer(const Target& peer, const void* local, void* remote,
                                  std::size_t size, gex_Flags_t flags, Call call) noexcept;
inline ResolvedTransfer resolve_transfer(gex_TM_t tm, gex_Rank_t rank, const void* local,
                                         void* remote, std::size_t size, gex_Flags_t flags,
                                         Call call) noexcept {
  return resolve_transfer(resolve(tm, rank), local, remote, size, flags, call);
}

/// The bytes from the lowest to the highest address that a transfer touches on its local side.
struct LocalRange {
  void* begin;
  std::size_t bytes;
  const MemoryKind* kind;  ///< null: all that it touches is memory of the host
};
/// Resolves a non-contiguous transfer, of whose remote side `size` bytes from `remote` on are the
/// range, and chooses a way for it. Its caller may decide for another one, and reports it.
ResolvedTransfer resolve_ranges(const Target& peer, const LocalRange& local, std::uintptr_t remote,
                                std::size_t size, Call call) noexcept;
/// Checked mode: ends the job if a part of a transfer does not lie in the peer's segment.
void check_remote(const Target& peer, std::uintptr_t remote, std::size_t size, Call call) noexcept;
/// Checked mode: ends the job unless the local memory of an endpoint with a segment of another kind
/// than the host's lies in that segment, and that of any other endpoint is the host's or a
/// segment's.
void check_local(const Target& peer, const void* local, std::size_t size, Call call) noexcept;

/// Reports a transfer of so many bytes to the trace, with the way on which it goes.
void report(const ResolvedTransfer& transfer, std::size_t bytes) noexcept;

/// Injects the put of a transfer that is not empty, and not just a copy by the processor.
Injected inject_put(const ResolvedTransfer& transfer, const CompletionTargets& targets,
                    LocalCompletion wanted, gex_Flags_t flags) noexcept;
/// How often a put that is not empty completes its target, by a copy or whichever way it goes.
std::uint32_t parts_of_put(const ResolvedTransfer& transfer) noexcept;

int put_blocking(const ResolvedTransfer& transfer, gex_Flags_t flags) noexcept;
int put_implicit(const ResolvedTransfer& transfer, const gex_Event_t* lc_opt,
                 gex_Flags_t flags) noexcept;
gex_Event_t put_explicit(const ResolvedTransfer& transfer, gex_Event_t* lc_opt,
                         gex_Flags_t flags) noexcept;
int get_blocking(const ResolvedTransfer& transfer, gex_Flags_t flags) noexcept;
int get_implicit(const ResolvedTransfer& transfer, gex_Flags_t flags) noexcept;
gex_Event_t get_explicit(const ResolvedTransfer& transfer, gex_Flags_t flags) noexcept;

/// Start-up only.
void start();

}  // namespace gex::rma
