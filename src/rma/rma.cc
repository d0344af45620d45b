#include "rma/rma.h"

#include <cstring>

#include "base/error.h"
#include "core/initiate.h"
#include "core/memory.h"
#include "core/memory_class.h"
#include "core/process.h"
#include "core/team.h"
#include "observe/restricted.h"
#include "observe/trace.h"
#include "rma/by_kind.h"
#include "rma/messages.h"
#include "rma/native.h"
#include "rma/staged_put.h"
#include "rma/way.h"

namespace gex::rma {

namespace {

constexpr gex_Flags_t self_flags = GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_SOME |
                                   GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET;
constexpr gex_Flags_t peer_flags = GEX_FLAG_PEER_SEG_UNKNOWN | GEX_FLAG_PEER_SEG_SOME |
                                   GEX_FLAG_PEER_SEG_BOUND | GEX_FLAG_PEER_SEG_OFFSET;

bool more_than_one(gex_Flags_t bits) noexcept {
  return (bits & (bits - 1)) != 0;
}

/// Checks what the caller asserts or must obey, in checked mode.
void check(const ResolvedTransfer& transfer, gex_Flags_t flags) noexcept {
  const char* const call = name_of(transfer.call);
  if (more_than_one(flags & self_flags)) fatal("%s: more than one SELF_SEG flag", call);
  if (more_than_one(flags & peer_flags)) fatal("%s: more than one PEER_SEG flag", call);
  if ((flags & GEX_FLAG_PEER_NEVER_SELF) != 0 && transfer.peer.jobrank == gex_proc_.jobrank)
    fatal("%s: GEX_FLAG_PEER_NEVER_SELF, but the peer is this process", call);
  if ((flags & GEX_FLAG_PEER_NEVER_NBRHD) != 0 &&
      process().neighborhood.contains(transfer.peer.jobrank))
    fatal("%s: GEX_FLAG_PEER_NEVER_NBRHD, but rank %u is in this process's neighborhood", call,
          transfer.peer.jobrank);
  check_remote(transfer.peer, transfer.remote, transfer.size, transfer.call);
  if (transfer.local == nullptr && transfer.size != 0) fatal("%s: the local address is null", call);
  // SELF_SEG_SOME is about all segments of this process, which may adjoin one another.
  const bool in_own_segment = (flags & (GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET)) != 0;
  const gex_Segment_t own = transfer.peer.local_endpoint->segment;
  if (in_own_segment &&
      (own == nullptr || (transfer.size != 0 && !own->contains(transfer.local, transfer.size))))
    fatal("%s: a SELF_SEG flag, but %zu bytes at %p are not in this process's bound segment", call,
          transfer.size, transfer.local);
}

bool is_immediate(gex_Flags_t flags) noexcept {
  return (flags & GEX_FLAG_IMMEDIATE) != 0;
}

/// Chooses the way; ends the job if a neighbor's end does not lie in its segment. Outside the
/// neighborhood the owner checks.
void choose_way_inside(ResolvedTransfer& transfer, const PublishedSegment& segment,
                       std::size_t local_size) noexcept {
  if (choose_way(transfer, segment, local_size)) [[likely]]
    return;
  if (transfer.size != 0 && process().neighborhood.contains(transfer.peer.jobrank))
    fatal("%s: %zu bytes at %p are not in the bound segment of rank %u", name_of(transfer.call),
          transfer.size, reinterpret_cast<void*>(transfer.remote), transfer.peer.jobrank);
}

Injected inject_get(const ResolvedTransfer& transfer, const CompletionTargets& targets,
                    gex_Flags_t flags) noexcept {
  const bool immediate = is_immediate(flags);
  switch (transfer.way) {
    case Way::kind:
      return get_by_kind(transfer, targets);
    case Way::network:
      return native_get(transfer, targets.done, immediate);
    case Way::copy:  // done by `get_by_copy`
    case Way::messages:
      break;
  }
  return get_by_messages(transfer, targets.done, immediate);
}

/// Returns true if a put was no more than a copy, or nothing at all.
[[gnu::always_inline]] inline bool put_by_copy(const ResolvedTransfer& transfer) noexcept {
  if (transfer.size == 0) return true;
  if (transfer.way != Way::copy) return false;
  copy_memory(transfer.mapped, transfer.local, transfer.size);
  return true;
}
[[gnu::always_inline]] inline bool get_by_copy(const ResolvedTransfer& transfer) noexcept {
  if (transfer.size == 0) return true;
  if (transfer.way != Way::copy) return false;
  copy_memory(transfer.local, transfer.mapped, transfer.size);
  return true;
}

LocalCompletion local_completion_of(const gex_Event_t* lc_opt) noexcept {
  if (has_variable(lc_opt)) return LocalCompletion::leaf;
  if (lc_opt == GEX_EVENT_NOW) return LocalCompletion::now;
  return lc_opt == GEX_EVENT_GROUP ? LocalCompletion::group : LocalCompletion::with_done;
}

}  // namespace

Injected inject_put(const ResolvedTransfer& transfer, const CompletionTargets& targets,
                    LocalCompletion wanted, gex_Flags_t flags) noexcept {
  const bool immediate = is_immediate(flags);
  // An immediate call must not wait until its source may be reused.
  const bool must_copy = immediate && wanted == LocalCompletion::now;
  switch (transfer.way) {
    case Way::kind:
      return put_by_kind(transfer, targets, /*at_once=*/must_copy);
    case Way::network: {
      const bool may_copy = targets.local_done != nullptr && (flags & GEX_FLAG_LC_COPY_YES) != 0;
      const FromCopy otherwise = may_copy ? FromCopy::if_there_is_memory : FromCopy::no;
      return native_put(transfer, targets, must_copy ? FromCopy::yes : otherwise, immediate);
    }
    case Way::copy:  // done by `put_by_copy`
    case Way::messages:
      break;
  }
  if (transfer.local_kind != nullptr && !must_copy) [[unlikely]]
    return put_staged(transfer, *transfer.local_kind, targets);
  // Messages take the payload with them.
  return put_by_messages(transfer, targets.done, immediate);
}

std::uint32_t parts_of_put(const ResolvedTransfer& transfer) noexcept {
  switch (transfer.way) {
    case Way::kind:
    case Way::copy:
      return 1;
    case Way::network:
      return native_parts_of(transfer);
    case Way::messages:
      break;
  }
  return message_parts_of(transfer);
}

ResolvedTransfer resolve_transfer(const Target& peer, const void* local, void* remote,
                                  std::size_t size, gex_Flags_t flags, Call call) noexcept {
  const PublishedSegment segment = peer.segment();
  ResolvedTransfer transfer;
  transfer.call = call;
  transfer.peer = peer;
  transfer.size = size;
  transfer.local = const_cast<void*>(local);
  transfer.remote = reinterpret_cast<std::uintptr_t>(remote);
  if ((flags & GEX_FLAG_SELF_SEG_OFFSET) != 0 && peer.local_endpoint->segment != nullptr)
    transfer.local =
        peer.local_endpoint->segment->address + reinterpret_cast<std::uintptr_t>(local);
  if ((flags & GEX_FLAG_PEER_SEG_OFFSET) != 0) transfer.remote += segment.owner_address;
  transfer.local_kind = kind_at(transfer.local);
  if (checked()) [[unlikely]]
    check(transfer, flags);
  choose_way_inside(transfer, segment, size);
  report(transfer, size);
  return transfer;
}

ResolvedTransfer resolve_ranges(const Target& peer, const LocalRange& local, std::uintptr_t remote,
                                std::size_t size, Call call) noexcept {
  const PublishedSegment segment = peer.segment();
  ResolvedTransfer range;
  range.call = call;
  range.peer = peer;
  range.size = size;
  range.local = local.begin;
  range.remote = remote;
  range.local_kind = local.kind;
  if (checked()) [[unlikely]]
    check(range, 0);
  choose_way_inside(range, segment, local.bytes);
  return range;
}

void check_remote(const Target& peer, std::uintptr_t remote, std::size_t size, Call call) noexcept {
  const PublishedSegment segment = peer.segment();
  if (size != 0 && !segment.contains(remote, size))
    fatal("%s: %zu bytes at %p are not in the bound segment of rank %u (%zu bytes at %p)",
          name_of(call), size, reinterpret_cast<void*>(remote), peer.jobrank,
          static_cast<std::size_t>(segment.size), reinterpret_cast<void*>(segment.owner_address));
}

void check_local(const Target& peer, const void* local, std::size_t size, Call call) noexcept {
  const gex_Segment_t own = peer.local_endpoint->segment;
  if (size == 0) return;
  if (own == nullptr || own->kind == nullptr) {
    const std::string what = has_other_kinds() ? describe_unknown_memory(local) : std::string();
    if (!what.empty())
      fatal("%s: the local %zu bytes at %p are %s; make a segment of them first", name_of(call),
            size, local, what.c_str());
    return;
  }
  if (!own->contains(local, size))
    fatal(
        "%s: the local %zu bytes at %p are not in the segment of endpoint %u, which is memory of "
        "%s device %u; use an endpoint with host memory, or none, for other addresses",
        name_of(call), size, local, unsigned{peer.local_endpoint->index}, class_name(*own->kind),
        own->kind->device);
}

void report(const ResolvedTransfer& transfer, std::size_t bytes) noexcept {
  if (!traced()) [[likely]]
    return;
  trace::transfer(transfer.peer.jobrank, bytes);
  trace::memory_way(transfer.memory_way());
}

int put_blocking(const ResolvedTransfer& transfer, gex_Flags_t flags) noexcept {
  if (put_by_copy(transfer)) return 0;
  const Initiated put =
      initiate_blocking(transfer.as(OpKind::put), [&](const CompletionTargets& targets) noexcept {
        return inject_put(transfer, targets, LocalCompletion::with_done, flags);
      });
  return put.refused ? 1 : 0;
}

int put_implicit(const ResolvedTransfer& transfer, const gex_Event_t* lc_opt,
                 gex_Flags_t flags) noexcept {
  if (put_by_copy(transfer)) return 0;
  const LocalCompletion wanted = local_completion_of(lc_opt);
  const Initiated put = initiate_implicit(transfer.as(OpKind::put), ec_put, wanted,
                                          [&](const CompletionTargets& targets) noexcept {
                                            return inject_put(transfer, targets, wanted, flags);
                                          });
  return put.refused ? 1 : 0;
}

gex_Event_t put_explicit(const ResolvedTransfer& transfer, gex_Event_t* lc_opt,
                         gex_Flags_t flags) noexcept {
  const LocalCompletion wanted = local_completion_of(lc_opt);
  if (put_by_copy(transfer)) {
    if (wanted == LocalCompletion::leaf) *lc_opt = GEX_EVENT_INVALID;
    return GEX_EVENT_INVALID;
  }
  const Initiated put = initiate_with_event(transfer.as(OpKind::put), ec_put, wanted,
                                            [&](const CompletionTargets& targets) noexcept {
                                              return inject_put(transfer, targets, wanted, flags);
                                            });
  if (wanted == LocalCompletion::leaf && !put.refused)
    *lc_opt = put.completes_local_done ? query_leaf(put.event, GEX_EC_LC) : GEX_EVENT_INVALID;
  return put.event_or_no_op();
}

int get_blocking(const ResolvedTransfer& transfer, gex_Flags_t flags) noexcept {
  if (get_by_copy(transfer)) return 0;
  const Initiated get =
      initiate_blocking(transfer.as(OpKind::get), [&](const CompletionTargets& targets) noexcept {
        return inject_get(transfer, targets, flags);
      });
  return get.refused ? 1 : 0;
}

int get_implicit(const ResolvedTransfer& transfer, gex_Flags_t flags) noexcept {
  if (get_by_copy(transfer)) return 0;
  const Initiated get =
      initiate_implicit(transfer.as(OpKind::get), ec_get, LocalCompletion::with_done,
                        [&](const CompletionTargets& targets) noexcept {
                          return inject_get(transfer, targets, flags);
                        });
  return get.refused ? 1 : 0;
}

gex_Event_t get_explicit(const ResolvedTransfer& transfer, gex_Flags_t flags) noexcept {
  if (get_by_copy(transfer)) return GEX_EVENT_INVALID;
  return initiate_with_event(transfer.as(OpKind::get), ec_get, LocalCompletion::with_done,
                             [&](const CompletionTargets& targets) noexcept {
                               return inject_get(transfer, targets, flags);
                             })
      .event_or_no_op();
}

void start() {
  start_messages();
}

}  // namespace gex::rma
