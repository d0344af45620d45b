#include "report.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace ft {
namespace {

struct Spread {
  double max = 0;
  double average = 0;
};

Spread spread(const Outcome& outcome, double Traffic::*seconds) {
  Spread result;
  for (const Traffic& traffic : outcome.traffic) {
    result.max = std::max(result.max, traffic.*seconds);
    result.average += traffic.*seconds / static_cast<double>(outcome.traffic.size());
  }
  return result;
}

/// The maximum that any rank sent: all send as many.
std::uint64_t messages(const Outcome& outcome) {
  std::uint64_t max = 0;
  for (const Traffic& traffic : outcome.traffic) max = std::max(max, traffic.messages);
  return max;
}

double rate(const Run& run, const Outcome& outcome) {
  return mops(run.problem.points(), run.iterations, outcome.seconds);
}

nlohmann::json to_json(const Spread& spread) {
  return {{"max", spread.max}, {"average", spread.average}};
}

}  // namespace

bool is_verified(const Run& run, const Outcome& outcome) {
  return verified_iterations(run.problem, outcome.checksums) == run.iterations;
}

void print_heading(const Run& run) {
  std::printf("NAS FT class %s: grid %zu x %zu x %zu, iterations %d, ranks %zu, padding %zu\n",
              run.problem.name.c_str(), run.problem.nx, run.problem.ny, run.problem.nz,
              run.iterations, run.ranks, run.padding);
}

void print_outcome(const Run& run, const Outcome& outcome, bool ranks_info) {
  std::printf("\nvariant %s\n", outcome.variant.c_str());
  for (std::size_t i = 0; i < outcome.checksums.size(); ++i) {
    std::printf("  iteration %2zu  checksum %.12e %.12e\n", i + 1, outcome.checksums[i].real(),
                outcome.checksums[i].imag());
  }
  const int verified = verified_iterations(run.problem, outcome.checksums);
  if (verified == run.iterations) {
    std::printf("  VERIFICATION SUCCESSFUL\n");
  } else {
    const Complex published = run.problem.checksums[static_cast<std::size_t>(verified)];
    std::printf("  VERIFICATION UNSUCCESSFUL: iteration %d should be %.12e %.12e within %.0e\n",
                verified + 1, published.real(), published.imag(), kTolerance);
  }
  const Spread starting = spread(outcome, &Traffic::starting);
  const Spread waiting = spread(outcome, &Traffic::waiting);
  std::printf("  seconds                 %10.4f\n", outcome.seconds);
  std::printf("  Mop/s                   %10.1f\n", rate(run, outcome));
  std::printf("  starting communication  %10.4f s at most, %.4f s on average\n", starting.max,
              starting.average);
  std::printf("  waiting for it          %10.4f s at most, %.4f s on average\n", waiting.max,
              waiting.average);
  std::printf("  messages of each rank   %10" PRIu64 ", %zu by Table 1\n", messages(outcome),
              outcome.expected_messages);
  if (!ranks_info) return;
  std::printf("  rank    messages           bytes   starting s    waiting s\n");
  for (std::size_t rank = 0; rank < outcome.traffic.size(); ++rank) {
    const Traffic& traffic = outcome.traffic[rank];
    std::printf("  %4zu %11" PRIu64 " %15" PRIu64 " %12.4f %12.4f\n", rank, traffic.messages,
                traffic.bytes, traffic.starting, traffic.waiting);
  }
}

void print_comparison(const Run& run, const std::vector<Outcome>& outcomes) {
  std::printf("\n%-10s %10s %10s %12s %12s %14s\n", "variant", "seconds", "Mop/s", "starting s",
              "waiting s", "messages/rank");
  for (const Outcome& outcome : outcomes) {
    std::printf("%-10s %10.4f %10.1f %12.4f %12.4f %14" PRIu64 "\n", outcome.variant.c_str(),
                outcome.seconds, rate(run, outcome), spread(outcome, &Traffic::starting).max,
                spread(outcome, &Traffic::waiting).max, messages(outcome));
  }
}

std::string to_json(const Run& run, const std::vector<Outcome>& outcomes) {
  nlohmann::json variants = nlohmann::json::array();
  for (const Outcome& outcome : outcomes) {
    nlohmann::json checksums = nlohmann::json::array();
    for (const Complex& sum : outcome.checksums) {
      checksums.push_back({sum.real(), sum.imag()});
    }
    nlohmann::json ranks = nlohmann::json::array();
    for (const Traffic& traffic : outcome.traffic) {
      ranks.push_back({{"messages", traffic.messages},
                       {"bytes", traffic.bytes},
                       {"starting", traffic.starting},
                       {"waiting", traffic.waiting}});
    }
    variants.push_back({{"variant", outcome.variant},
                        {"checksums", checksums},
                        {"verified", is_verified(run, outcome)},
                        {"seconds", outcome.seconds},
                        {"mops", rate(run, outcome)},
                        {"starting", to_json(spread(outcome, &Traffic::starting))},
                        {"waiting", to_json(spread(outcome, &Traffic::waiting))},
                        {"expected_messages", outcome.expected_messages},
                        {"ranks", ranks}});
  }
  const nlohmann::json report = {{"class", run.problem.name},    {"nx", run.problem.nx},
                                 {"ny", run.problem.ny},         {"nz", run.problem.nz},
                                 {"iterations", run.iterations}, {"ranks", run.ranks},
                                 {"padding", run.padding},       {"variants", variants}};
  return report.dump(2);
}

}  // namespace ft
