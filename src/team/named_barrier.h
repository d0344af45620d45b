#pragma once
// The GASNet-1 barrier: over the primordial team, split in two, with identifiers that must agree.
//
// Dissemination of values: "nothing named yet", "id N", or "mismatch". Combining two of these is
// idempotent, so a value that reaches a rank twice does no harm.

#include <gasnetex.h>

#include <cstdint>

namespace gex::team {

enum class Knowledge : std::int32_t { anonymous, named, mismatch };

struct BarrierValue {
  Knowledge knowledge = Knowledge::anonymous;
  std::int32_t id = 0;
};

struct BarrierArguments {
  int id = 0;
  int flags = 0;
};

/// The value of a rank that calls with these arguments.
BarrierValue value_of(const BarrierArguments& arguments) noexcept;
BarrierValue combine(const BarrierValue& a, const BarrierValue& b) noexcept;
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

void start_named_barrier();

}  // namespace gex::team
