#include <upcxx/vis.hpp>

#include <cstddef>

#include "process.h"

namespace upcxx::detail {
namespace {

static_assert(sizeof(Range) == sizeof(gex_Memvec_t) &&
                  offsetof(Range, address) == offsetof(gex_Memvec_t, gex_addr) &&
                  offsetof(Range, bytes) == offsetof(gex_Memvec_t, gex_len),
              "ranges are libgex's");

const gex_Memvec_t* list(const std::vector<Range>& ranges) {
  return reinterpret_cast<const gex_Memvec_t*>(ranges.data());
}

/// `event` is that of a transfer just begun, with a leaf for its source unless that is free.
void follow(Operation* operation, gex_Event_t event, bool has_source_event) {
  if (operation == nullptr) {
    gex_Event_Wait(event);
    return;
  }
  operation->event = event;
  if (has_source_event && event != GEX_EVENT_INVALID) {
    operation->source_event = gex_Event_QueryLeaf(event, GEX_EC_LC);
  }
  watch(operation);
}

/// A put from memory that is not to be used after the call waits for its source here.
void free_source(gex_Event_t event) {
  if (event != GEX_EVENT_INVALID) gex_Event_Wait(gex_Event_QueryLeaf(event, GEX_EC_LC));
}

}  // namespace

void start_ranges(Operation* operation, Direction direction, intrank_t rank, const Ranges& ranges,
                  bool source_is_free) {
  const auto& [here, there] = ranges;
  if (direction == Direction::get) {
    follow(operation,
           gex_VIS_VectorGetNB(process().world, here.size(), list(here), gex_Rank_t(rank),
                               there.size(), list(there), 0),
           false);
    return;
  }
  const gex_Event_t event =
      gex_VIS_VectorPutNB(process().world, gex_Rank_t(rank), there.size(), list(there), here.size(),
                          list(here), GEX_FLAG_ENABLE_LEAF_LC);
  if (source_is_free) free_source(event);
  follow(operation, event, !source_is_free);
}

void start_strided(Operation* operation, Direction direction, intrank_t rank, const Shape& shape,
                   bool source_is_free) {
  auto* const there = reinterpret_cast<void*>(shape.there);
  if (direction == Direction::get) {
    follow(operation,
           gex_VIS_StridedGetNB(process().world, shape.here, shape.strides_here, gex_Rank_t(rank),
                                there, shape.strides_there, shape.element_bytes, shape.extents,
                                shape.dimensions, 0),
           false);
    return;
  }
  const gex_Event_t event = gex_VIS_StridedPutNB(
      process().world, gex_Rank_t(rank), there, shape.strides_there, shape.here, shape.strides_here,
      shape.element_bytes, shape.extents, shape.dimensions, GEX_FLAG_ENABLE_LEAF_LC);
  if (source_is_free) free_source(event);
  follow(operation, event, !source_is_free);
}

}  // namespace upcxx::detail
