#pragma once
// The guardian's view of a rank's status (rank_status.h): memory that the rank writes and of which
// nothing is trusted.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/os_file.h"
#include "base/os_mapping.h"
#include "job/last_call.h"
#include "launch/hang/rank_report.h"

namespace gex::launch {

class RankStatusView {
 public:
  /// Nothing is shown.
  RankStatusView() = default;
  /// Maps the file that a rank has sent. Stays empty unless its size cannot change any more, and is
  /// one that a status can have.
  explicit RankStatusView(const os::FileDescriptor& file) noexcept;

  /// Fills in threads, operations, teams and `hidden`; `calls` has the names of calls, and may be
  /// null. `shown` stays false if there is no status, or none of a known layout.
  /// `report.process` is the rank's.
  void read(RankReport& report, const job::LastCall* calls) const;

  /// Asks threads that are shown for their stacks, by a signal: those that wait in the library, and
  /// those whose doings bear one (base/os_thread_activity.h). Returns how many have been asked; 0
  /// if the rank, `process`, does not offer that.
  std::uint32_t request_backtraces(pid_t process) const;
  /// How many of them have answered.
  std::uint32_t backtraces() const noexcept;
  /// Returns their answers: threads of which only the stack is given.
  std::vector<ThreadReport> stacks() const;

  /// These fields are looked at again and again.
  struct Glance {
    std::uint64_t activity = 0;    ///< moves whenever something arrives at the rank, or completes
    double longest_wait_s = 0;     ///< of threads, or of operations that were found incomplete
    std::uint64_t operations = 0;  ///< calls that communicate, as far as they are seen
    std::uint64_t polled_ns = 0;   ///< processor time of loops of polls
  };
  Glance glance() const noexcept;

 private:
  struct Tables;
  std::optional<Tables> tables() const noexcept;

  os::Mapping memory_;
};

}  // namespace gex::launch
