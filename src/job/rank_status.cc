#include "job/rank_status.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/error.h"
#include "base/os_file.h"
#include "base/os_mapping.h"
#include "base/os_memory.h"

namespace gex::job {

/// LeakSanitizer's function, null in programs without it: threads' records lie here, and what they
/// point to is not lost.
extern void register_root_region(const void* begin,
                                 std::size_t size) __asm__("__lsan_register_root_region")
    __attribute__((weak));

namespace {

/// Set by `share`.
int shared_file = -1;
void* shared_address = nullptr;

/// In a process that the client has forked: what it does is not the rank's.
void keep_private_copy() noexcept {
  // On failure the memory stays shared, which matters only if the child calls the library.
  static_cast<void>(mmap(shared_address, sizeof(RankStatus), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_FIXED, shared_file, 0));
}

/// Copies the pages that hold anything. Returns 0 or errno.
int copy_to(int file, const std::byte* bytes, std::size_t size) noexcept {
  const std::size_t page = os::page_size();
  for (std::size_t at = 0; at < size; at += page) {
    const std::byte* const from = bytes + at;
    const std::size_t part = std::min(page, size - at);
    if (std::all_of(from, from + part, [](std::byte b) { return b == std::byte{0}; })) continue;
    if (pwrite(file, from, part, static_cast<off_t>(at)) != static_cast<ssize_t>(part))
      return errno;
  }
  return 0;
}

}  // namespace

RankStatus& RankStatus::own() noexcept {
  static RankStatus* const status = [] {
    os::Mapping memory = os::Mapping::anonymous(sizeof(RankStatus));
    if (!memory) fatal_system("memory for the rank's status", errno);
    if (register_root_region != nullptr) register_root_region(memory.data(), memory.size());
    return new (memory.release().data()) RankStatus;
  }();
  return *status;
}

std::byte* RankStatus::claim_thread() noexcept {
  const std::uint32_t place = __atomic_fetch_add(&layout_.threads_claimed, 1, __ATOMIC_RELAXED);
  return place < max_threads ? threads_[place] : nullptr;
}

std::byte* RankStatus::claim_events(std::uint32_t count) noexcept {
  const std::uint32_t place = __atomic_fetch_add(&layout_.events_claimed, count, __ATOMIC_RELAXED);
  return place + count <= max_events ? events_[place] : nullptr;
}

RankStatus::Backtrace* RankStatus::backtrace_of(const ThreadStatus& thread) noexcept {
  const auto* const at = reinterpret_cast<const std::byte*>(&thread);
  if (at < threads_[0] || at >= threads_[0] + sizeof threads_) return nullptr;
  return &backtraces_[static_cast<std::size_t>(at - threads_[0]) / thread_bytes];
}

void RankStatus::offer_backtraces(int signal) noexcept {
  __atomic_store_n(&layout_.backtrace_signal, static_cast<std::uint32_t>(signal), __ATOMIC_RELAXED);
}

TeamStatus& RankStatus::claim_team() noexcept {
  for (TeamStatus& team : teams_) {
    std::uint32_t free = 0;
    // Acquire: what the last owner wrote came before.
    if (team.size.compare_exchange_strong(free, 1, std::memory_order_acquire)) return team;
  }
  static constinit TeamStatus not_shown{};
  __atomic_fetch_add(&layout_.hidden_teams, 1, __ATOMIC_RELAXED);
  return not_shown;
}

void RankStatus::release_team(TeamStatus& team) noexcept {
  if (&team < teams_ || &team >= teams_ + max_teams) {
    __atomic_fetch_sub(&layout_.hidden_teams, 1, __ATOMIC_RELAXED);
    return;
  }
  team.barriers.store(0, std::memory_order_relaxed);
  team.collectives.store(0, std::memory_order_relaxed);
  team.agreements.store(0, std::memory_order_relaxed);
  team.named_barriers.store(0, std::memory_order_relaxed);
  team.made_as.store(0, std::memory_order_relaxed);
  team.teams_made.store(0, std::memory_order_relaxed);
  team.made_at.store(0, std::memory_order_relaxed);
  team.size.store(0, std::memory_order_release);
}

int RankStatus::share() noexcept {
  os::MemoryFile file = os::create_fixed_file("gex-status", sizeof(RankStatus));
  // Another kind of file would have all its pages from the beginning.
  if (!file.descriptor || file.origin != "memfd") return -1;
  auto* const here = reinterpret_cast<std::byte*>(this);
  if (copy_to(file.descriptor.get(), here, sizeof *this) != 0) return -1;
  if (mmap(here, sizeof *this, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
           file.descriptor.get(), 0) == MAP_FAILED) {
    // The old mapping may be gone.
    fatal_system("mapping the rank's status", errno);
  }
  shared_address = here;
  shared_file = file.descriptor.release();
  pthread_atfork(nullptr, nullptr, keep_private_copy);
  return shared_file;
}

}  // namespace gex::job
