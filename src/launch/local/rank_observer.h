#pragma once
// The status that the ranks of this host show (job/rank_status.h): read for reports, and looked
// at regularly if the coordinator watches for progress. Where nothing moves between two looks, the
// ranks show their polls as well (observe/looked_at.h), until something moves.

#include <cstdint>
#include <vector>

#include "base/os_file.h"
#include "launch/event_loop.h"
#include "launch/hang/rank_report.h"
#include "launch/local/local_job.h"
#include "launch/local/rank_status_view.h"

namespace gex::launch {

/// Thread rules: one thread.
class RankObserver final : public Timed {
 public:
  explicit RankObserver(LocalJob& job)
      : job_(job), views_(job.ranks.size()), done_(job.ranks.size()) {}

  /// The rank has sent the file of its status.
  void attach(std::uint32_t rank, const os::FileDescriptor& file);

  /// From now on reports to the coordinator in this interval whether there was progress here.
  void observe(std::uint32_t interval_ms);

  /// Gives the coordinator, with that number, what every rank of this host does now: the picture at
  /// once, and without disturbing one; the same with stacks when the threads have shown them, but
  /// soon.
  void collect(std::uint32_t number, Collection what);

  Deadline next_deadline() const override {
    return earlier(earlier(look_at_, picture_at_), stacks_at_);
  }
  void meet_deadlines() override;

 private:
  pid_t process_of(std::size_t index) const noexcept;
  std::vector<RankReport> picture() const;
  /// Sends the picture with the stacks that threads have shown since. Threads that it does not have
  /// began later, and are left out.
  void send_stacks();
  void send() const;
  bool all_stopped() const;
  void take_picture();
  void look_for_polls();
  void stop_looking();
  /// All ranks have done this since the last call.
  struct Seen {
    std::uint64_t activity = 0;
    double longest_wait_s = 0;
    bool operated = false;      ///< some rank has begun an operation
    bool polled = false;        ///< some rank does nothing but poll
    double max_computed_s = 0;  ///< processor time of one rank that is not that of polls
  };
  Seen see_ranks();
  void report_progress();

  LocalJob& job_;
  std::vector<RankStatusView> views_;  ///< as LocalJob::ranks
  std::uint32_t interval_ms_ = 0;
  Deadline look_at_;
  std::uint64_t last_activity_ = 0;
  /// Each rank, as in `views_`, has done this before the present look for polls.
  struct Done {
    std::uint64_t operations = 0;
    std::uint64_t polled_ns = 0;
    double processor_s = 0;
  };
  std::vector<Done> done_;
  std::uint32_t looks_for_polls_ = 0;
  bool looks_ = false;  ///< polls are shown now
  /// Since then no rank of this host has begun an operation or computed, as far as that is seen.
  Clock::time_point idle_since_;
  Clock::time_point looked_at_;
  Deadline picture_at_;
  std::vector<RankReport> picture_;  ///< until it is sent with stacks
  std::uint32_t collection_ = 0;
  std::uint32_t stacks_expected_ = 0;
  Deadline stacks_at_;  ///< when it is looked for them again
  Deadline stacks_limit_;
};

}  // namespace gex::launch
