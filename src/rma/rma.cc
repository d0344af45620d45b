#include "rma/rma.h"

#include <cstring>

#include "base/error.h"
#include "core/event.h"
#include "core/process.h"
#include "core/progress.h"
#include "core/team.h"
#include "rma/kept.h"
#include "rma/native.h"
#include "rma/reference.h"

namespace gex::rma {

namespace {

constexpr gex_Flags_t self_flags = GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_SOME |
                                   GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET;
constexpr gex_Flags_t peer_flags = GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME |
                                   GEX_FLAG_PEER_SEG_BOUND | GEX_FLAG_PEER_SEG_OFFSET;

bool more_than_one(gex_Flags_t bits) noexcept {
  return (bits & (bits - 1)) != 0;
}

/// What the caller asserts or must obey, in checked mode.
void check(const Transfer& transfer, const PublishedSegment& segment, gex_Flags_t flags,
           const char* call) noexcept {
  if (more_than_one(flags & self_flags)) fatal("%s: more than one SELF_SEG flag", call);
  if (more_than_one(flags & peer_flags)) fatal("%s: more than one PEER_SEG flag", call);
  if ((flags & GEX_FLAG_PEER_NEVER_SELF) != 0 && transfer.jobrank == gex_proc_.jobrank)
    fatal("%s: GEX_FLAG_PEER_NEVER_SELF, but the peer is this process", call);
  if ((flags & GEX_FLAG_PEER_NEVER_NBRHD) != 0 && process().neighborhood.contains(transfer.jobrank))
    fatal("%s: GEX_FLAG_PEER_NEVER_NBRHD, but rank %u is in this process's neighborhood", call,
          transfer.jobrank);
  if (transfer.size != 0 && !segment.contains(transfer.remote, transfer.size))
    fatal("%s: %zu bytes at %p are not in the bound segment of rank %u (%zu bytes at %p)", call,
          transfer.size, reinterpret_cast<void*>(transfer.remote), transfer.jobrank,
          static_cast<std::size_t>(segment.size), reinterpret_cast<void*>(segment.owner_address));
  if (transfer.local == nullptr && transfer.size != 0) fatal("%s: the local address is null", call);
  // SELF_SEG_SOME speaks of all segments of this process, which may adjoin one another.
  const bool in_own_segment = (flags & (GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET)) != 0;
  const gex_Segment_t own = transfer.local_endpoint->segment;
  if (in_own_segment &&
      (own == nullptr || (transfer.size != 0 && !own->contains(transfer.local, transfer.size))))
    fatal("%s: a SELF_SEG flag, but %zu bytes at %p are not in this process's bound segment", call,
          transfer.size, transfer.local);
}

bool is_immediate(gex_Flags_t flags) noexcept {
  return (flags & GEX_FLAG_IMMEDIATE) != 0;
}

/// Number of parts, hence of completions, of a transfer that is not empty.
std::uint32_t parts(const Transfer& transfer) noexcept {
  return is_native(transfer) ? native_parts_of(transfer) : parts_of(transfer);
}

/// How a put was injected.
enum class Injected {
  refused,   ///< not at all, as only an immediate one is
  pending,   ///< its source is in use yet
  reusable,  ///< its source is not
};

/// Injects a put: each part completes `done`, and `local`, if that is not null and the source is in
/// use yet, when it is not any more. `at_once` is for a source that the caller waits for.
Injected inject_put(const Transfer& transfer, CompletionTarget done, CompletionTarget local,
                    bool at_once, gex_Flags_t flags) noexcept {
  const bool immediate = is_immediate(flags);
  // Messages take the payload with them.
  if (!is_native(transfer))
    return put_parts(transfer, done, immediate) != 0 ? Injected::refused : Injected::reusable;
  const bool must_copy = at_once && immediate;  // it must not wait
  if (local != nullptr && (must_copy || (flags & GEX_FLAG_LC_COPY_YES) != 0)) {
    const CopiedPut put = native_put_copied(transfer, done, immediate, must_copy);
    if (put == CopiedPut::sent) return Injected::reusable;
    if (put == CopiedPut::refused || must_copy) return Injected::refused;
  }
  return native_put(transfer, done, local, immediate) != 0 ? Injected::refused : Injected::pending;
}

int inject_get(const Transfer& transfer, CompletionTarget done, gex_Flags_t flags) noexcept {
  return is_native(transfer) ? native_get(transfer, done, is_immediate(flags))
                             : get_parts(transfer, done, is_immediate(flags));
}

void wait_for(const StdCompletion::Word& word, std::uint32_t count) noexcept {
  wait_until([&]() noexcept { return StdCompletion::load_acquire(word) == count; });
}

}  // namespace

Transfer resolve_transfer(gex_TM_t tm, gex_Rank_t rank, const void* local, void* remote,
                          std::size_t size, gex_Flags_t flags, const char* call) noexcept {
  const Peer peer = resolve(tm, rank);
  const PublishedSegment& segment = peer.segment();
  Transfer transfer;
  transfer.local_endpoint = peer.local_endpoint;
  transfer.jobrank = peer.jobrank;
  transfer.endpoint = peer.endpoint;
  transfer.size = size;
  transfer.local = const_cast<void*>(local);
  transfer.remote = reinterpret_cast<std::uintptr_t>(remote);
  if ((flags & GEX_FLAG_SELF_SEG_OFFSET) != 0 && peer.local_endpoint->segment != nullptr)
    transfer.local =
        peer.local_endpoint->segment->address + reinterpret_cast<std::uintptr_t>(local);
  if ((flags & GEX_FLAG_PEER_SEG_OFFSET) != 0) transfer.remote += segment.owner_address;
  if (checked()) check(transfer, segment, flags, call);
  const bool inside = segment.contains(transfer.remote, size);
  transfer.mapped = segment.mapped != nullptr && inside
                        ? segment.mapped + (transfer.remote - segment.owner_address)
                        : nullptr;
  if (segment.has_key && inside) transfer.key = &segment.key;
  // What lies outside the segment of a process further away, that one judges.
  if (!inside && process().neighborhood.contains(peer.jobrank) && size != 0)
    fatal("%s: %zu bytes at %p are not in the bound segment of rank %u", call, size,
          reinterpret_cast<void*>(transfer.remote), peer.jobrank);
  return transfer;
}

int put_blocking(const Transfer& transfer, gex_Flags_t flags) noexcept {
  if (transfer.size == 0) return 0;
  if (transfer.mapped != nullptr) {
    std::memcpy(transfer.mapped, transfer.local, transfer.size);
    return 0;
  }
  StdCompletion::Word done{0};
  if (inject_put(transfer, &done, nullptr, false, flags) == Injected::refused) return 1;
  wait_for(done, parts(transfer));
  return 0;
}

int put_implicit(const Transfer& transfer, const gex_Event_t* local_completion,
                 gex_Flags_t flags) noexcept {
  if (transfer.size == 0) return 0;
  if (transfer.mapped != nullptr) {
    std::memcpy(transfer.mapped, transfer.local, transfer.size);
    return 0;
  }
  Counters& counters = this_thread().implicit_counters();
  StdCompletion::Word reusable{0};
  CompletionTarget local = nullptr;
  const bool now = local_completion == GEX_EVENT_NOW;
  if (now) local = &reusable;
  if (local_completion == GEX_EVENT_GROUP) local = &counters.completed[ec_lc];
  const Injected put = inject_put(transfer, &counters.completed[ec_put], local, now, flags);
  if (put == Injected::refused) return 1;
  const std::uint32_t count = parts(transfer);
  counters.initiated[ec_put] += count;
  if (put == Injected::reusable) return 0;
  if (local_completion == GEX_EVENT_GROUP) counters.initiated[ec_lc] += count;
  if (now) wait_for(reusable, count);
  return 0;
}

gex_Event_t put_explicit(const Transfer& transfer, gex_Event_t* local_completion,
                         gex_Flags_t flags) noexcept {
  if (transfer.mapped != nullptr || transfer.size == 0) {
    if (transfer.size != 0) std::memcpy(transfer.mapped, transfer.local, transfer.size);
    if (has_variable(local_completion)) *local_completion = GEX_EVENT_INVALID;
    return GEX_EVENT_INVALID;
  }
  ThreadRecord& thread = this_thread();
  Event& event = allocate_event(thread);
  StdCompletion::Word reusable{0};
  CompletionTarget local = nullptr;
  const bool now = local_completion == GEX_EVENT_NOW;
  if (now) local = &reusable;
  if (has_variable(local_completion)) local = &event.counters.completed[ec_lc];
  const Injected put = inject_put(transfer, &event.counters.completed[ec_put], local, now, flags);
  if (put == Injected::refused) {
    free_event(thread, event);
    return GEX_EVENT_NO_OP;
  }
  const std::uint32_t count = parts(transfer);
  event.counters.initiated[ec_put] = count;
  if (has_variable(local_completion)) {
    event.counters.initiated[ec_lc] = count;
    if (put == Injected::reusable) complete(local, count);
    *local_completion =
        put == Injected::reusable ? GEX_EVENT_INVALID : query_leaf(handle_of(event), GEX_EC_LC);
  }
  if (now && put == Injected::pending) wait_for(reusable, count);
  return handle_of(event);
}

int get_blocking(const Transfer& transfer, gex_Flags_t flags) noexcept {
  if (transfer.size == 0) return 0;
  if (transfer.mapped != nullptr) {
    std::memcpy(transfer.local, transfer.mapped, transfer.size);
    return 0;
  }
  StdCompletion::Word done{0};
  if (inject_get(transfer, &done, flags) != 0) return 1;
  wait_for(done, parts(transfer));
  return 0;
}

int get_implicit(const Transfer& transfer, gex_Flags_t flags) noexcept {
  if (transfer.size == 0) return 0;
  if (transfer.mapped != nullptr) {
    std::memcpy(transfer.local, transfer.mapped, transfer.size);
    return 0;
  }
  Counters& counters = this_thread().implicit_counters();
  if (inject_get(transfer, &counters.completed[ec_get], flags) != 0) return 1;
  counters.initiated[ec_get] += parts(transfer);
  return 0;
}

gex_Event_t get_explicit(const Transfer& transfer, gex_Flags_t flags) noexcept {
  if (transfer.size == 0) return GEX_EVENT_INVALID;
  if (transfer.mapped != nullptr) {
    std::memcpy(transfer.local, transfer.mapped, transfer.size);
    return GEX_EVENT_INVALID;
  }
  ThreadRecord& thread = this_thread();
  Event& event = allocate_event(thread);
  if (inject_get(transfer, &event.counters.completed[ec_get], flags) != 0) {
    free_event(thread, event);
    return GEX_EVENT_NO_OP;
  }
  event.counters.initiated[ec_get] = parts(transfer);
  return handle_of(event);
}

void start() {
  start_reference();
  start_kept();
}

}  // namespace gex::rma
