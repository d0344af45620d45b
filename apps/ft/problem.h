#pragma once
// The classes of the NAS FT benchmark: grid, iteration count and the published checksums.

#include <complex>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ft {

using Complex = std::complex<double>;

/// One class. The sides are powers of two; x is the unit-stride dimension.
struct Problem {
  std::string name;
  std::size_t nx = 0;
  std::size_t ny = 0;
  std::size_t nz = 0;
  std::vector<Complex> checksums;  ///< One per iteration.

  int iterations() const { return static_cast<int>(checksums.size()); }
  std::size_t points() const { return nx * ny * nz; }

  /// The grid is split over ranks in planes of z and, transformed, in planes of y: every power of
  /// two up to the shorter of the two divides both.
  std::vector<unsigned> rank_counts() const;
};

/// nas_ft.json as it was when the program was built.
extern const char* const published_classes;

/// Either a problem or the reason why there is none, as one line.
struct ProblemOrError {
  std::optional<Problem> problem;
  std::string error;
};

/// The class `name` of a document in the form of nas_ft.json. `source` names the document in
/// errors.
ProblemOrError find_problem(std::string_view document, const std::string& source,
                            const std::string& name);

/// Largest relative difference between a checksum and the published one that counts as equal, for
/// each of the real and imaginary parts.
inline constexpr double kTolerance = 1e-12;

/// The iterations of `computed` that agree with the published ones, counted from the first one.
int verified_iterations(const Problem& problem, const std::vector<Complex>& computed);

/// Millions of operations a second as NAS counts them for `iterations` of a grid of `points`.
double mops(std::size_t points, int iterations, double seconds);

}  // namespace ft
