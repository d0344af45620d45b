#include "launch/hang/hang_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gex::launch {

namespace {

/// How often guardians report what they have observed in the time after which a job hangs.
constexpr double observations = 8;
constexpr double min_interval_s = 0.05;
constexpr double max_interval_s = 1;

/// Seconds that a host has to answer.
constexpr double answer_limit = 3;

}  // namespace

HangWatch::HangWatch(double after_s, std::size_t hosts, std::uint32_t ranks, Actions actions,
                     Now now)
    : after_s_(after_s), actions_(std::move(actions)), now_(now), hosts_(hosts), collected_(ranks) {
}

void HangWatch::start() {
  if (after_s_ <= 0) return;
  last_progress_ = now_();
  const double interval = std::clamp(after_s_ / observations, min_interval_s, max_interval_s);
  actions_.observe(static_cast<std::uint32_t>(interval * 1e3));
}

void HangWatch::observed(std::span<const std::uint32_t> hosts, const Observation& observation) {
  if (after_s_ <= 0) return;
  for (const std::uint32_t host : hosts)
    if (host < hosts_.size()) hosts_[host].seen = observation;
  if (observation.progressed) {
    last_progress_ = now_();
    reported_ = false;
  }
  detect();
}

void HangWatch::detect() {
  const std::chrono::duration<double> quiet = now_() - last_progress_;
  Observation all = of_no_host;
  for (const Host& host : hosts_) add_to(all, host.seen);
  const bool overdue = quiet.count() >= after_s_;
  if (overdue && !reported_ && static_cast<double>(all.waited_ms) * 1e-3 >= after_s_) {
    reported_ = true;
    report(Hang::waits, quiet.count());
  }
  const double idle_s = static_cast<double>(all.idle_ms) * 1e-3;
  if (idle_s < after_s_) polls_reported_ = false;
  if (!overdue || !all.polls || idle_s < after_s_ || reported_ || polls_reported_) return;
  polls_reported_ = true;
  report(Hang::polls, idle_s);
}

void HangWatch::report(Hang hang, double seconds) {
  request([this, hang, seconds](const HangReport& made) { actions_.hung(hang, seconds, made); });
}

void HangWatch::request(Deliver deliver) {
  deliver_to_.push_back(std::move(deliver));
  if (deliver_to_.size() > 1) return;
  collect(Collection::picture);
}

void HangWatch::collect(Collection what) {
  for (Host& host : hosts_) host.answered = false;
  give_up_at_ = after(answer_limit, now_());
  collecting_ = what;
  actions_.collect(++collection_, what);
}

void HangWatch::collected(std::size_t host, std::uint32_t number, ReportForm form,
                          std::span<const std::byte> reports) {
  if (host >= hosts_.size() || number != collection_ || deliver_to_.empty() ||
      hosts_[host].answered) {
    return;
  }
  collected_.add(form, reports);
  no_answer(host, number);
}

void HangWatch::no_answer(std::size_t host, std::uint32_t number) {
  if (host >= hosts_.size() || number != collection_ || deliver_to_.empty() ||
      std::exchange(hosts_[host].answered, true)) {
    return;
  }
  if (std::all_of(hosts_.begin(), hosts_.end(), [](const Host& one) { return one.answered; }))
    collection_done();
}

void HangWatch::collection_done() {
  if (collecting_ == Collection::picture) {
    picture_ = collected_.take();
    collect(Collection::stacks);
  } else {
    // A host that shows no stacks in time has shown its picture.
    deliver(completed(collected_.take(), std::exchange(picture_, {})));
  }
}

void HangWatch::deliver(const RankClasses& classes) {
  give_up_at_.reset();
  const HangReport report = analyse(classes);
  // A receiver may ask again.
  for (const Deliver& to : std::exchange(deliver_to_, {})) to(report);
}

Deadline HangWatch::next_deadline() const {
  return give_up_at_;
}

void HangWatch::meet_deadlines() {
  if (met(give_up_at_, now_())) collection_done();
}

}  // namespace gex::launch
