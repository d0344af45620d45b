#pragma once
// An operation in flight, as the hang report and the timeline describe it.
//
// It is described where it is initiated (core/initiate.h) or waited for (wait_until), and only if
// it does not complete within its call. Operations with an event are shown in the event, the
// implicit ones, of which the thread only counts parts, by the last of each category, and whatever
// a call itself waits for by that wait once it has lasted some microseconds. So none of it costs
// more than a few stores, and what is fast nothing.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>

#include "job/rank_status.h"

namespace gex {

using OpKind = job::OpKind;
using OpRecord = job::OpRecord;

struct Op {
  OpKind kind = OpKind::none;
  std::uint16_t call = 0;  ///< `number_of` (observe/restricted.h) its call; 0: the library itself
  gex_Rank_t peer = OpRecord::no_peer;  ///< jobrank
  std::uint64_t bytes = 0;
  std::uint64_t team = 0;      ///< TeamId, of what members do together
  std::uint32_t sequence = 0;  ///< see OpKind

  static constexpr Op of_library(OpKind kind) noexcept { return {kind}; }
  /// Between this process and another.
  static constexpr Op with_peer(OpKind kind, std::uint16_t call, gex_Rank_t peer,
                                std::uint64_t bytes) noexcept {
    return {kind, call, peer, bytes};
  }
  /// Describes what the members of a team do together. `call` 0: a call of the library's own.
  static constexpr Op with_team(OpKind kind, std::uint16_t call, std::uint64_t team,
                                std::uint32_t sequence, std::uint64_t bytes = 0) noexcept {
    return {kind, call, OpRecord::no_peer, bytes, team, sequence};
  }
};

/// Shows the operation in a record; the time when it started is not known yet.
inline void show(OpRecord& record, const Op& op) noexcept {
  // Relaxed: readers check what they read, and see an operation that lasts as it was written.
  constexpr auto relaxed = std::memory_order_relaxed;
  record.bytes.store(op.bytes, relaxed);
  record.started.store(0, relaxed);
  record.team.store(op.team, relaxed);
  record.sequence.store(op.sequence, relaxed);
  record.peer.store(op.peer, relaxed);
  record.call.store(op.call, relaxed);
  record.kind.store(op.kind, relaxed);
}

/// The operation that a record shows.
inline Op shown(const OpRecord& record) noexcept {
  constexpr auto relaxed = std::memory_order_relaxed;
  return {record.kind.load(relaxed),  record.call.load(relaxed), record.peer.load(relaxed),
          record.bytes.load(relaxed), record.team.load(relaxed), record.sequence.load(relaxed)};
}

/// Notes that the operation has been found incomplete: it has begun by now at the latest.
void note_incomplete(OpRecord& record) noexcept;

}  // namespace gex
