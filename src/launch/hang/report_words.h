#pragma once
// The words that the text and the JSON of a hang report have in common.

#include <cstddef>
#include <string>

#include "job/rank_status.h"
#include "launch/hang/rank_report.h"

namespace gex::launch {

[[gnu::format(printf, 1, 2)]] std::string text_of(const char* format, ...);

/// "put", "barrier", ...: as docs/hangs.md lists kinds.
const char* name_of(job::OpKind kind) noexcept;

/// "by messages", for example: how a put or a get of a device's memory goes; null: of other
/// operations.
const char* memory_way_of(const OpReport& op) noexcept;

/// "A" for 0, "B", ..., "Z", "27", ...
std::string letter_of(std::size_t number);

}  // namespace gex::launch
