#pragma once
// Three workloads of the literature and how they are verified; how ranks communicate is the
// including program's.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace extras {

/// The mixing function of splitmix64.
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Operation number `i` of a rank: a number that no other operation has. It is never 0.
inline std::uint64_t random_number(int rank, long i) {
  return mix((std::uint64_t(rank) << 40) + std::uint64_t(i) + 1) | 1;
}

/// A tree whose subtrees differ much in size, after the unbalanced tree search benchmark: the root
/// has many children, other nodes have 8 or none. A node is its random number.
namespace tree {

constexpr std::uint64_t root = 0;
constexpr int root_children = 2000;

inline int children(std::uint64_t node) {
  if (node == root) return root_children;
  // 8 children with a probability of 0.124: 8 * 0.124 < 1, so it ends.
  return node % 1000 < 124 ? 8 : 0;
}
/// Some hundred nanoseconds, as a hash of the benchmark takes.
inline std::uint64_t child(std::uint64_t node, int i) {
  std::uint64_t number = node + std::uint64_t(i) + 1;
  for (int round = 0; round < 64; ++round) number = mix(number);
  return number;
}
inline long nodes() {
  long count = 0;
  std::vector<std::uint64_t> left{root};
  while (!left.empty()) {
    const std::uint64_t node = left.back();
    left.pop_back();
    ++count;
    for (int i = 0; i < children(node); ++i) left.push_back(child(node, i));
  }
  return count;
}

}  // namespace tree

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The row of one measurement, and whether it is right; false if it is not.
inline bool report(int rank, const char* name, double operations, double seconds, bool is_right) {
  if (rank == 0) {
    std::printf("%-40s %9.3f million/s%s\n", name, 1e-6 * operations / seconds,
                is_right ? "" : "  WRONG");
  }
  return is_right;
}

/// Operations of each rank, the command's only argument.
inline long operations(int argc, char** argv) {
  return argc > 1 ? std::atol(argv[1]) : 100000;
}

}  // namespace extras
