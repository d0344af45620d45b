// Entry points: memory kinds.

#include <gasnet_mk.h>
#include <gex/mk_streams.h>

#include <string>

#include "api/require.h"
#include "base/error.h"
#include "core/process.h"
#include "core/refuse.h"
#include "core/team.h"
#include "kinds/kinds.h"
#include "observe/in_call.h"
#include "rma/rma.h"
#include "rma/stream_order.h"
#include "way/memory_route.h"

namespace {

using gex::Call;
using gex::refuse;

/// The kind behind a handle that is not the host's.
const gex::MemoryKind& device_kind(gex_MK_t kind, const char* call) {
  if (kind == GEX_MK_HOST || !gex::kinds::exists(kind))
    gex::fatal("%s: the memory kind is GEX_MK_HOST or does not exist; a device's is needed", call);
  return *kind->kind;
}

}  // namespace

extern "C" {

int gex_MK_Create(gex_MK_t* memkind_p, gex_Client_t client, const gex_MK_Create_args_t* args,
                  gex_Flags_t flags) {
  const gex::InCall in_call(Call::mk_create, gex::InCall::set_up);
  const char* call = name_of(in_call);
  if (!gex::is_object(client, call)) return GASNET_ERR_BAD_ARG;
  if (memkind_p == nullptr) return refuse(GASNET_ERR_BAD_ARG, call, "memkind_p is null");
  if (args == nullptr) return refuse(GASNET_ERR_BAD_ARG, call, "args is null");
  gex::warn_of_flags(flags | static_cast<gex_Flags_t>(args->gex_flags | args->gex_flags >> 32), 0,
                     call);
  if (!gex::kinds::is_class(args->gex_class))
    return refuse(GASNET_ERR_BAD_ARG, call, "there is no such class");
  if (args->gex_class == GEX_MK_CLASS_HOST) {
    *memkind_p = GEX_MK_HOST;
    return GASNET_OK;
  }
  std::string why;
  const int result = gex::kinds::create(*memkind_p, client, *args, why);
  // No misuse: a client finds out so what this library and the machine have.
  if (result == GASNET_ERR_RESOURCE)
    gex::require_memory(gex::kinds::memory_class_of(args->gex_class), why);
  if (result != GASNET_OK && gex::verbose_errors.load(std::memory_order_relaxed))
    gex::warn("%s: %s", call, why.c_str());
  return result;
}

void gex_MK_Destroy(gex_MK_t memkind, gex_Flags_t flags) {
  const gex::InCall in_call(Call::mk_destroy, gex::InCall::set_up);
  const char* call = name_of(in_call);
  gex::warn_of_flags(flags, 0, call);
  if (memkind == GEX_MK_HOST) return;
  if (!gex::kinds::exists(memkind))
    gex::fatal(memkind == GEX_MK_INVALID ? "%s: the memory kind is GEX_MK_INVALID"
                                         : "%s: there is no such memory kind",
               call);
  if (const std::uint32_t segments = memkind->segments.load(std::memory_order_relaxed))
    gex::fatal("%s: the memory kind has %u segment(s)", call, segments);
  gex::kinds::destroy(memkind);
}

gex_Event_t gex_MK_PutAfterNB(gex_TM_t tm, gex_Rank_t rank, void* dest, void* src, size_t nbytes,
                              gex_MK_t kind, void* device_event, gex_Flags_t flags) {
  const gex::InCall in_call(Call::mk_put_after);
  const gex::MemoryKind& of = device_kind(kind, name_of(in_call));
  if (gex::checked()) gex::require_peer(tm, rank, name_of(in_call));
  const gex::rma::ResolvedTransfer transfer =
      gex::rma::resolve_transfer(tm, rank, src, dest, nbytes, flags & ~GEX_FLAG_IMMEDIATE, in_call);
  if (nbytes == 0) return GEX_EVENT_INVALID;
  return gex::rma::put_after(transfer, of, device_event, flags);
}

void gex_MK_StreamWait(gex_MK_t kind, void* stream, gex_Event_t event, gex_Flags_t flags) {
  const gex::InCall in_call(Call::mk_stream_wait);
  const char* call = name_of(in_call);
  gex::warn_of_flags(flags, 0, call);
  if (event == GEX_EVENT_NO_OP) gex::fatal("%s: the event is GEX_EVENT_NO_OP", call);
  gex::rma::hold_stream(device_kind(kind, call), stream, event, in_call);
}

void* gex_MK_QueryPeerPointer(gex_TM_t tm, gex_Rank_t rank) {
  if (gex::checked()) gex::require_peer(tm, rank, __func__);
  const gex::PublishedSegment segment = gex::resolve(tm, rank).segment();
  return segment.memory_class == gex::net::host_memory ? nullptr : segment.reached;
}

}  // extern "C"
