#include "launch/local/rank_observer.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/os_proc.h"
#include "base/os_thread_activity.h"

namespace gex::launch {

namespace {

/// Seconds between looks for the stacks of threads, and until those that are missing are left out.
constexpr double stacks_interval = 0.01;
constexpr double stacks_limit = 0.5;

}  // namespace

void RankObserver::attach(std::uint32_t rank, const os::FileDescriptor& file) {
  views_[job_.index_of(rank)] = RankStatusView(file);
}

void RankObserver::observe(std::uint32_t interval_ms) {
  interval_ms_ = interval_ms;
  look_at_ = after(interval_ms * 1e-3);
}

pid_t RankObserver::process_of(std::size_t index) const noexcept {
  const LocalRank& local = job_.ranks[index];
  if (local.gone) return 0;
  return local.joined_process != 0 ? local.joined_process : local.process;
}

void RankObserver::collect(std::uint32_t number, Collection what) {
  collection_ = number;
  stacks_at_.reset();
  if (what == Collection::picture) {
    send(picture());
    return;
  }
  stacks_expected_ = 0;
  for (std::size_t i = 0; i < views_.size(); ++i)
    if (const pid_t process = process_of(i); process != 0)
      stacks_expected_ += views_[i].request_backtraces(process);
  if (stacks_expected_ == 0) {
    send({});
    return;
  }
  stacks_at_ = after(stacks_interval);
  stacks_limit_ = after(stacks_limit);
}

void RankObserver::send(const std::vector<RankReport>& reports) {
  job_.coordinator->collected(collection_,
                              std::make_shared<const std::vector<std::byte>>(encode(reports)));
}

std::vector<RankReport> RankObserver::stacks() const {
  std::vector<RankReport> reports;
  for (const std::uint32_t rank : job_.part.ranks) {
    const std::uint32_t index = job_.index_of(rank);
    RankReport report;
    report.rank = rank;
    report.process = process_of(index);
    if (report.process == 0) continue;
    report.threads = views_[index].stacks();
    if (!report.threads.empty()) reports.push_back(std::move(report));
  }
  return reports;
}

std::vector<RankReport> RankObserver::picture() const {
  std::vector<RankReport> reports;
  for (const std::uint32_t rank : job_.part.ranks) {
    const std::uint32_t index = job_.index_of(rank);
    const LocalRank& local = job_.ranks[index];
    RankReport& report = reports.emplace_back();
    report.rank = rank;
    report.process = process_of(index);
    report.host = job_.part.name;
    report.left = local.left;
    if (report.process == 0) continue;
    if (const auto activity = os::process_activity(report.process)) {
      report.state = activity->state;
      report.cpu_s = activity->cpu_s;
    }
    const job::LastCall* const last_call = job_.page.last_call(index);
    if (last_call != nullptr) report.last_call = last_call->describe();
    views_[index].read(report, last_call);
    for (ThreadReport& thread : report.threads) {
      const auto activity = os::thread_activity(report.process, thread.kernel_thread);
      if (!activity) continue;
      thread.state = activity->state;
      if (activity->call) thread.system_call = os::name_of(*activity->call);
    }
  }
  return reports;
}

bool RankObserver::all_stopped() const {
  bool any = false;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const pid_t process = process_of(i);
    if (process == 0) continue;
    const auto activity = os::process_activity(process);
    if (!activity || activity->state != 'T') return false;
    any = true;
  }
  return any;
}

void RankObserver::meet_deadlines() {
  if (met(stacks_at_)) {
    std::uint32_t shown = 0;
    for (const RankStatusView& view : views_) shown += view.backtraces();
    // A thread that is stopped or blocks the signal shows none.
    if (shown >= stacks_expected_ || met(stacks_limit_)) {
      stacks_at_.reset();
      send(stacks());
    } else {
      stacks_at_ = after(stacks_interval);
    }
  }
  if (!met(look_at_)) return;
  look_at_ = after(interval_ms_ * 1e-3);
  std::uint64_t activity = 0;
  double longest_wait_s = 0;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (job_.ranks[i].gone) continue;
    const RankStatusView::Glance glance = views_[i].glance();
    activity += glance.activity;
    longest_wait_s = std::max(longest_wait_s, glance.longest_wait_s);
  }
  constexpr double max_ms = 1e12;
  const auto waited_ms = static_cast<std::uint64_t>(std::min(longest_wait_s * 1e3, max_ms));
  const bool moved = std::exchange(last_activity_, activity) != activity;
  // A job that its user has suspended is not one that hangs.
  job_.coordinator->observed({moved || (waited_ms != 0 && all_stopped()), waited_ms});
}

}  // namespace gex::launch
