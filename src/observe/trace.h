#pragma once
// The events that this process records in its trace (GEX_TRACE): calls, messages, handlers, waits,
// collective operations. trace_records.h describes a record, base/trace_file.h where it goes.
//
// Each function does nothing but a test of a word that never changes unless the job is traced.
// Functions in `detail` are called in traced jobs only.
//
// Thread rules: any thread, handlers and signal handlers included.

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "core/observed.h"
#include "core/wait_cause.h"
#include "observe/restricted.h"
#include "observe/trace_records.h"

namespace gex::trace {

/// Opens the trace if GEX_TRACE asks for one; start-up, before the first call is recorded. Ends the
/// job if it cannot be opened.
void start();
/// The process leaves its job; recording may go on. Async-signal-safe.
void finish() noexcept;

namespace detail {
void call_begin(Call call) noexcept;
void call_end(Call call, std::uint64_t id, std::uint8_t call_detail) noexcept;
void transfer(std::uint32_t peer, std::size_t bytes) noexcept;
void memory_way(MemoryWay way) noexcept;
void collective(Collective kind, std::uint64_t team, std::uint32_t number,
                std::uint32_t members) noexcept;
void operation_done(std::uint64_t id) noexcept;
void local_done(std::uint64_t id) noexcept;
void annotation_begin(const char* name) noexcept;
void annotation_end(const char* name) noexcept;
}  // namespace detail

/// Notes the peer and the payload of the call that the thread is in. A later note replaces it.
inline void transfer(std::uint32_t peer, std::size_t bytes) noexcept {
  if (traced()) [[unlikely]]
    detail::transfer(peer, bytes);
}

/// Notes how that transfer goes.
inline void memory_way(MemoryWay way) noexcept {
  if (traced()) [[unlikely]]
    detail::memory_way(way);
}

/// The calling member arrives at operation `number` of a team.
inline void collective(Collective kind, std::uint64_t team, std::uint32_t number,
                       std::uint32_t members) noexcept {
  if (traced()) [[unlikely]]
    detail::collective(kind, team, number, members);
}

/// A number for an operation that the current call leaves in flight; in traced jobs only. It is
/// recorded with the call.
std::uint64_t operation_begun() noexcept;
/// That operation found no room, and is not in flight.
void operation_withdrawn() noexcept;
/// Such an operation is complete; any thread.
inline void operation_done(std::uint64_t id) noexcept {
  if (traced()) [[unlikely]]
    detail::operation_done(id);
}
/// Its source may be written again.
inline void local_done(std::uint64_t id) noexcept {
  if (traced()) [[unlikely]]
    detail::local_done(id);
}

/// An interval of the client's own begins, or ends.
inline void annotation_begin(const char* name) noexcept {
  if (traced()) [[unlikely]]
    detail::annotation_begin(name);
}
inline void annotation_end(const char* name) noexcept {
  if (traced()) [[unlikely]]
    detail::annotation_end(name);
}

/// Waits, as core passes them on (core/observer.h); traced jobs only.
void wait_begins(WaitCause cause) noexcept;
void wait_ends(WaitCause cause) noexcept;

/// A message as am/ records it; in traced jobs only.
struct Message {
  std::uint64_t number;   ///< id of the record
  std::uint32_t peer;     ///< jobrank at its other end
  std::size_t bytes;      ///< of payload
  std::uint32_t handler;  ///< as handler_number
  std::uint8_t detail;    ///< MessageDetail without the endpoint
};
/// Records that it was sent, at `at` or a little later.
void message_sent(const Message& message, Tick at) noexcept;
void handler_begin(const Message& message) noexcept;
/// The last record was a handler's begin, and the handler does not run now.
void handler_put_off() noexcept;
void handler_end(const Message& message) noexcept;

/// The client's name for a handler, if it has given one; for the library's own, any endpoint's.
void name_handler(std::uint32_t handler, const char* name) noexcept;
void name_fact(Fact fact, const char* text) noexcept;

}  // namespace gex::trace
