#pragma once
// Starting the ranks of this host as children of the guardian.

#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "launch/line_relay.h"
#include "launch/local/binding.h"
#include "launch/local/control_server.h"
#include "launch/local/local_job.h"
#include "launch/local/local_processes.h"
#include "launch/local/spawn.h"

namespace gex::launch {

/// Thread rules: one thread, the only one of its process.
class RankStart {
 public:
  /// `inherited` is what every rank restores. `spare_descriptors`: how many may be opened for the
  /// binding of the ranks.
  RankStart(LocalJob& job, LocalProcesses& processes, ControlServer& control, LineRelay& relay,
            Inheritance inherited, std::size_t spare_descriptors);

  /// Forks the rank. Returns its membership in the rank if that is a fork of the caller, otherwise
  /// nothing. If the rank cannot be started, ends all that were started, and the process.
  std::optional<job::Membership> start(std::uint32_t rank);

 private:
  void report_binding();
  os::FileDescriptor open_output(std::uint32_t rank, LineRelay::Stream stream, bool terminal);

  LocalJob& job_;
  LocalProcesses& processes_;
  ControlServer& control_;
  LineRelay& relay_;
  Inheritance inherited_;
  Binding binding_;
};

}  // namespace gex::launch
