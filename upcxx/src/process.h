// The state of the layer in this process.
#ifndef UPCXX_SRC_PROCESS_H_
#define UPCXX_SRC_PROCESS_H_

#include <memory>
#include <upcxx/job.hpp>
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
  /// Calls of init() without their finalize().
  int depth = 0;
  bool has_joined = false;
  /// More ranks on this host than processors: a rank that waits yields early.
  bool is_crowded = false;
  std::vector<std::intptr_t> displacements;
  std::vector<Neighbor> neighbors;
  persona master;
  /// On the stack of the thread that called init(), unless it was liberated.
  std::unique_ptr<persona_scope> master_scope;
};

/// Never destroyed: namespace-scope objects of clients use it in their destructors.
Process& process();

/// Polls, and runs callbacks if the level is user. Whether anything was found to do.
bool make_progress(progress_level level);

/// Before the segment is attached, on every rank.
void register_message_handlers(gex_EP_t endpoint);

/// Bytes of the shared heap of this rank: UPCXX_SHARED_HEAP_SIZE, UPCXX_SEGMENT_MB, or 128 MiB.
std::size_t shared_heap_size();

}  // namespace upcxx::detail

#endif
