// Entry points: segments.

#include <gasnetex.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>

#include "api/require.h"
#include "base/error.h"
#include "base/os_memory_limits.h"
#include "core/memory_class.h"
#include "core/refuse.h"
#include "core/segment.h"
#include "core/team.h"
#include "kinds/kinds.h"
#include "observe/in_call.h"
#include "team/lifecycle.h"

namespace {

using gex::Call;
using gex::checked;
using gex::fatal;
using gex::InCall;
using gex::refuse;
using gex::require;
using gex::Team;

_gex_Segment& segment_of(gex_Segment_t segment, const char* call) {
  gex::require_live_segment(require(segment, call), call);
  return *segment;
}

/// The segment bound to (tm, rank), as far as it was published here; an own one always.
gex::PublishedSegment bound_segment(gex_TM_t tm, gex_Rank_t rank, Call call) {
  if (checked()) gex::require_peer(tm, rank, name_of(call));
  return gex::resolve(tm, rank).segment();
}

/// gex_Segment_Create with memory of another kind than the host's.
int create_on_device(gex_Segment_t* segment_p, gex_Client_t client, void* address,
                     std::uintptr_t length, _gex_MK& kind, const char* call) {
  if (kind.client != client)
    return refuse(GASNET_ERR_BAD_ARG, call, "the memory kind is another client's");
  gex_Segment_t segment = nullptr;
  if (address != nullptr) {
    if (const auto why = kind.kind->refuses(address, length))
      return refuse(GASNET_ERR_BAD_ARG, call, why->c_str());
    segment = gex::register_segment(client, address, length, 0, kind.kind);
  } else {
    std::string why;
    segment = gex::allocate_segment(client, length, 0, *kind.kind, why);
    if (segment == nullptr) {
      // No misuse: another size may do.
      if (gex::verbose_errors.load(std::memory_order_relaxed))
        gex::warn("%s: cannot allocate %s of %s device %u: %s", call,
                  gex::os::format_bytes(length).c_str(), gex::class_name(*kind.kind),
                  kind.kind->device, why.c_str());
      return GASNET_ERR_RESOURCE;
    }
  }
  segment->made_of = &kind;
  kind.segments.fetch_add(1, std::memory_order_relaxed);
  *segment_p = segment;
  return GASNET_OK;
}

/// GASNET_OK, or the error code for what a process asks of gex_Segment_Attach.
int refuse_attach_arguments(const gex_Segment_t* segment_p, std::uintptr_t size, const char* call) {
  if (segment_p == nullptr) return refuse(GASNET_ERR_BAD_ARG, call, "segment_p is null");
  char why[160];
  if (size == 0 || size % GASNET_PAGESIZE != 0) {
    std::snprintf(why, sizeof why, "the size %zu is not a non-zero multiple of %u bytes",
                  static_cast<std::size_t>(size), unsigned{GASNET_PAGESIZE});
    return refuse(GASNET_ERR_BAD_ARG, call, why);
  }
  const std::uintptr_t limit = gasnet_getMaxLocalSegmentSize();
  if (size > limit) {
    std::snprintf(
        why, sizeof why,
        "the size %zu is above gasnet_getMaxLocalSegmentSize() = %zu (GASNET_MAX_SEGSIZE)",
        static_cast<std::size_t>(size), static_cast<std::size_t>(limit));
    return refuse(GASNET_ERR_BAD_ARG, call, why);
  }
  return GASNET_OK;
}

/// GASNET_OK, or the error code for endpoints that a process cannot publish over that team.
int refuse_published(const Team& team, const gex_EP_t* eps, std::size_t count, const char* call) {
  if (eps == nullptr && count != 0)
    return refuse(GASNET_ERR_BAD_ARG, call, "the array of endpoints is null");
  char why[80];
  for (std::size_t i = 0; i < count; ++i) {
    if (eps[i] == GEX_EP_INVALID)
      std::snprintf(why, sizeof why, "endpoint %zu is GEX_EP_INVALID", i);
    else if (eps[i]->client != team.client)
      std::snprintf(why, sizeof why, "endpoint %zu is of another client than the team", i);
    else if (checked() && std::find(eps, eps + i, eps[i]) != eps + i)
      std::snprintf(why, sizeof why, "endpoint %zu stands twice in the array", i);
    else
      continue;
    return refuse(GASNET_ERR_BAD_ARG, call, why);
  }
  return GASNET_OK;
}

void answer(const gex::PublishedSegment& segment, void** owneraddr_p, void** localaddr_p,
            uintptr_t* size_p) {
  if (owneraddr_p != nullptr) *owneraddr_p = reinterpret_cast<void*>(segment.owner_address);
  if (localaddr_p != nullptr) *localaddr_p = segment.mapped;
  if (size_p != nullptr) *size_p = segment.size;
}

}  // namespace

