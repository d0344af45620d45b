#pragma once
// The work on the grid besides its transforms: how it starts, how its spectrum evolves, and
// which of its points the checksum adds.

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "problem.h"

namespace ft {

/// The factors exp(-4 alpha pi^2 t k^2) along one dimension of n points, k being the wavenumber of
/// each. A point's factor is the product of three, one for each dimension.
inline std::vector<double> decay(std::size_t n, int iteration) {
  constexpr double kAlpha = 1e-6;
  constexpr double pi = std::numbers::pi;
  std::vector<double> factors(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double k = static_cast<double>(i < n / 2 ? i : n - i);
    factors[i] = std::exp(-4 * kAlpha * pi * pi * iteration * k * k);
  }
  return factors;
}

/// Where the checksum's point number j, from 1 to 1024, lies in the grid.
struct ChecksumPoint {
  std::size_t x, y, z;
};

inline constexpr int kChecksumPoints = 1024;

inline ChecksumPoint checksum_point(const Problem& problem, int j) {
  const auto index = static_cast<std::size_t>(j);
  return {index % problem.nx, 3 * index % problem.ny, 5 * index % problem.nz};
}

/// All three tables of one iteration. The one along x holds each factor twice, for the real and for
/// the imaginary part, so that a row is a plain product of doubles.
struct Evolution {
  std::vector<double> x_twice, y, z;

  Evolution(const Problem& problem, int iteration)
      : x_twice(2 * problem.nx), y(decay(problem.ny, iteration)), z(decay(problem.nz, iteration)) {
    const std::vector<double> x = decay(problem.nx, iteration);
    for (std::size_t i = 0; i < x.size(); ++i) x_twice[2 * i] = x_twice[2 * i + 1] = x[i];
  }

  /// Writes the row (y, z) of the spectrum at this iteration, from that at the start.
  void row(std::size_t y_index, std::size_t z_index, const Complex* start, Complex* out) const {
    const double factor = y[y_index] * z[z_index];
    const double* in = reinterpret_cast<const double*>(start);
    double* to = reinterpret_cast<double*>(out);
    for (std::size_t i = 0; i < x_twice.size(); ++i) to[i] = in[i] * (factor * x_twice[i]);
  }
};

}  // namespace ft
