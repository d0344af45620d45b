#pragma once
// The call of the interface that a rank has begun last: what its guardian says of it when it dies.
//
// It lies in the job page, which outlives the rank, since one that is killed says nothing itself.
// Guardian and rank may be of different builds, so the names of calls lie there too, each put down
// when it is first needed; a number then names the call in one store.
//
//   last_call.begin(put, "gex_RMA_PutBlocking", thread);        " while in gex_RMA_PutBlocking"
//   last_call.finish(put, thread, LastCall::none);              " after gex_RMA_PutBlocking"
//
// Of several threads' calls the last one begun counts. Calls nest, a handler's in the one that
// polls: the innermost counts, and when it returns the one around it does again.
//
// Memory that begins as zeros is one of which nothing is known. Thread rules: `begin`, `finish` and
// `forget` from any thread of the rank and from signal handlers; `describe` from whoever maps the
// page.

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "base/cache_line.h"

namespace gex::boot {

class LastCall {
 public:
  /// Calls are numbered from 1 and below `max_calls`; of more, nothing is noted.
  static constexpr std::uint32_t max_calls = 192;
  static constexpr std::uint32_t none = 0;
  /// Characters of a name that are kept.
  static constexpr std::size_t max_name = 63;

  /// `thread` has begun `call`.
  void begin(std::uint32_t call, const char* name, std::uint32_t thread) noexcept;

  /// `call` of `thread` has returned, into `outer` of the same thread unless that is `none`.
  /// Changes nothing if a later call of another thread is noted.
  void finish(std::uint32_t call, std::uint32_t thread, std::uint32_t outer) noexcept;

  /// The same for a `call` in no other, after which come calls that are not noted.
  void forget(std::uint32_t call, std::uint32_t thread) noexcept;

  /// " while in NAME", " after NAME", or "" if no call is known. What lies in the page is not
  /// trusted: a name that is none is not known.
  std::string describe() const;

 private:
  using Word = std::atomic<std::uint64_t>;
  using Name = std::array<Word, (max_name + 1) / sizeof(std::uint64_t)>;

  void replace(std::uint64_t noted, std::uint64_t by) noexcept;

  Word noted_{0};
  alignas(cache_line) std::array<Name, max_calls> names_{};
};

}  // namespace gex::boot
