#pragma once
// The arguments of a strided call, and the naive loop over them that every transfer is held
// against.

#include <cstddef>
#include <vector>

namespace naive {

/// The arguments of a strided call.
struct Strided {
  std::size_t element = 1;
  std::vector<std::size_t> count;
  std::vector<std::ptrdiff_t> remote;
  std::vector<std::ptrdiff_t> local;
};

/// Calls `visit(remote offset, local offset)` for each element, the first dimension innermost.
template <class Visit>
void naive_loop(const Strided& strided, Visit visit) {
  if (strided.element == 0) return;
  for (const std::size_t count : strided.count)
    if (count == 0) return;
  std::vector<std::size_t> turn(strided.count.size());
  for (;;) {
    std::ptrdiff_t remote = 0;
    std::ptrdiff_t local = 0;
    for (std::size_t i = 0; i < turn.size(); ++i) {
      remote += static_cast<std::ptrdiff_t>(turn[i]) * strided.remote[i];
      local += static_cast<std::ptrdiff_t>(turn[i]) * strided.local[i];
    }
    visit(remote, local);
    std::size_t i = 0;
    while (i < turn.size() && ++turn[i] == strided.count[i]) turn[i++] = 0;
    if (i == turn.size()) return;
  }
}

}  // namespace naive
