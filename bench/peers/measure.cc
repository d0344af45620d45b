#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace peers {

namespace {

struct Wanted {
  std::string name;
  std::vector<std::size_t> sizes;
};

struct Options {
  unsigned samples = 3;
  double sample_ns = 10e6;
  std::vector<Wanted> wanted;
};

[[noreturn]] void refuse(const Library& library, const char* program, const char* word) {
  if (library.rank() == 0)
    std::fprintf(stderr,
                 "%s: '%s' is not understood; usage: %s [--samples N] [--ms MILLISECONDS] "
                 "NAME:SIZE,SIZE...\n",
                 program, word, program);
  std::exit(2);
}

bool parse_sizes(const char* text, std::vector<std::size_t>& sizes) {
  while (*text != '\0') {
    char* end = nullptr;
    const unsigned long long size = std::strtoull(text, &end, 10);
    if (end == text || (*end != '\0' && *end != ',') || size > max_bytes) return false;
    sizes.push_back(size);
    text = *end == ',' ? end + 1 : end;
  }
  return !sizes.empty();
}

Options parse(const Library& library, int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--samples" && i + 1 < argc && std::atoi(argv[i + 1]) > 0) {
      options.samples = static_cast<unsigned>(std::atoi(argv[++i]));
    } else if (word == "--ms" && i + 1 < argc && std::atof(argv[i + 1]) > 0) {
      options.sample_ns = std::atof(argv[++i]) * 1e6;
    } else {
      const std::size_t colon = word.find(':');
      Wanted wanted{word.substr(0, colon), {}};
      if (colon == std::string::npos || !parse_sizes(argv[i] + colon + 1, wanted.sizes))
        refuse(library, argv[0], argv[i]);
      options.wanted.push_back(std::move(wanted));
    }
  }
  return options;
}

double time_of(Library& library, const Repeated& operation, std::uint64_t repetitions) {
  library.barrier();
  const auto begin = std::chrono::steady_clock::now();
  operation(repetitions);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count();
}

/// How many repetitions make a sample. Warms up as well.
std::uint64_t repetitions_for(Library& library, const Repeated& operation, double sample_ns) {
  constexpr std::uint64_t max_repetitions = 1U << 30;
  for (std::uint64_t repetitions = 1;; repetitions *= 4) {
    // The faster of two: one that was interrupted would have all samples be of a few repetitions.
    const double ns = std::min(time_of(library, operation, repetitions),
                               time_of(library, operation, repetitions));
    std::uint64_t enough = 0;
    if (ns >= sample_ns / 8 || repetitions >= max_repetitions)
      enough = std::max<std::uint64_t>(
          1, static_cast<std::uint64_t>(static_cast<double>(repetitions) * sample_ns / ns));
    enough = library.from_root(enough);
    if (enough != 0) return enough;
  }
}

void print(const std::string& name, std::size_t size, const std::vector<double>& samples) {
  std::printf("{\"row\": \"%s.%zu\", \"ns\": [", name.c_str(), size);
  for (std::size_t i = 0; i < samples.size(); ++i)
    std::printf("%s%.6g", i == 0 ? "" : ", ", samples[i]);
  std::printf("]}\n");
  std::fflush(stdout);
}

/// Bytes of memory of this process, of shared pages its part. 0: unknown.
std::size_t memory() {
  std::ifstream lines("/proc/self/smaps_rollup");
  for (std::string word; lines >> word;) {
    std::size_t kibibytes = 0;
    if (word == "Pss:" && lines >> kibibytes) return kibibytes << 10;
  }
  return 0;
}

}  // namespace

Buffer::Buffer(std::size_t bytes)
    : size_(bytes), bytes_(static_cast<char*>(std::aligned_alloc(4096, bytes))) {
  if (!bytes_) {
    std::fprintf(stderr, "no memory for a buffer of %zu bytes\n", bytes);
    std::exit(1);
  }
  std::memset(data(), 0, bytes);
}

Nest::Nest(unsigned dims, std::size_t element_bytes, std::size_t elements)
    : count(dims, 1), strides(dims) {
  for (unsigned i = 0; (std::size_t{1} << i) < elements; ++i) count[i % dims] *= 2;
  auto stride = static_cast<std::ptrdiff_t>(4 * element_bytes);
  for (unsigned i = 0; i < dims; ++i) {
    strides[i] = stride;
    stride *= static_cast<std::ptrdiff_t>(count[i]);
  }
}

unsigned dimensions_of(const std::string& name, const char* begin) {
  if (name.rfind(begin, 0) != 0) return 0;
  return static_cast<unsigned>(std::atoi(name.c_str() + std::strlen(begin)));
}

void measure(Library& library, int argc, char** argv) {
  const Options options = parse(library, argc, argv);
  for (const Wanted& wanted : options.wanted) {
    for (const std::size_t size : wanted.sizes) {
      const Repeated operation = library.operation(wanted.name, size);
      if (!operation) continue;
      const std::uint64_t repetitions = repetitions_for(library, operation, options.sample_ns);
      std::vector<double> samples;
      for (unsigned i = 0; i < options.samples; ++i)
        samples.push_back(time_of(library, operation, repetitions) /
                          static_cast<double>(repetitions));
      if (library.rank() == 0) print(wanted.name, size, samples);
    }
  }
  library.barrier();
  if (options.wanted.empty() && library.rank() == 0)
    std::printf("{\"row\": \"memory\", \"bytes\": [%zu]}\n", memory());
}

}  // namespace peers
