// Entry points: events, implicit operations, access regions.

#include "core/event.h"

#include <gasnetex.h>

#include "core/restricted.h"

using gex::Call;
using gex::check_context;

extern "C" {

int gex_event_test_(gex_Event_t event) {
  check_context(Call::event_test);
  return gex::test_event(event);
}
void gex_event_wait_(gex_Event_t event) {
  check_context(Call::event_wait);
  gex::wait_event(event);
}
int gex_Event_TestSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  check_context(Call::event_test_some);
  return gex::test_some(pevent, numevents);
}
void gex_Event_WaitSome(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  check_context(Call::event_wait_some);
  gex::wait_some(pevent, numevents);
}
int gex_Event_TestAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  check_context(Call::event_test_all);
  return gex::test_all(pevent, numevents);
}
void gex_Event_WaitAll(gex_Event_t* pevent, size_t numevents, gex_Flags_t) {
  check_context(Call::event_wait_all);
  gex::wait_all(pevent, numevents);
}
gex_Event_t gex_Event_QueryLeaf(gex_Event_t root, gex_EC_t event_category) {
  check_context(Call::query_leaf);
  return gex::query_leaf(root, event_category);
}
int gex_NBI_Test(gex_EC_t event_mask, gex_Flags_t) {
  check_context(Call::nbi_test);
  return gex::test_implicit(event_mask);
}
void gex_NBI_Wait(gex_EC_t event_mask, gex_Flags_t) {
  check_context(Call::nbi_wait);
  gex::wait_implicit(event_mask);
}
void gex_NBI_BeginAccessRegion(gex_Flags_t) {
  check_context(Call::begin_region);
  gex::begin_region();
}
gex_Event_t gex_NBI_EndAccessRegion(gex_Flags_t) {
  check_context(Call::end_region);
  return gex::end_region();
}

}  // extern "C"
