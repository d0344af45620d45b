#pragma once
// The table of calls (restricted_calls.def): what each is, and whether it is legal in restricted
// context, which is checked here.

#include <cstdint>

#include "core/observed.h"

namespace gex {

enum class Call : unsigned {
#define GEX_CALL(identifier, ...) identifier,
#include "observe/restricted_calls.def"
#undef GEX_CALL
  count
};

/// The call's name in the interface; where the process uses GASNet-1, its name there besides.
const char* name_of(Call call) noexcept;

/// Calls as they are numbered in memory that others read (job/last_call.h): from 1.
constexpr std::uint16_t number_of(Call call) noexcept {
  return static_cast<std::uint16_t>(static_cast<unsigned>(call) + 1);
}

/// The kind of a call, by which readers of traces distinguish calls.
enum class CallKind : std::uint8_t {
  set_up,
  query,
  poll,
  message,
  put,
  get,
  atomic,
  region,
  synchronize,
  collective,
};
CallKind kind_of(Call call) noexcept;
const char* name_of(CallKind kind) noexcept;

/// The role of a call in a job's progress.
enum class CallRole : std::uint8_t {
  begins,  ///< an operation, a message or something that members of a team do together
  asks,    ///< and only that, over and over perhaps: a poll, or a test of what is in flight
  waits,   ///< for what has begun before
  local,   ///< neither: what it does stays in this process
};
CallRole role_of(Call call) noexcept;

/// Applies the call's verdict if the calling thread is in restricted context; checked mode, at the
/// start of every call in the table: InCall (in_call.h) does it.
void check_context(Call call) noexcept;

/// A further context in which calls are restricted, of the calling thread: `applies` returns true
/// there, and `where` names it ("in a reduction operator"). Start-up only.
void register_restriction(bool (*applies)() noexcept, const char* where) noexcept;

/// Between gasnet_init and gasnet_attach no call of the table is allowed, except to other clients.
bool awaiting_attach() noexcept;
void set_awaiting_attach(bool awaiting) noexcept;

}  // namespace gex
