#include "sampling.h"

#include <time.h>

#include <algorithm>
#include <cstdio>

namespace gexperf {

namespace {

/// The time of a round: long against the clock's cost and the ranks' skew in leaving a barrier,
/// short against a scheduler's moods, which then disturb one sample of many.
constexpr double round_ns = 30e6;
constexpr double trial_ns = 1e6;
constexpr unsigned trials = 4;
constexpr std::uint64_t max_repetitions = 1U << 30;

double now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double time_of(const Job& job, const Repeated& what, std::uint64_t repetitions) {
  job.barrier();
  const double begin = now_ns();
  what(repetitions);
  return now_ns() - begin;
}

/// How many repetitions make a sample of `sample_ns`. Also warms up. The fastest of some trials
/// counts: one that was interrupted would have all samples be of a few repetitions.
std::uint64_t repetitions_for(const Job& job, const Repeated& what, double sample_ns) {
  for (std::uint64_t repetitions = 1;; repetitions *= 4) {
    double fastest = time_of(job, what, repetitions);
    for (unsigned trial = 1; trial < trials; ++trial)
      fastest = std::min(fastest, time_of(job, what, repetitions));
    std::uint64_t enough = 0;
    if (fastest >= trial_ns || repetitions >= max_repetitions) {
      enough = std::max<std::uint64_t>(
          1, static_cast<std::uint64_t>(static_cast<double>(repetitions) * sample_ns / fastest));
    }
    enough = job.from_root(enough);
    if (enough != 0) return enough;
  }
}

void take_samples(const Job& job, unsigned rounds, const Repeated& subject, const Repeated& limit) {
  const bool has_subject = static_cast<bool>(subject);
  const bool has_limit = static_cast<bool>(limit);
  const double sample_ns = has_subject && has_limit ? round_ns / 2 : round_ns;
  const std::uint64_t subject_repetitions =
      has_subject ? repetitions_for(job, subject, sample_ns) : 0;
  const std::uint64_t limit_repetitions = has_limit ? repetitions_for(job, limit, sample_ns) : 0;
  const auto take = [&job](const Repeated& what, std::uint64_t repetitions) {
    return repetitions == 0 ? 0.0
                            : time_of(job, what, repetitions) / static_cast<double>(repetitions);
  };
  for (unsigned round = 0; round < rounds; ++round) {
    double subject_ns = 0;
    double limit_ns = 0;
    if (round % 2 == 0) subject_ns = take(subject, subject_repetitions);
    limit_ns = take(limit, limit_repetitions);
    if (round % 2 != 0) subject_ns = take(subject, subject_repetitions);
    if (job.rank() == 0) std::printf("sample %.6g %.6g\n", subject_ns, limit_ns);
  }
  std::fflush(stdout);
}

}  // namespace

void compare(const Context& context, const Repeated& subject, const Repeated& limit) {
  take_samples(context.job, context.rounds, context.wanted == Wanted::limit ? Repeated() : subject,
               context.wanted == Wanted::subject ? Repeated() : limit);
}

void compare(const Job& job, unsigned rounds, const Repeated& subject, const Repeated& limit) {
  take_samples(job, rounds, subject, limit);
}

std::size_t fastest_of(const Job& job, std::span<const Repeated> candidates) {
  std::size_t fastest = 0;
  double shortest = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::uint64_t repetitions = repetitions_for(job, candidates[i], trial_ns);
    double time = time_of(job, candidates[i], repetitions);
    for (unsigned trial = 1; trial < trials; ++trial)
      time = std::min(time, time_of(job, candidates[i], repetitions));
    time /= static_cast<double>(repetitions);
    if (i != 0 && time >= shortest) continue;
    shortest = time;
    fastest = i;
  }
  return static_cast<std::size_t>(job.from_root(fastest));
}

}  // namespace gexperf
