#pragma once
// The common part of the tests of put and get: every form of a transfer behind one call, and what
// it is to leave behind.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <vector>

#include "conformance.h"
#include "pattern.h"

namespace conformance {

/// Every way to put: the call and how its local completion is asked for.
enum class Put { blocking, nb_now, nb_defer, nb_leaf, nbi_now, nbi_defer, nbi_group };
inline constexpr std::array every_put = {Put::blocking, Put::nb_now,    Put::nb_defer, Put::nb_leaf,
                                         Put::nbi_now,  Put::nbi_defer, Put::nbi_group};
enum class Get { blocking, nb, nbi };
inline constexpr std::array every_get = {Get::blocking, Get::nb, Get::nbi};

const char* name(Put form);
const char* name(Get form);

/// Puts and waits for completion, remote and local.
void put(Put form, gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src, std::size_t bytes,
         gex_Flags_t flags = 0);
/// Gets and waits.
void get(Get form, gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, std::size_t bytes,
         gex_Flags_t flags = 0);

/// Memory with the pattern `seed`.
std::vector<std::byte> patterned(std::uint64_t seed, std::size_t bytes);

/// Checks memory against a pattern; the message names the first byte that differs.
testing::AssertionResult holds(const void* memory, std::uint64_t seed, std::size_t bytes);
/// Checks memory against other memory, likewise.
testing::AssertionResult same_bytes(const void* memory, const void* expected, std::size_t bytes);

/// Calls `attempt` until it returns true, polling between; for calls that may be refused. A failed
/// wait ends the job.
template <typename F>
void retry(F attempt) {
  const Patience patience;
  bool accepted = false;
  GASNET_BLOCKUNTIL((accepted = attempt()) || patience.over());
  if (!accepted) give_up("a call to be accepted", __FILE__, __LINE__);
}

/// True if `peer` shares memory with the caller.
bool in_neighborhood(gex_Rank_t peer);

/// Memory that others write while we look, by puts, as the interface allows on processors like
/// these. ThreadSanitizer, to which that is a race, does not see it.
template <typename T>
[[gnu::noinline, gnu::no_sanitize_thread]] T look_at(const void* address) {
  const T value = *static_cast<const volatile T*>(address);
  std::atomic_signal_fence(std::memory_order_acquire);
  return value;
}

}  // namespace conformance
