#pragma once
// Restricted context: the table of calls with their verdicts, and the check.

#include "core/process.h"

namespace gex {

enum class Call : unsigned {
#define GEX_CALL(identifier, name, verdict) identifier,
#include "core/restricted_calls.def"
#undef GEX_CALL
  count
};

/// The call's name in the interface.
const char* name_of(Call call) noexcept;

/// Applies the call's verdict if the calling thread is in restricted context.
void judge_context(Call call) noexcept;

/// At the start of every call in the table.
inline void check_context(Call call) noexcept {
  if (checked()) [[unlikely]]
    judge_context(call);
}

}  // namespace gex