extern "C" {

void (*gasnet_client_attach_hook)(void*, uintptr_t) = nullptr;

void gex_Segment_SetCData(gex_Segment_t seg, const void* val) {
  segment_of(seg, __func__).client_data = val;
}
void* gex_Segment_QueryCData(gex_Segment_t seg) {
  return const_cast<void*>(segment_of(seg, __func__).client_data);
}
gex_Client_t gex_Segment_QueryClient(gex_Segment_t seg) {
  return segment_of(seg, __func__).client;
}
gex_Flags_t gex_Segment_QueryFlags(gex_Segment_t seg) {
  return segment_of(seg, __func__).flags;
}
void* gex_Segment_QueryAddr(gex_Segment_t seg) {
  return segment_of(seg, __func__).address;
}
uintptr_t gex_Segment_QuerySize(gex_Segment_t seg) {
  return segment_of(seg, __func__).size;
}

int gex_Segment_Attach(gex_Segment_t* segment_p, gex_TM_t tm, uintptr_t size) {
  const InCall in_call(Call::segment_attach, InCall::set_up);
  const char* call = name_of(in_call);
  Team& team = gex::require_team(tm, call);
  // These are so in every process, or in none.
  if (tm != team.client->team)
    return refuse(GASNET_ERR_BAD_ARG, call, "the team is not the primordial one");
  if (team.endpoint->segment != nullptr)
    return refuse(GASNET_ERR_RESOURCE, call, "the endpoint has a segment already");
  // A caller whose arguments are wrong must not leave the others waiting: all of them are refused.
  const int flaw = refuse_attach_arguments(segment_p, size, call);
  const int result = gex::team::attach(segment_p, team, flaw == GASNET_OK ? size : 0, flaw);
  if (result == GASNET_OK && gasnet_client_attach_hook != nullptr)
    gasnet_client_attach_hook((*segment_p)->address, (*segment_p)->size);
  return result;
}

int gex_Segment_Create(gex_Segment_t* segment_p, gex_Client_t client, gex_Addr_t address,
                       uintptr_t length, gex_MK_t kind, gex_Flags_t flags) {
  const InCall in_call(Call::segment_create, InCall::set_up);
  const char* call = name_of(in_call);
  if (!gex::is_object(client, call)) return GASNET_ERR_BAD_ARG;
  if (segment_p == nullptr) return refuse(GASNET_ERR_BAD_ARG, call, "segment_p is null");
  if (length == 0) return refuse(GASNET_ERR_BAD_ARG, call, "the length is 0");
  if (length > UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(address))
    return refuse(GASNET_ERR_BAD_ARG, call, "the segment reaches beyond the address space");
  if (kind != GEX_MK_HOST && !gex::kinds::exists(kind))
    return refuse(GASNET_ERR_BAD_ARG, call, "there is no such memory kind");
  gex::warn_of_flags(flags, 0, call);
  if (kind != GEX_MK_HOST) return create_on_device(segment_p, client, address, length, *kind, call);
  if (address != nullptr) {
    *segment_p = gex::register_segment(client, address, length, flags);
    return GASNET_OK;
  }
  errno = ENOMEM;
  const gex_Segment_t segment =
      length <= gex::usable_memory() ? gex::allocate_segment(client, length, flags) : nullptr;
  if (segment != nullptr) {
    *segment_p = segment;
    return GASNET_OK;
  }
  // No misuse: another size may do.
  if (gex::verbose_errors.load(std::memory_order_relaxed))
    gex::warn("%s: cannot allocate %s: %s", call, gex::os::format_bytes(length).c_str(),
              std::strerror(errno));
  return GASNET_ERR_RESOURCE;
}

void gex_Segment_Destroy(gex_Segment_t segment, gex_Flags_t flags) {
  const InCall in_call(Call::segment_destroy, InCall::set_up);
  const char* call = name_of(in_call);
  segment_of(segment, call);
  gex::warn_of_flags(flags, 0, call);
  if (segment->bindings != 0)
    fatal("%s: the segment is bound to %u endpoint(s)", call, segment->bindings);
  gex::destroy_segment(segment);
}

int gex_Segment_QueryBound(gex_TM_t tm, gex_Rank_t rank, void** owneraddr_p, void** localaddr_p,
                           uintptr_t* size_p) {
  const InCall call(Call::query_bound);
  const gex::PublishedSegment segment = bound_segment(tm, rank, call);
  if (segment.size == 0) return 1;
  answer(segment, owneraddr_p, localaddr_p, size_p);
  return 0;
}

gex_Event_t gex_EP_QueryBoundSegmentNB(gex_TM_t tm, gex_Rank_t rank, void** owneraddr_p,
                                       void** localaddr_p, uintptr_t* size_p, gex_Flags_t flags) {
  // Allowed everywhere if it is not to wait.
  const Call call = Call::query_bound_nb;
  std::optional<InCall> in_call;
  if ((flags & GEX_FLAG_IMMEDIATE) == 0) in_call.emplace(call);
  gex::require_flags(flags, GEX_FLAG_IMMEDIATE, name_of(call));
  answer(bound_segment(tm, rank, call), owneraddr_p, localaddr_p, size_p);
  return GEX_EVENT_INVALID;
}

int gex_EP_BindSegment(gex_EP_t ep, gex_Segment_t segment, gex_Flags_t flags) {
  const InCall in_call(Call::bind_segment, InCall::set_up);
  const char* call = name_of(in_call);
  if (!gex::is_object(ep, call)) return GASNET_ERR_BAD_ARG;
  if (flags != 0) return refuse(GASNET_ERR_BAD_ARG, call, "there are no such flags");
  if (segment != GEX_SEGMENT_INVALID) segment_of(segment, call);
  if (segment != GEX_SEGMENT_INVALID && segment->client != ep->client)
    return refuse(GASNET_ERR_BAD_ARG, call, "the segment is another client's");
  if (segment != GEX_SEGMENT_INVALID && ep->segment != GEX_SEGMENT_INVALID)
    return refuse(GASNET_ERR_BAD_ARG, call, "the endpoint has a segment already");
  if (segment == GEX_SEGMENT_INVALID && ep->segment == GEX_SEGMENT_INVALID)
    return refuse(GASNET_ERR_BAD_ARG, call, "the endpoint has no segment to give up");
  gex::bind_segment(ep, segment);
  return GASNET_OK;
}

int gex_EP_PublishBoundSegment(gex_TM_t tm, gex_EP_t* eps, size_t num_eps, gex_Flags_t flags) {
  const InCall in_call(Call::publish, InCall::set_up);
  const char* call = name_of(in_call);
  Team& team = gex::require_team(tm, call);
  gex::warn_of_flags(flags, 0, call);
  const int flaw = refuse_published(team, eps, num_eps, call);
  // A caller whose arguments are wrong publishes nothing, and must not leave the others waiting.
  const int result = gex::team::publish(team, eps, flaw == GASNET_OK ? num_eps : 0);
  return flaw != GASNET_OK ? flaw : result;
}

}  // extern "C"
