#include "launch/local/rank_observer.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/os_proc.h"
#include "base/os_thread_activity.h"

namespace gex::launch {

namespace {

/// Seconds between looks for the stacks of threads, and until those that are missing are left out,
/// since a thread may lack a processor for a while. The root waits for 3 s.
constexpr double stacks_interval = 0.01;
constexpr double stacks_limit = 2;

/// How long ranks show their polls before a picture is taken.
constexpr double time_to_show_polls = 0.1;

/// A rank that uses a larger part of a processor for anything but polls computes.
constexpr double max_idle_part = 0.1;

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
    if (looks_) {
      take_picture();
    } else {
      look_for_polls();
      picture_at_ = after(time_to_show_polls);
    }
    return;
  }
  stacks_expected_ = 0;
  for (std::size_t i = 0; i < views_.size(); ++i)
    if (const pid_t process = process_of(i); process != 0)
      stacks_expected_ += views_[i].request_backtraces(process);
  if (stacks_expected_ == 0) {
    send();
    picture_ = {};
    return;
  }
  stacks_at_ = after(stacks_interval);
  stacks_limit_ = after(stacks_limit);
}

void RankObserver::send() const {
  job_.coordinator->collected(collection_,
                              std::make_shared<const std::vector<std::byte>>(encode(picture_)));
}

void RankObserver::send_stacks() {
  for (RankReport& rank : picture_) {
    const std::uint32_t index = job_.index_of(rank.rank);
    if (rank.process == 0 || process_of(index) != rank.process) continue;
    for (const ThreadReport& thread : views_[index].stacks())
      for (ThreadReport& seen : rank.threads)
        if (seen.kernel_thread == thread.kernel_thread) seen.backtrace = thread.backtrace;
  }
  send();
  picture_ = {};
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
      send_stacks();
    } else {
      stacks_at_ = after(stacks_interval);
    }
  }
  if (met(picture_at_)) take_picture();
  if (met(look_at_)) report_progress();
}

void RankObserver::take_picture() {
  picture_at_.reset();
  picture_ = picture();
  send();
  if (interval_ms_ == 0) stop_looking();
}

/// From now on polls are calls.
void RankObserver::look_for_polls() {
  // 0 is no look, and the page holds 16 bits of the number.
  looks_for_polls_ = looks_for_polls_ % 0xffff + 1;
  job_.page.show_look(looks_for_polls_);
  looks_ = true;
}

void RankObserver::stop_looking() {
  if (std::exchange(looks_, false)) job_.page.show_look(0);
}

RankObserver::Seen RankObserver::see_ranks() {
  Seen seen;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (job_.ranks[i].gone) continue;
    const RankStatusView::Glance glance = views_[i].glance();
    seen.activity += glance.activity;
    seen.longest_wait_s = std::max(seen.longest_wait_s, glance.longest_wait_s);
    if (job_.ranks[i].left) continue;
    const Done now{glance.operations, glance.polled_ns,
                   os::processor_seconds(process_of(i)).value_or(0)};
    const Done before = std::exchange(done_[i], now);
    seen.operated |= now.operations != before.operations;
    seen.polled |= now.polled_ns != before.polled_ns;
    const auto polled_s = static_cast<double>(now.polled_ns - before.polled_ns) * 1e-9;
    seen.max_computed_s =
        std::max(seen.max_computed_s, now.processor_s - before.processor_s - polled_s);
  }
  return seen;
}

void RankObserver::report_progress() {
  look_at_ = after(interval_ms_ * 1e-3);
  const Seen seen = see_ranks();
  constexpr double max_ms = 1e12;
  const auto waited_ms = static_cast<std::uint64_t>(std::min(seen.longest_wait_s * 1e3, max_ms));
  const bool moved = std::exchange(last_activity_, seen.activity) != seen.activity;
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double> passed = now - std::exchange(looked_at_, now);
  // A job that its user has suspended is not one that hangs, nor one that has just been continued.
  constexpr double late = 4;
  const bool suspended =
      ((waited_ms != 0 || looks_) && all_stopped()) || passed.count() > late * interval_ms_ * 1e-3;
  Observation observation{moved || suspended, waited_ms};
  if (moved || suspended) {
    stop_looking();
  } else if (!looks_ || seen.operated || seen.max_computed_s > max_idle_part * passed.count()) {
    // An operation has brought inline ones back: the next look withdraws them once more.
    if (!looks_ || seen.operated) look_for_polls();
    idle_since_ = now;
  } else {
    observation.idle_ms = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(now - idle_since_).count());
    observation.polls = seen.polled;
  }
  job_.coordinator->observed(observation);
}

}  // namespace gex::launch
