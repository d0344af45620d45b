#pragma once
// Reads of a sequencer, as a generator makes them, and their k-mers.

#include <cstdint>
#include <random>
#include <vector>

namespace kmer {

struct Options {
  long genome = 100000;
  long coverage = 10;
  int errors = 5;  ///< wrong letters of a thousand
  int k = 21;
  bool is_verified = false;
};

/// Two bits a letter: 0 to 3 for A, C, G, T. The complement of a letter is 3 minus it.
using Letters = std::vector<std::uint8_t>;
using Kmer = std::uint64_t;

/// The reads of one sequencing run. Each can be made by itself, by any rank.
class Reads {
 public:
  explicit Reads(const Options& options) : options_(options), genome_(std::size_t(options.genome)) {
    std::mt19937_64 random(1);
    for (std::uint8_t& letter : genome_) letter = random() % 4;
  }

  static constexpr long length = 150;
  long count() const { return options_.genome * options_.coverage / length; }
  Letters make(long number) const {
    std::mt19937_64 random(std::uint64_t(number) + 2);
    const std::size_t begin = random() % (genome_.size() - std::size_t(length) + 1);
    Letters read(genome_.begin() + long(begin), genome_.begin() + long(begin) + length);
    for (std::uint8_t& letter : read) {
      if (random() % 1000 < std::uint64_t(options_.errors)) letter = (letter + 1) % 4;
    }
    return read;
  }

 private:
  Options options_;
  Letters genome_;
};

/// Calls `function` with each k-mer of a read, or with its reverse complement if that is less.
template <class Function>
void for_each_kmer(const Letters& read, int k, Function function) {
  const Kmer mask = (Kmer(1) << (2 * k)) - 1;
  Kmer forward = 0;
  Kmer backward = 0;
  int letters = 0;
  for (const Kmer letter : read) {
    forward = (forward << 2 | letter) & mask;
    backward = backward >> 2 | (3 - letter) << (2 * (k - 1));
    if (++letters >= k) function(forward < backward ? forward : backward);
  }
}

}  // namespace kmer
