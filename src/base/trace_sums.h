#pragma once
// The format of the file NAME.sums beside traces: what the ranks that are not traced have done, in
// sums over all of them (GEX_TRACE_RANKS). Each such rank adds its own when it ends.
//
//   header   SumsHeader
//   rows     Sum[header.rows]

#include <cstdint>

namespace gex::trace {

inline constexpr char sums_magic[8] = {'g', 'e', 'x', 's', 'u', 'm', 's', '1'};

struct SumsHeader {
  char magic[8];
  std::uint32_t job_size;
  std::uint32_t ranks;  ///< that have added theirs
  std::uint32_t rows;
  std::uint32_t unused;
};
static_assert(sizeof(SumsHeader) == 24);

enum class SumKind : std::uint32_t { call = 1, wait, message, handler };

/// A sum of the calls of one function, waits for one cause, messages sent, or handlers.
struct Sum {
  char name[44];  ///< ends in a zero byte
  SumKind kind;
  std::uint64_t count;
  std::uint64_t ns;
  std::uint64_t bytes;
};
static_assert(sizeof(Sum) == 72);

}  // namespace gex::trace
