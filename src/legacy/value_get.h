#pragma once
// Non-blocking gets of values (gasnet_get_nb_val) that have to wait, or whose value has all bits:
// each is a get into a record of its own, which the handle names. A thread keeps the records that
// it no longer needs.

#include <gasnet.h>

#include "rma/rma.h"

namespace gex {

struct ValueGet {
  gex_RMA_Value_t value = 0;
  gex_Event_t event = GEX_EVENT_INVALID;
  bool in_use = false;
  ValueGet* next = nullptr;
};

namespace legacy {

/// Reads `size` (1 to 8) bytes at `address` of `node`.
gasnet_valget_handle_t start_value_get(gasnet_node_t node, void* address, std::size_t size);
/// Waits and ends the handle; `call` is for messages.
gasnet_register_value_t finish_value_get(gasnet_valget_handle_t handle, const char* call);

}  // namespace legacy

}  // namespace gex
