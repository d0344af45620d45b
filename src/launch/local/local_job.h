#pragma once
// The state that the parts of a guardian share: the job's ranks on this host and what has become of
// each, and the way to the coordinator of the job.
//
//   LocalProcesses   starts of processes, their exits, signals to them
//   ControlServer    the ranks' connections, and the messages on them
//   RankTeardown     the steps by which ranks are ended
//   Adoption         ranks that another launcher has started
//   Guardian         all of these around one EventLoop
//
// Each of them uses those above it. Thread rules: one thread.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "job/job_page.h"
#include "launch/coordinator.h"
#include "launch/launch_spec.h"

namespace gex::launch {

/// A rank of this host.
struct LocalRank {
  pid_t process = 0;         ///< the guardian's child, which is the program or a wrapper around it
  pid_t joined_process = 0;  ///< the process that has joined
  bool connected = false;    ///< its connection is open
  bool joined = false;
  bool left = false;       ///< has returned from main, or called exit or gasnet_exit
  bool ends = false;       ///< by a departure that ends the job
  int left_with = 0;       ///< with this exit status
  bool end_begun = false;  ///< has announced that it ends the job, or ends with it
  bool gone = false;       ///< the child has ended
};

/// This host's part of the job.
class LocalJob {
 public:
  explicit LocalJob(const Launch& launch);

  const Launch& launch;
  const job::HostPart& part;
  std::vector<LocalRank> ranks;  ///< of this host: `at` finds one by its rank
  job::JobPage page;
  Coordinator* coordinator = nullptr;  ///< set before ranks are served
  bool ending = false;                 ///< the coordinator has ended the job
  int interrupted_by = 0;              ///< a signal

  LocalRank& at(std::uint32_t rank) noexcept { return ranks[index_of(rank)]; }
  const LocalRank& at(std::uint32_t rank) const noexcept { return ranks[index_of(rank)]; }
  std::uint32_t index_of(std::uint32_t rank) const noexcept { return part.ranks.index_of(rank); }
  /// Returns true if another launcher has started the ranks.
  bool adopting() const noexcept { return launch.adopts >= 0; }

  /// Notes that the process of a rank has ended, or that the rank is given up.
  void mark_gone(LocalRank& rank) noexcept;
  bool all_gone() const noexcept { return gone_count_ == ranks.size(); }

  /// Claims the end of the job on this host's page, so that its ranks see it, and reports it to the
  /// coordinator, with `text` for the user.
  void request_end(const job::Ending& ending, const std::string& text);
  /// Ends the job for an error of a rank, or of another process on its connection: "RANK WHAT".
  void fault(std::uint32_t rank, const std::string& what);
  /// Ends the job for the death of a rank's process: "RANK HOW".
  void died(std::uint32_t rank, const std::string& how);

  /// "rank 3 (host node7, pid 4711)".
  std::string name_of(std::uint32_t rank) const;
  /// When a rank has died, as far as known: a suffix of messages like "rank 3 was killed".
  std::string moment_of(std::uint32_t rank) const;

  /// Ends this process and those that it has started, with this message: the job cannot start.
  [[noreturn]] void fail_start(const std::string& why) const;

 private:
  std::uint32_t gone_count_ = 0;
};

}  // namespace gex::launch
