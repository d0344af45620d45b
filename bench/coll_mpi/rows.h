#pragma once
// The rows that coll_gex and coll_mpi measure alike. A library is a class with
//
//   unsigned rank() const, ranks() const;
//   void barrier();
//   void broadcast(void* data, std::size_t bytes);            // rank 0 is the root
//   void sum(double* result, const double* operand, std::size_t count);   // on all ranks
//   void* allocate(std::size_t bytes);                        // aligned to a page
//
// A figure is the time of one operation in a loop of them, from a barrier of all ranks to another,
// as rank 0 sees it: a root may be ahead of the others, as it may in a program.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace coll_mpi {

struct Options {
  int rounds = 5;
  bool rewrite = false;  ///< the root writes to each line of its data before each broadcast
  bool segment = false;  ///< coll_gex: data lie in segments
};

inline Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--rewrite") {
      options.rewrite = true;
    } else if (word == "--segment") {
      options.segment = true;
    } else if (word == "--rounds" && i + 1 < argc && std::atoi(argv[i + 1]) > 0) {
      options.rounds = std::atoi(argv[++i]);
    } else {
      std::fprintf(stderr, "usage: %s [--rounds N] [--rewrite] [--segment]\n", argv[0]);
      std::exit(2);
    }
  }
  return options;
}

inline constexpr std::size_t sizes[] = {8, 64 << 10, 1 << 20, 16 << 20};
inline constexpr std::size_t max_bytes = 16 << 20;

/// Rank 0 prints each row as one line of JSON, `{"row": ..., "ns": [...]}`.
template <class Library>
class Rows {
 public:
  Rows(Library& library, Options options)
      : library_(library),
        options_(options),
        data_(library.allocate(max_bytes)),
        operand_(static_cast<double*>(library.allocate(max_bytes))),
        result_(static_cast<double*>(library.allocate(max_bytes))) {
    std::memset(data_, 1, max_bytes);
    std::fill_n(operand_, max_bytes / sizeof(double), 1.0);
    std::fill_n(result_, max_bytes / sizeof(double), 0.0);
  }

  void measure_barrier() {
    measure("barrier", 20000, [&] { library_.barrier(); });
  }
  void measure_broadcasts() {
    for (const std::size_t bytes : sizes)
      measure("broadcast." + std::to_string(bytes), repetitions(bytes), [&] {
        if (options_.rewrite && library_.rank() == 0) write_lines(bytes);
        library_.broadcast(data_, bytes);
      });
  }
  void measure_sums() {
    for (const std::size_t bytes : sizes) {
      const std::size_t count = bytes / sizeof(double);
      measure("sum." + std::to_string(bytes), repetitions(bytes),
              [&] { library_.sum(result_, operand_, count); });
      for (const std::size_t at : {std::size_t{0}, count / 2, count - 1})
        if (result_[at] != library_.ranks()) fail("sum");
    }
  }

  /// `operation` is done `count` times in each round.
  template <class Do>
  void measure(const std::string& row, unsigned count, Do operation) {
    std::vector<double> samples;
    for (int round = -1; round < options_.rounds; ++round) {
      library_.barrier();
      const auto begin = std::chrono::steady_clock::now();
      for (unsigned i = 0; i < count; ++i) operation();
      library_.barrier();
      const std::chrono::duration<double, std::nano> took =
          std::chrono::steady_clock::now() - begin;
      // The first one is a warm-up.
      if (round >= 0) samples.push_back(took.count() / count);
    }
    if (library_.rank() != 0) return;
    std::printf("{\"row\": \"%s\", \"ns\": [", row.c_str());
    for (std::size_t i = 0; i < samples.size(); ++i)
      std::printf("%s%.1f", i == 0 ? "" : ", ", samples[i]);
    std::printf("]}\n");
    std::fflush(stdout);
  }

  static unsigned repetitions(std::size_t bytes) {
    return bytes < 1024 ? 20000
                        : static_cast<unsigned>(std::max<std::size_t>((96 << 20) / bytes, 4));
  }

 private:
  void write_lines(std::size_t bytes) {
    auto* const lines = static_cast<unsigned char*>(data_);
    for (std::size_t at = 0; at < bytes; at += 64) ++lines[at];
  }
  [[noreturn]] void fail(const char* what) const {
    std::fprintf(stderr, "rank %u: %s is wrong\n", library_.rank(), what);
    std::exit(1);
  }

  Library& library_;
  Options options_;
  void* data_;
  double* operand_;
  double* result_;
};

}  // namespace coll_mpi
