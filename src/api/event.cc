// Entry points: events, implicit operations, access regions.

#include "core/event.h"

#include <gasnetex.h>

#include "api/require.h"
#include "base/error.h"
#include "observe/in_call.h"

using gex::Call;
using gex::fatal;
using gex::in_call;

namespace {

template <class AnyCall>
void check_array(const AnyCall& call, const gex_Event_t* events, std::size_t count,
                 gex_Flags_t flags) {
  if (!call.is_checked()) return;
  gex::require_flags(flags, 0, name_of(call));
  if (events == nullptr && count != 0) fatal("%s: the array of events is null", name_of(call));
  for (std::size_t i = 0; i < count; ++i)
    if (events[i] == GEX_EVENT_NO_OP)
      fatal("%s: event %zu is GEX_EVENT_NO_OP, which cannot be tested or waited for", name_of(call),
            i);
}

template <class AnyCall>
void check_implicit(const AnyCall& call, gex_EC_t mask, gex_Flags_t flags) {
  if (!call.is_checked()) return;
  gex::require_flags(flags, 0, name_of(call));
  if ((mask & ~GEX_EC_ALL) != 0)
    fatal("%s: 0x%x holds bits that are not event categories", name_of(call), mask & ~GEX_EC_ALL);
}

template <class AnyCall>
void check_region(const AnyCall& call, gex_Flags_t flags) {
  if (call.is_checked()) gex::require_flags(flags, 0, name_of(call));
}

}  // namespace

extern "C" {

int gex_event_test_(gex_Event_t event) {
  return in_call(Call::event_test, [=](auto& call) noexcept {
    call.concerns(event);
    return call.answers(gex::test_event(event));
  });
}
void gex_event_wait_(gex_Event_t event) {
  in_call(Call::event_wait, [=](auto& call) {
    call.concerns(event);
    gex::wait_event(event);
  });
}
int gex_Event_TestSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags) {
  return in_call(Call::event_test_some, [=](auto& call) noexcept {
    check_array(call, pevent, numevents, flags);
    return call.answers(gex::test_some(pevent, numevents));
  });
}
void gex_Event_WaitSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags) {
  in_call(Call::event_wait_some, [=](auto& call) {
    check_array(call, pevent, numevents, flags);
    gex::wait_some(pevent, numevents);
  });
}
int gex_Event_TestAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags) {
  return in_call(Call::event_test_all, [=](auto& call) noexcept {
    check_array(call, pevent, numevents, flags);
    return call.answers(gex::test_all(pevent, numevents));
  });
}
void gex_Event_WaitAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t flags) {
  in_call(Call::event_wait_all, [=](auto& call) {
    check_array(call, pevent, numevents, flags);
    gex::wait_all(pevent, numevents);
  });
}
gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category) {
  return in_call(Call::query_leaf,
                 [=](auto&) noexcept { return gex::query_leaf(root, event_category); });
}
int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t flags) {
  return in_call(Call::nbi_test, [=](auto& call) noexcept {
    check_implicit(call, event_mask, flags);
    return call.answers(gex::test_implicit(event_mask));
  });
}
void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t flags) {
  in_call(Call::nbi_wait, [=](auto& call) {
    check_implicit(call, event_mask, flags);
    gex::wait_implicit(event_mask);
  });
}
void gex_NBI_BeginAccessRegion(gex_Flags_t flags) {
  in_call(Call::begin_region, [=](auto& call) noexcept {
    check_region(call, flags);
    gex::begin_region();
  });
}
gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t flags) {
  return in_call(Call::end_region, [=](auto& call) noexcept {
    check_region(call, flags);
    return call.returns(gex::end_region());
  });
}

}  // extern "C"
