#pragma once
// The GASNet-1 barrier: over the primordial team, split in two, with identifiers that must agree.
// It is a TeamBarrier of the kind that carries values (barrier_value.h).

#include <gasnetex.h>

#include <cstdint>

#include "team/barrier_value.h"

namespace gex::team {

struct BarrierArguments {
  int id = 0;
  int flags = 0;
};

/// The value of a rank that calls with these arguments.
BarrierValue value_of(const BarrierArguments& arguments) noexcept;
/// Returns true if a wait or try with these arguments does not fit a barrier whose combined value
/// is `value`. The flags of notify and wait may differ: one without an id fits any, and an id must
/// be the one in `value`, if that has one.
bool mismatches(const BarrierValue& value, const BarrierArguments& waited) noexcept;

void barrier_notify(int id, int flags) noexcept;
/// GASNET_OK, GASNET_ERR_BARRIER_MISMATCH, or with `wait` false GASNET_ERR_NOT_READY.
int barrier_finish(int id, int flags, bool wait);
/// Id of the last completed barrier; non-zero if it was anonymous.
int barrier_result(int* id) noexcept;

/// Barriers that this rank has notified, and whether the last of them is still under way.
struct NamedBarrierState {
  std::uint32_t notified;
  bool under_way;
};
NamedBarrierState named_barrier_state() noexcept;

}  // namespace gex::team
