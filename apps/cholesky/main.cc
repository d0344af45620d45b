// cholesky: factorises the Laplacian of a grid on all ranks, and solves a system with it.

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "factorization.h"
#include "sequential.h"
#include "solution.h"

namespace cholesky {
namespace {

struct Options {
  sparse::Grid grid{{12, 12, 12}};
  int widest = 32;
  std::string mapping = "fan-both";
  bool is_verified = false;
};

/// The reason, if the options cannot be used.
std::string parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto number = [&] { return ++i < argc ? std::atoi(argv[i]) : 0; };
    if (option == "--verify") {
      options.is_verified = true;
    } else if (option == "--grid") {
      for (int& extent : options.grid.extent) {
        extent = number();
        if (extent < 1) return "--grid is followed by 3 numbers above 0";
      }
    } else if (option == "--widest") {
      options.widest = number();
      if (options.widest < 1) return "--widest is followed by a number above 0";
    } else if (option == "--mapping") {
      options.mapping = ++i < argc ? argv[i] : "";
      if (options.mapping != "fan-in" && options.mapping != "fan-out" &&
          options.mapping != "fan-both") {
        return "--mapping is fan-in, fan-out or fan-both";
      }
    } else {
      return "the options are --grid, --widest, --mapping and --verify";
    }
  }
  return "";
}

Mapping choose_mapping(const std::string& name) {
  const int ranks = upcxx::rank_n();
  if (name == "fan-in") return {1, ranks};
  if (name == "fan-out") return {ranks, 1};
  int columns = int(std::sqrt(ranks));
  while (ranks % columns != 0) --columns;
  return {ranks / columns, columns};
}

/// The largest difference between an element here and the sequential factor's.
double difference(const Factorization& factorization, const sparse::Matrix& expected) {
  double largest = 0;
  for (int id = 0; id < int(factorization.panels().size()); ++id) {
    if (!factorization.is_mine(id)) continue;
    const sparse::Supernode& shape = factorization.panels()[std::size_t(id)].shape;
    const double* elements = factorization.elements(id);
    for (int column = shape.begin; column < shape.end; ++column, elements += shape.order()) {
      auto entry = std::size_t(expected.begins[std::size_t(column)]);
      const auto end = std::size_t(expected.begins[std::size_t(column) + 1]);
      for (int i = column - shape.begin; i < shape.order(); ++i) {
        const bool is_entry = entry < end && expected.rows[entry] == shape.row(i);
        largest =
            std::max(largest, std::abs(elements[i] - (is_entry ? expected.values[entry] : 0)));
        if (is_entry) ++entry;
      }
      // An entry that the panel has no place for.
      if (entry < end) return HUGE_VAL;
    }
  }
  return largest;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

using Clock = std::chrono::steady_clock;
double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

int run(const Options& options) {
  const sparse::Matrix matrix =
      sparse::laplacian(options.grid, sparse::nested_dissection(options.grid));
  const std::vector<Panel> panels = make_panels(matrix, options.widest);
  std::vector<double> b(std::size_t(matrix.order()));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = double(1 + i % 7);
  Factorization factorization(matrix, panels, choose_mapping(options.mapping));
  upcxx::barrier();
  auto begin = Clock::now();
  factorization.run();
  const double factored = milliseconds_since(begin);
  begin = Clock::now();
  const std::vector<double> x = Solution(factorization, b).run();
  const double solved = milliseconds_since(begin);
  const double residual = largest_difference(sparse::multiply(matrix, x), b);
  bool is_right = residual < 1e-9;
  if (upcxx::rank_me() == 0) {
    double elements = 0;
    for (const Panel& panel : panels) elements += double(panel.elements());
    std::printf(
        "order %d, %zu panels, %.0f elements; factor %.3f ms, solution %.3f ms on %d ranks; "
        "residual %.2g\n",
        matrix.order(), panels.size(), elements, factored, solved, upcxx::rank_n(), residual);
  }
  if (options.is_verified) {
    const sparse::Matrix expected = factor(matrix);
    const double of_factor =
        upcxx::reduce_all(difference(factorization, expected), upcxx::op_fast_max).wait();
    const double of_x = largest_difference(x, solve(expected, b));
    is_right = is_right && of_factor < 1e-9 && of_x < 1e-9;
    if (upcxx::rank_me() == 0) {
      std::printf("differences from the sequential solver: factor %.2g, solution %.2g\n", of_factor,
                  of_x);
    }
  }
  if (upcxx::rank_me() == 0) std::printf("VERIFICATION %s\n", is_right ? "SUCCESSFUL" : "FAILED");
  return is_right ? 0 : 1;
}

}  // namespace
}  // namespace cholesky

int main(int argc, char** argv) try {
  upcxx::init();
  cholesky::Options options;
  const std::string reason = cholesky::parse(argc, argv, options);
  if (!reason.empty() && upcxx::rank_me() == 0) {
    std::fprintf(stderr, "cholesky: %s (README.md)\n", reason.c_str());
  }
  const int status = reason.empty() ? cholesky::run(options) : 2;
  upcxx::finalize();
  return status;
} catch (const std::exception& error) {
  std::fprintf(stderr, "cholesky: %s\n", error.what());
  return 1;
}
