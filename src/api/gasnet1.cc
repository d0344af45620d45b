// Entry points: GASNet-1, as far as it is not inline over GASNet-EX.

#include <gasnet.h>

#include "api/require.h"
#include "base/error.h"
#include "core/event.h"
#include "core/objects.h"
#include "core/progress.h"
#include "core/refuse.h"
#include "core/team.h"
#include "core/thread.h"
#include "legacy/attach.h"
#include "legacy/memset.h"
#include "legacy/value_get.h"
#include "observe/in_call.h"

namespace {

using gex::Call;
using gex::checked;
using gex::fatal;
using gex::in_call;
using gex::InCall;

/// Where holding and resuming interrupts means nothing.
bool without_interrupts(const gex::ThreadRecord& thread) {
  return thread.handler_depth != 0 || thread.held_locks != 0;
}

void check_peer(Call call, gasnet_node_t node) {
  if (checked()) gex::require_peer(gex_proc_.gasnet1_team, node, name_of(call));
}

gex::rma::ResolvedTransfer memset_target(Call call, gasnet_node_t node, void* dest,
                                         std::size_t nbytes) {
  check_peer(call, node);
  // Every transfer has a local end; this one's is not used.
  static char nothing;
  return gex::rma::resolve_transfer(gex_proc_.gasnet1_team, node, &nothing, dest, nbytes, 0, call);
}

/// Polls, unlike what precedes gex_Event_Test and its like.
template <class AnyCall>
void before_try(const AnyCall& call, const gasnet_handle_t* handles, std::size_t count) {
  if (call.is_checked() && handles == nullptr && count != 0)
    fatal("%s: the array of handles is null", name_of(call));
  gex::poll();
}

}  // namespace

extern "C" {

void gasnet_QueryGexObjects(gex_Client_t* client_p, gex_EP_t* endpoint_p, gex_TM_t* tm_p,
                            gex_Segment_t* segment_p) {
  const gex_TM_t tm = gex_proc_.gasnet1_team;
  if (tm == GEX_TM_INVALID)
    fatal(
        "gasnet_QueryGexObjects: neither gasnet_init nor gex_Client_Init with "
        "GEX_FLAG_USES_GASNET1 was called");
  const gex_EP_t endpoint = gex::Team::from(tm).endpoint;
  if (client_p != nullptr) *client_p = endpoint->client;
  if (endpoint_p != nullptr) *endpoint_p = endpoint;
  if (tm_p != nullptr) *tm_p = tm;
  if (segment_p != nullptr) *segment_p = endpoint->segment;
}

int gasnet_init(int* argc, char*** argv) {
  if (gex_proc_.gasnet1_team != GEX_TM_INVALID)
    return gex::refuse(GASNET_ERR_RESOURCE, "gasnet_init", "a client uses GASNet-1 already");
  gex_Client_t client = GEX_CLIENT_INVALID;
  gex_EP_t endpoint = GEX_EP_INVALID;
  gex_TM_t tm = GEX_TM_INVALID;
  const int result =
      gex_Client_Init(&client, &endpoint, &tm, "GASNET1", argc, argv, GEX_FLAG_USES_GASNET1);
  if (result == GASNET_OK) gex::set_awaiting_attach(true);
  return result;
}

int gasnet_attach(gasnet_handlerentry_t* table, int numentries, uintptr_t segsize,
                  uintptr_t minheapoffset) {
  if (gex_proc_.gasnet1_team == GEX_TM_INVALID)
    return gex::refuse(GASNET_ERR_NOT_INIT, "gasnet_attach", "gasnet_init was not called");
  if (!gex::awaiting_attach())
    return gex::refuse(GASNET_ERR_RESOURCE, "gasnet_attach",
                       "already attached, or the client was made by gex_Client_Init");
  const InCall call(Call::attach, InCall::set_up);
  return gex::legacy::attach(table, numentries, segsize, minheapoffset, [](gex_Segment_t segment) {
    gex::set_awaiting_attach(false);
    if (gasnet_client_attach_hook == nullptr) return;
    if (segment != GEX_SEGMENT_INVALID)
      gasnet_client_attach_hook(segment->address, segment->size);
    else
      gasnet_client_attach_hook(nullptr, 0);
  });
}

void gex_hold_interrupts_(void) {
  gex::ThreadRecord& thread = gex::this_thread();
  if (without_interrupts(thread)) return;
  if (checked() && thread.interrupts_held)
    fatal("gasnet_hold_interrupts: this thread is in a no-interrupt section already");
  thread.interrupts_held = true;
}

void gex_resume_interrupts_(void) {
  gex::ThreadRecord& thread = gex::this_thread();
  if (without_interrupts(thread)) return;
  if (checked() && !thread.interrupts_held)
    fatal("gasnet_resume_interrupts: this thread is not in a no-interrupt section");
  thread.interrupts_held = false;
}

void gex_memset_(gasnet_node_t node, void* dest, int val, size_t nbytes) {
  const InCall call(Call::memset_blocking);
  gex::legacy::memset_blocking(memset_target(call, node, dest, nbytes), val);
}
void gex_memset_nbi_(gasnet_node_t node, void* dest, int val, size_t nbytes) {
  const InCall call(Call::memset_nbi);
  gex::legacy::memset_implicit(memset_target(call, node, dest, nbytes), val);
}
gasnet_handle_t gex_memset_nb_(gasnet_node_t node, void* dest, int val, size_t nbytes) {
  InCall call(Call::memset_nb);
  return call.returns(gex::legacy::memset_explicit(memset_target(call, node, dest, nbytes), val));
}

gasnet_valget_handle_t gex_get_nb_val_(gasnet_node_t node, void* src, size_t nbytes) {
  const InCall call(Call::get_nb_value);
  check_peer(call, node);
  gex::require_value_size(nbytes, name_of(call));
  return gex::legacy::start_value_get(node, src, nbytes);
}
gasnet_register_value_t gex_wait_valget_(gasnet_valget_handle_t handle) {
  const InCall call(Call::wait_value);
  return gex::legacy::finish_value_get(handle, name_of(call));
}

int gex_try_syncnb_(gasnet_handle_t handle) {
  return in_call(Call::try_syncnb, [=](auto& call) noexcept {
    before_try(call, nullptr, 0);
    call.concerns(handle);
    return call.answers(handle == GASNET_INVALID_HANDLE ? GASNET_OK : gex::test_event(handle));
  });
}
int gasnet_try_syncnb_all(gasnet_handle_t* handles, size_t numhandles) {
  return in_call(Call::try_syncnb_all, [=](auto& call) noexcept {
    before_try(call, handles, numhandles);
    return call.answers(gex::test_all(handles, numhandles));
  });
}
int gasnet_try_syncnb_some(gasnet_handle_t* handles, size_t numhandles) {
  return in_call(Call::try_syncnb_some, [=](auto& call) noexcept {
    before_try(call, handles, numhandles);
    return call.answers(gex::test_some(handles, numhandles));
  });
}
int gex_try_syncnbi_(gex_EC_t categories) {
  return in_call(Call::try_syncnbi, [=](auto& call) noexcept {
    before_try(call, nullptr, 0);
    return call.answers(gex::test_implicit(categories));
  });
}

}  // extern "C"
