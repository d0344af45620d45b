// extend-add: adds the fronts of a multifrontal factorisation to their parents, by remote calls of
// UPC++. extend-add-mpi: the like by MPI_Alltoallv.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "communication.h"

namespace extend_add {
namespace {

struct Options {
  sparse::Grid grid{{12, 12, 12}};
  int block = 16;
  int rounds = 1;
  bool is_verified = false;
};

/// The reason, if the options cannot be used.
std::string parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--verify") == 0) {
      options.is_verified = true;
      continue;
    }
    std::vector<int*> numbers;
    if (std::strcmp(argv[i], "--grid") == 0) {
      for (int& extent : options.grid.extent) numbers.push_back(&extent);
    } else if (std::strcmp(argv[i], "--block") == 0) {
      numbers = {&options.block};
    } else if (std::strcmp(argv[i], "--rounds") == 0) {
      numbers = {&options.rounds};
    } else {
      return "the options are --grid, --block, --rounds and --verify";
    }
    const std::string option = argv[i];
    for (int* const number : numbers) {
      *number = ++i < argc ? std::atoi(argv[i]) : 0;
      if (*number < 1) {
        return option + " is followed by " + std::to_string(numbers.size()) +
               (numbers.size() == 1 ? " number" : " numbers") + " above 0";
      }
    }
  }
  return "";
}

int run(int argc, char** argv) {
  Communication communication(&argc, &argv);
  Options options;
  const std::string reason = parse(argc, argv, options);
  const bool is_root = communication.rank() == 0;
  if (!reason.empty()) {
    if (is_root) {
      std::fprintf(stderr, "%s: %s (README.md)\n", Communication::program, reason.c_str());
    }
    return 2;
  }
  const sparse::Matrix matrix =
      sparse::laplacian(options.grid, sparse::nested_dissection(options.grid));
  const Tree tree = make_tree(sparse::analyze(matrix, {}), communication.size(), options.block);
  double added = 0;
  int largest = 0;
  for (const Front& front : tree) {
    const double below = front.order - front.width;
    added += below * below;
    largest = std::max(largest, front.order);
  }
  double seconds = 0;
  long differ = 0;
  for (int round = 0; round < options.rounds; ++round) {
    Fronts fronts(tree, communication.rank());
    communication.barrier();
    const auto begin = std::chrono::steady_clock::now();
    communication.accumulate(fronts);
    communication.barrier();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    seconds = round == 0 ? taken.count() : std::min(seconds, taken.count());
    if (options.is_verified) differ += communication.sum(differences(fronts));
  }
  if (is_root) {
    std::printf("%zu fronts of order %d at most; %.0f elements added in %.3f ms on %d ranks\n",
                tree.size(), largest, added, 1e3 * seconds, communication.size());
    if (options.is_verified) {
      std::printf(
          differ == 0 ? "VERIFICATION SUCCESSFUL\n" : "VERIFICATION FAILED: %ld elements differ\n",
          differ);
    }
  }
  return differ == 0 ? 0 : 1;
}

}  // namespace
}  // namespace extend_add

int main(int argc, char** argv) try {
  return extend_add::run(argc, argv);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s: %s\n", extend_add::Communication::program, error.what());
  return 1;
}
