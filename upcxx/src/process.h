// The state of the layer in this process.
#ifndef UPCXX_SRC_PROCESS_H_
#define UPCXX_SRC_PROCESS_H_

#include <atomic>
#include <memory>
#include <upcxx/team.hpp>
#include <vector>

#include "gex.h"

namespace upcxx::detail {

/// A rank whose shared heap is mapped here.
struct Neighbor {
  intrank_t rank;
  std::uintptr_t here;
  std::size_t size;
};

struct Process {
  gex_Client_t client = nullptr;
  gex_EP_t endpoint = nullptr;
  gex_TM_t world = nullptr;
  /// By index, null where it is not this process's to use: 0 is `endpoint`, the others are
  /// devices'.
  std::vector<gex_EP_t> endpoints;
  /// Calls of init() without their finalize().
  int depth = 0;
  bool has_joined = false;
  /// Open calls are noted, for hang reports.
  bool is_watched = false;
  /// A remote call makes user progress while more have arrived here than this rank keeps.
  bool makes_room = false;
  /// A collective call in a callback is warned of, instead of ending the job.
  bool goes_on_in_callbacks = false;
  /// Arrived messages that have not run: above it nothing is received but while waiting for room.
  std::size_t max_backlog_kibibytes = 64 << 10;
  std::vector<std::intptr_t> displacements;
  std::vector<Neighbor> neighbors;
  persona master;
  /// On the stack of the thread that called init(), unless it was liberated.
  std::unique_ptr<persona_scope> master_scope;
};

extern Process* made_process;
Process& make_process();
/// Never destroyed: namespace-scope objects of clients use it in their destructors.
inline Process& process() {
  return made_process != nullptr ? *made_process : make_process();
}

/// Steps of a wait in which nothing happens before the processor is given to others: none where
/// there are more ranks on this host than processors.
extern unsigned quick_steps;
/// The job is traced: waits and tasks are intervals.
extern bool is_traced;

/// Polls, and runs callbacks if the level is user. Whether anything was found to do.
bool make_progress(progress_level level);

/// Returns true if libgex wakes the calling thread for what it may wait for: it is of a job, and
/// other threads have not queued lpcs for its personas yet.
bool may_sleep();

/// Warns of personas that have calls and that no thread holds.
void warn_of_lost_calls();
/// Returns an addition to the description of a wait if another persona has calls to run; otherwise
/// nullptr.
const char* personas_with_calls();

/// The barrier that a collective call which ends something begins with.
void enter(const team& of, entry_barrier how, const char* call);

/// The address of a function by its token (serialization.hpp), if the calling thread last looked
/// for one of the same file; otherwise nullptr. Takes no lock.
void (*recent_code_address(std::uint64_t token))();

/// Before the segment is attached, on every rank.
void register_message_handlers(gex_EP_t endpoint);

/// Arrived messages that have not run, without the blocks that are used again.
extern std::atomic<std::size_t> waiting_kibibytes;
/// More messages have arrived than this rank keeps: their functions are to be run first.
inline bool has_backlog() {
  return waiting_kibibytes.load(std::memory_order_relaxed) > process().max_backlog_kibibytes;
}

/// Reads a number with B, K, M, G, T or %, or without a unit in `unit`. Returns true if it is one.
bool parse_size(const char* text, double unit, double* bytes);

/// Bytes of the shared heap of this rank: UPCXX_SHARED_HEAP_SIZE, UPCXX_SEGMENT_MB, or 128 MiB.
std::size_t shared_heap_size();

}  // namespace upcxx::detail

#endif
