// ft: the NAS FT benchmark on GASNet-EX, in the three one-sided variants of Bell, Bonachea,
// Nishtala and Yelick (IPDPS 2006). ft_mpi: the like on MPI, and NPB's own all-to-all.

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

#include "benchmark.h"
#include "options.h"
#include "report.h"

namespace ft {
namespace {

/// Flushes standard output; false, after a line with the reason, when it could not be written.
bool finish_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return true;
  std::fprintf(stderr, "%s: cannot write standard output: %s\n", Job::kProgram,
               std::strerror(errno));
  return false;
}

/// The options, or the end of the job.
Options parse(const Job& job, int argc, char** argv) {
  const ParsedOptions parsed =
      parse_options(argc, argv, Job::kProgram, Job::kLibrary, variant_names());
  if (!parsed.error.empty()) job.refuse(parsed.error);
  if (parsed.help.empty()) return parsed.options;
  if (job.is_root()) std::fputs(parsed.help.c_str(), stdout);
  const bool written = finish_output();
  if (written) job.barrier();
  job.exit(written ? 0 : 1);
}

Problem choose_problem(const Job& job, const Options& options) {
  ProblemOrError found;
  if (options.reference.empty()) {
    found = find_problem(published_classes, "nas_ft.json", options.problem);
  } else {
    std::ifstream file(options.reference);
    if (!file) job.refuse("cannot read " + options.reference);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    found = find_problem(text, options.reference, options.problem);
  }
  if (!found.problem) job.refuse(found.error);
  return *std::move(found.problem);
}

void check_rank_count(const Job& job, const Problem& problem) {
  const std::vector<unsigned> counts = problem.rank_counts();
  if (std::find(counts.begin(), counts.end(), static_cast<unsigned>(job.size())) != counts.end())
    return;
  std::string line = "class " + problem.name + " cannot be split over " +
                     std::to_string(job.size()) + " ranks; the counts that work are";
  for (const unsigned count : counts) line.append(" ").append(std::to_string(count));
  job.refuse(line);
}

/// The root's verdict, on all ranks, so that all end with one status.
int agree(const Job& job, const Memory& memory, int verdict) {
  if (job.is_root()) *memory.verdict() = verdict;
  job.share(memory.verdict(), sizeof(int));
  return *memory.verdict();
}

int run_variants(const Job& job, const Options& options, const Problem& problem, const Grid& grid,
                 const Memory& memory, const std::vector<std::unique_ptr<Variant>>& variants) {
  const int iterations = options.iterations == 0 ? problem.iterations() : options.iterations;
  const Run description{problem, grid.ranks, grid.padding, iterations};
  const bool text = job.is_root() && !options.json;
  if (text) print_heading(description);
  std::vector<Outcome> outcomes;
  bool verified = true;
  for (const auto& variant : variants) {
    outcomes.push_back(run(job, grid, memory, *variant, iterations));
    if (job.is_root() && !is_verified(description, outcomes.back())) verified = false;
    if (text) print_outcome(description, outcomes.back(), options.ranks_info);
  }
  if (text && outcomes.size() > 1) print_comparison(description, outcomes);
  if (job.is_root() && options.json) {
    std::printf("%s\n", to_json(description, outcomes).c_str());
  }
  const bool written = finish_output();
  return agree(job, memory, verified && written ? 0 : 1);
}

/// Ends the job: with 0 if every checksum is the published one.
[[noreturn]] void run_benchmark(int argc, char** argv) {
  Job job(&argc, &argv);
  const Options options = parse(job, argc, argv);
  const Problem problem = choose_problem(job, options);
  check_rank_count(job, problem);
  if (options.iterations > problem.iterations()) {
    job.refuse("class " + problem.name + " has published checksums for " +
               std::to_string(problem.iterations()) + " iterations, not " +
               std::to_string(options.iterations));
  }

  const Grid grid{problem, job.size(), job.rank(), options.padding};
  std::vector<std::unique_ptr<Variant>> variants;
  std::size_t packing = 0;
  for (const std::string& name : variant_names()) {
    if (!options.variant.empty() && options.variant != name) continue;
    variants.push_back(make_variant(name));
    packing = std::max(packing, variants.back()->packing_elements(grid.elements()));
  }

  const SegmentPlan plan(grid, packing, problem.iterations());
  if (plan.bytes() > job.largest_segment()) {
    job.refuse("class " + problem.name + " on " + std::to_string(job.size()) +
               " ranks needs a segment of " + format_bytes(plan.bytes()) + " on each (" +
               plan.describe() + "), and the largest to be had is " +
               format_bytes(job.largest_segment()));
  }
  job.attach(plan.bytes());
  const Memory memory(job.segment(), plan);
  job.exit(run_variants(job, options, problem, grid, memory, variants));
}

}  // namespace
}  // namespace ft

int main(int argc, char** argv) {
  try {
    ft::run_benchmark(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", ft::Job::kProgram, error.what());
    return 1;
  }
}
