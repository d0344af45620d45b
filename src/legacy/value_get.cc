#include "legacy/value_get.h"

#include "base/error.h"
#include "core/event.h"
#include "core/thread.h"
#include "observe/restricted.h"

namespace gex::legacy {

namespace {

/// The records that a thread no longer needs, the first of them.
using FreeSlot = Slot<ThreadRecord, ThreadSlot::value_gets, ValueGet>;

ValueGet& take_record(ThreadRecord& thread) {
  auto* record = FreeSlot::of(thread);
  if (record == nullptr) record = new ValueGet;
  FreeSlot::set(thread, record->next);
  record->value = 0;
  record->in_use = true;
  return *record;
}

void give_back(ThreadRecord& thread, ValueGet& record) {
  record.in_use = false;
  record.next = FreeSlot::of(thread);
  FreeSlot::set(thread, &record);
}

}  // namespace

gasnet_valget_handle_t start_value_get(gasnet_node_t node, void* address, std::size_t size) {
  ValueGet& record = take_record(this_thread());
  void* bytes = const_cast<void*>(gex_value_bytes_(&record.value, size));
  record.event = rma::get_explicit(rma::resolve_transfer(gex_proc_.gasnet1_team, node, bytes,
                                                         address, size, 0, Call::get_nb_value),
                                   0);
  return reinterpret_cast<gasnet_valget_handle_t>(&record);
}

gasnet_register_value_t finish_value_get(gasnet_valget_handle_t handle, const char* call) {
  auto* record = reinterpret_cast<ValueGet*>(handle);
  if (record == nullptr) fatal("%s: the handle is null", call);
  if (!record->in_use) fatal("%s: the handle was already synchronised", call);
  if (record->event != GEX_EVENT_INVALID) wait_event(record->event);
  const gasnet_register_value_t value = record->value;
  give_back(this_thread(), *record);
  return value;
}

}  // namespace gex::legacy
