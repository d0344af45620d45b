// kmer: counts the k-mers of generated reads in a distributed hash table.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <unordered_map>
#include <upcxx/extras/aggregator.hpp>
#include <upcxx/extras/hash_map.hpp>

#include "reads.h"

namespace kmer {
namespace {

/// The identity would put k-mers that begin alike into one part.
struct Hash {
  std::size_t operator()(Kmer key) const {
    key = (key ^ (key >> 31)) * 0x9e3779b97f4a7c15;
    return std::size_t(key ^ (key >> 29));
  }
};
using Counts = upcxx::extras::hash_map<Kmer, long, Hash>;

/// Ends the job with status 2 and one line, which rank 0 prints.
[[noreturn]] void refuse(const char* reason) {
  if (upcxx::rank_me() == 0) std::fprintf(stderr, "kmer: %s (README.md)\n", reason);
  upcxx::finalize();
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const auto number = [&] {
      char* end = nullptr;
      const char* const text = ++i < argc ? argv[i] : "";
      const long value = std::strtol(text, &end, 10);
      if (end == text || *end != '\0' || value < 0) refuse("an option has a number");
      return value;
    };
    if (std::strcmp(argv[i], "--verify") == 0) {
      options.is_verified = true;
    } else if (std::strcmp(argv[i], "--genome") == 0) {
      options.genome = number();
    } else if (std::strcmp(argv[i], "--coverage") == 0) {
      options.coverage = number();
    } else if (std::strcmp(argv[i], "--errors") == 0) {
      options.errors = int(number());
    } else if (std::strcmp(argv[i], "--k") == 0) {
      options.k = int(number());
    } else {
      refuse("the options are --genome, --coverage, --errors, --k and --verify");
    }
  }
  if (options.k < 1 || options.k > 31) refuse("--k is from 1 to 31");
  if (options.genome < Reads::length) refuse("--genome is at least the length of a read, 150");
  return options;
}

/// Counts the reads of all ranks; seconds.
double count(const Reads& reads, const Options& options, Counts& counts) {
  upcxx::dist_object<Counts*> named(&counts);
  const auto id = named.id();
  auto increment = [id](Kmer key) { ++(*id.here())->local()[key]; };
  upcxx::extras::aggregator<Kmer, decltype(increment)> increments(increment);
  upcxx::barrier();
  const auto begin = std::chrono::steady_clock::now();
  for (long read = upcxx::rank_me(); read < reads.count(); read += upcxx::rank_n()) {
    for_each_kmer(reads.make(read), options.k,
                  [&](Kmer key) { increments.push(counts.owner(key), key); });
  }
  increments.flush();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// True if the entries here are those of a count without communication.
bool is_right(const Reads& reads, const Options& options, Counts& counts) {
  std::unordered_map<Kmer, long, Hash> expected;
  for (long read = 0; read < reads.count(); ++read) {
    for_each_kmer(reads.make(read), options.k, [&](Kmer key) {
      if (counts.owner(key) == upcxx::rank_me()) ++expected[key];
    });
  }
  return counts.local() == expected;
}

int run(const Options& options) {
  const Reads reads(options);
  Counts counts;
  const double seconds = count(reads, options, counts);
  struct Totals {
    long all, distinct, once;
  } mine{0, long(counts.local().size()), 0};
  for (const auto& [key, times] : counts.local()) {
    mine.all += times;
    if (times == 1) ++mine.once;
  }
  const Totals sum = upcxx::reduce_all(mine, [](const Totals& a, const Totals& b) {
                       return Totals{a.all + b.all, a.distinct + b.distinct, a.once + b.once};
                     }).wait();
  if (upcxx::rank_me() == 0) {
    std::printf("%ld k-mers, %ld distinct, %ld of them once; %.2f million a second on %d ranks\n",
                sum.all, sum.distinct, sum.once, 1e-6 * double(sum.all) / seconds, upcxx::rank_n());
  }
  if (!options.is_verified) return 0;
  const int right = is_right(reads, options, counts) ? 1 : 0;
  const bool all_right = upcxx::reduce_all(right, upcxx::op_fast_min).wait() == 1;
  if (upcxx::rank_me() == 0) std::printf("VERIFICATION %s\n", all_right ? "SUCCESSFUL" : "FAILED");
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace kmer

int main(int argc, char** argv) try {
  upcxx::init();
  const int status = kmer::run(kmer::parse(argc, argv));
  upcxx::finalize();
  return status;
} catch (const std::exception& error) {
  std::fprintf(stderr, "kmer: %s\n", error.what());
  return 1;
}
