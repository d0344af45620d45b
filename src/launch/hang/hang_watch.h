#pragma once
// The coordinator's part in hang reports: detects that a job makes no progress, collects what the
// ranks of all hosts show, and delivers the report to each requester.
//
// A job hangs when no host has seen progress for a time while a rank has waited as long; or while
// every rank has done nothing as long but poll, or sleep outside the library, or has left. It is
// reported once; again only after progress.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "launch/event_loop.h"
#include "launch/hang/collected_reports.h"
#include "launch/hang/hang_report.h"
#include "launch/hang/observation.h"
#include "launch/launch_spec.h"

namespace gex::launch {

/// A job that makes no progress has one of these faults.
enum class Hang {
  waits,  ///< a rank waits
  polls   ///< no rank waits in the library or computes, and some do nothing but poll
};

class HangWatch final : public Timed {
 public:
  using Now = Clock::time_point (*)() noexcept;
  using Deliver = std::function<void(const HangReport&)>;

  /// The watch calls these.
  struct Actions {
    /// Makes the guardians report in this interval what they have observed.
    std::function<void(std::uint32_t interval_ms)> observe;
    /// Makes them send what their ranks show, with this number.
    std::function<void(std::uint32_t number, Collection what)> collect;
    /// The job hangs, for so many seconds, and this is its report.
    std::function<void(Hang, double seconds, const HangReport&)> hung;
  };

  /// `after_s`: when a job of so many hosts and ranks hangs; 0: it is not watched.
  HangWatch(double after_s, std::size_t hosts, std::uint32_t ranks, Actions actions,
            Now now = Clock::now);

  /// Begins to watch.
  void start();

  /// Hosts have observed this together.
  void observed(std::span<const std::uint32_t> hosts, const Observation& observation);
  /// A host's answer; one that is invalid is taken for an empty one.
  void collected(std::size_t host, std::uint32_t number, ReportForm form,
                 std::span<const std::byte> reports);
  /// No answer is to come from this host: it has ended, or another answers for it.
  void no_answer(std::size_t host, std::uint32_t number);
  /// Collects a report. Hosts that do not answer in time are left out.
  void request(Deliver deliver);

  Deadline next_deadline() const override;
  void meet_deadlines() override;

 private:
  void detect();
  void report(Hang hang, double seconds);
  void collect(Collection what);
  /// All have answered, or have had their time.
  void collection_done();
  void deliver(const RankClasses& classes);

  double after_s_;
  Actions actions_;
  Now now_;
  struct Host {
    Observation seen;
    bool answered = false;
  };
  std::vector<Host> hosts_;
  Clock::time_point last_progress_;
  bool reported_ = false;
  bool polls_reported_ = false;

  std::uint32_t collection_ = 0;     ///< number of the last one
  Collection collecting_{};          ///< what that is
  std::vector<Deliver> deliver_to_;  ///< empty: nothing is being collected
  CollectedReports collected_;
  RankClasses picture_;  ///< of all ranks, while it is collected again with stacks
  Deadline give_up_at_;
};

}  // namespace gex::launch
