#pragma once
// The call that a rank has begun last, which its guardian names in the message about its death.
//
// It is stored in the job page, which outlives a rank that is killed. Guardian and rank may be of
// different builds, so the page also holds the names of calls; a rank stores a name when it is
// first needed, and from then on refers to it by a number, in one store.
//
//   last_call.begin(put, "gex_RMA_PutBlocking", thread);        " while in gex_RMA_PutBlocking"
//   last_call.finish(put, thread, LastCall::none);              " after gex_RMA_PutBlocking"
//
// With several threads, the call that was begun last counts. Calls nest if a handler runs inside a
// polling call: the innermost one counts, and the outer one again once that has returned.
//
// Zero memory is a valid record without a call. Thread rules: `begin`, `finish` and `forget` from
// any thread of the rank and from signal handlers; `describe` from any process that maps the page.

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "base/cache_line.h"

namespace gex::job {

class LastCall {
 public:
  /// Calls are numbered from 1 and below `max_calls`; others are not recorded.
  static constexpr std::uint32_t max_calls = 192;
  static constexpr std::uint32_t none = 0;
  /// Characters of a name that are stored.
  static constexpr std::size_t max_name = 63;

  /// Stores the name of a call, so that readers of the page have it.
  void set_name(std::uint32_t call, const char* name) noexcept;

  /// `thread` has begun `call`.
  void begin(std::uint32_t call, const char* name, std::uint32_t thread) noexcept;

  /// `call` of `thread` has returned, into `outer` of the same thread unless that is `none`.
  /// Changes nothing if a later call of another thread is recorded.
  void finish(std::uint32_t call, std::uint32_t thread, std::uint32_t outer) noexcept;

  /// Clears the record of the outermost `call`, after which calls follow that are not recorded.
  void forget(std::uint32_t call, std::uint32_t thread) noexcept;

  /// " while in NAME", " after NAME", or "" if no call is recorded. The page's content is not
  /// trusted: an invalid name counts as no call.
  std::string describe() const;

  /// The name of a call; "" if it has none, or an invalid one.
  std::string name_of(std::uint32_t call) const;

 private:
  using Word = std::atomic<std::uint64_t>;
  using Name = std::array<Word, (max_name + 1) / sizeof(std::uint64_t)>;

  void replace(std::uint64_t noted, std::uint64_t by) noexcept;

  Word noted_{0};
  alignas(cache_line) std::array<Name, max_calls> names_{};
};

}  // namespace gex::job
