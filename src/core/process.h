#pragma once
// The process: its place in the job, the memory it shares, the network it is on, how it checks.
//
// Set up once, by the first gex_Client_Init, and constant afterwards.

#include <gasnetex.h>
#include <gex/plugin/conduit.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/immortal.h"
#include "core/observed.h"
#include "job/job.h"
#include "net/choice.h"
#include "shm/neighborhood.h"
#include "shm/placement.h"

namespace gex {

struct Process {
  job::Job* job = nullptr;
  shm::Placement placement;
  job::RankSet own_host;  ///< the ranks of this one's host
  shm::Neighborhood neighborhood;
  const net::Conduit* conduit = nullptr;  ///< null: no network (smp)
  net::Limits network{};
  std::string conduit_name;    ///< "smp", "emu", ...
  std::string conduit_reason;  ///< why that one
  /// Where the rule has chosen it (net/choice.h): the networks that it has not chosen.
  std::vector<net::PassedOver> passed_over;
  bool reports_pairs = false;      ///< all ranks gather which way messages go: one has GEX_VERBOSE
  std::uint32_t usable_cores = 1;  ///< that the ranks of this host have together
  bool crowded = false;            ///< more ranks on this host than usable cores
  bool any_crowded = false;        ///< any host of the job is; equal at all ranks
  /// GEX_COLL_LEADERS, of the lowest rank that has it; equal at all ranks.
  std::optional<bool> leaders_in_collectives;
  bool threaded = false;  ///< PAR: calls may come from several threads at once
  /// By index in `own_host`: the rank has a progress thread, or will (core/progress_thread.h).
  /// Empty: none has.
  std::vector<bool> progress_threads;
};

extern Immortal<Process> the_process;
inline Process& process() noexcept {
  return the_process.get();
}

/// The ranks of this host.
inline const job::RankSet& own_host() noexcept {
  return process().own_host;
}

/// The number of this host's ranks for each core that they may use; 0 if there are fewer ranks.
inline std::uint32_t ranks_per_core() noexcept {
  return own_host().size() / process().usable_cores;
}

/// True if errors that are only returned also print a line (gex_System_SetVerboseErrors). By the
/// specification they do unless the client has switched that off.
extern std::atomic<bool> verbose_errors;

/// Returns true if a thread may be cancelled (pthread_cancel) while the library's calls reach
/// cancellation points, which the libraries of networks have.
inline bool reaches_cancellation_points() noexcept {
  return process().conduit != nullptr && gex_proc_.mode != GEX_MODE_SEQ_;
}

/// Name of a threading mode, for messages.
const char* mode_name(std::uint32_t mode) noexcept;

}  // namespace gex
