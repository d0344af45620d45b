#pragma once
// The meaning of the records of a trace file (base/trace_format.h has the format). Read by gextrace
// too, which links no room but base: constants only.

#include <cstdint>

#include "core/wait_cause.h"
#include "job/memory_way.h"

namespace gex::trace {

/// The kinds of records. Fields that are not named are 0.
enum class Kind : std::uint8_t {
  none = 0,
  /// A call of the interface begins. `what`: its number; `peer`, `bytes`: where they were known by
  /// the time it ended.
  call_begin = 1,
  /// It returns. `what`, `peer`, `bytes`; `detail`: CallDetail; `id`: the handle of the event that
  /// it returns or has waited for, or (has_number) the number of the operation that it leaves in
  /// flight.
  call_end = 2,
  /// Calls that only ask (polls, tests), one after the other, in which nothing happened. `ticks`:
  /// the first one's begin; `id`: the last one's end in ticks; `bytes`: how many; `what`: the first
  /// one's number; `detail`: 1 if there were calls of several functions.
  questions = 3,
  /// The operation of number `id` is complete; or its source may be written again.
  operation_done = 4,
  local_done = 5,
  /// A message is sent. `id`: its number; `peer`: the target's jobrank; `bytes`: of payload;
  /// `what` and `detail`: as handler_of and MessageDetail.
  message_sent = 6,
  /// A handler begins, and returns. `peer`: the source's jobrank, otherwise as message_sent; over a
  /// network `id` has the lower `network_id_bits` of the number only.
  handler_begin = 7,
  handler_end = 8,
  /// A call begins to wait, polling; `what`: WaitCause.
  wait_begin = 9,
  wait_end = 10,
  /// The rank arrives at a collective operation. `id`: the team; `bytes`: the number of the
  /// operation in that team; `peer`: members; `detail`: Collective.
  collective = 11,
  /// The event whose handle is `bytes` stands for the operation of number `id`; just before the end
  /// of the call that returns it.
  event_of_operation = 12,
  /// A call in which nothing else is recorded, and that returns no event and leaves nothing in
  /// flight. `ticks`: its begin; `id`: its end in ticks; otherwise as call_end.
  call = 13,
  /// An interval that a layer above the interface has named begins, and ends. `what`: its number.
  annotation_begin = 14,
  annotation_end = 15,
};
inline constexpr auto last_kind = Kind::annotation_end;

/// Where there is no peer, or several.
inline constexpr std::uint32_t no_peer = ~0U;

enum CallDetail : std::uint8_t {
  refused = 1,    ///< an immediate call found no room and did nothing
  not_ready = 2,  ///< a test found the operation incomplete
  has_peer = 4,   ///< peer and bytes are known
  has_number = 8,
  // The next `memory_way_bits` are the MemoryWay of a put or a get.
};
inline constexpr unsigned memory_way_shift = 4;
constexpr std::uint8_t detail_of(MemoryWay way) noexcept {
  return static_cast<std::uint8_t>(static_cast<unsigned>(way) << memory_way_shift);
}
constexpr MemoryWay memory_way_of(std::uint8_t call_detail) noexcept {
  return static_cast<MemoryWay>(call_detail >> memory_way_shift & ((1U << memory_way_bits) - 1));
}

enum MessageDetail : std::uint8_t {
  category_bits = 3,  ///< 0 short, 1 medium, 2 long
  is_reply = 4,
  by_network = 8,
  to_itself = 16,
  by_shared_ring = 32,
  in_another = by_network | to_itself,  ///< a handler whose message is part of another one
  endpoint_shift = 6,                   ///< above it, bits 8 and 9 of the target endpoint's address
};
inline constexpr unsigned network_id_bits = 12;

/// A handler: its index, and the address of the endpoint that has it, of which `what` holds the
/// lower 8 bits.
constexpr std::uint32_t handler_number(std::uint8_t index, unsigned endpoint_address) noexcept {
  return index | std::uint32_t{endpoint_address} << 8;
}
constexpr std::uint32_t handler_of(std::uint16_t what, std::uint8_t detail) noexcept {
  return what | std::uint32_t{detail} >> endpoint_shift << 16;
}
/// Handlers below it are the library's own.
inline constexpr unsigned first_client_handler = 128;

enum class Collective : std::uint8_t { barrier = 0, operation = 1 };

/// The spaces of names in the file.
enum class Names : std::uint32_t {
  calls = 1,
  classes = 2,   ///< by call: what kind of call it is (Class)
  handlers = 3,  ///< by handler_number
  causes = 4,
  facts = 5,        ///< by Fact
  annotations = 6,  ///< of intervals
};

/// The names of WaitCause.
inline constexpr const char* cause_names[] = {"completion", "local completion", "room", "barrier",
                                              "collective", "exchange",         "lock"};
static_assert(sizeof cause_names / sizeof *cause_names == wait_causes);

enum class Fact : std::uint32_t { conduit = 1, library_version = 2, threading_mode = 3 };

}  // namespace gex::trace
