#include "launch/local/rank_observer.h"

#include <algorithm>
#include <cmath>

#include "base/os_proc.h"

namespace gex::launch {

void RankObserver::attach(std::uint32_t rank, const os::FileDescriptor& file) {
  views_[job_.index_of(rank)] = RankStatusView(file);
}

void RankObserver::observe(std::uint32_t interval_ms) {
  interval_ms_ = interval_ms;
  look_at_ = after(interval_ms * 1e-3);
}

std::vector<RankReport> RankObserver::report() const {
  std::vector<RankReport> reports;
  for (const std::uint32_t rank : job_.part.ranks) {
    const std::uint32_t index = job_.index_of(rank);
    const LocalRank& local = job_.ranks[index];
    RankReport& report = reports.emplace_back();
    report.rank = rank;
    report.process = local.joined_process != 0 ? local.joined_process : local.process;
    report.host = job_.part.name;
    report.left = local.left;
    if (local.gone || report.process == 0) continue;
    if (const auto activity = os::process_activity(report.process)) {
      report.state = activity->state;
      report.cpu_s = activity->cpu_s;
    }
    const job::LastCall* const last_call = job_.page.last_call(index);
    if (last_call != nullptr) report.last_call = last_call->describe();
    views_[index].read(report, last_call);
  }
  return reports;
}

void RankObserver::meet_deadlines() {
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
  job_.coordinator->observed({std::exchange(last_activity_, activity) != activity, waited_ms});
}

}  // namespace gex::launch
