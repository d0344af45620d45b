#pragma once
// Symmetric sparse matrices, and the Laplacian of a grid as one.

#include <array>
#include <vector>

namespace sparse {

/// A box of points. An extent of 1 makes it two-dimensional.
struct Grid {
  std::array<int, 3> extent{1, 1, 1};

  int points() const { return extent[0] * extent[1] * extent[2]; }
  int point(int x, int y, int z) const { return (z * extent[1] + y) * extent[0] + x; }
};

/// The lower triangle of a symmetric matrix by columns: entries `begins[j]` to `begins[j + 1]` are
/// those of column j, the diagonal first, in ascending order of rows.
struct Matrix {
  std::vector<int> begins{0};
  std::vector<int> rows;
  std::vector<double> values;

  int order() const { return int(begins.size()) - 1; }
};

/// The Laplacian of a grid whose border is zero, with 5 or 7 points. `order` gives the point of
/// each row.
Matrix laplacian(const Grid& grid, const std::vector<int>& order);

std::vector<double> multiply(const Matrix& matrix, const std::vector<double>& x);

/// An order of a grid's points by nested dissection: two halves, and behind them the plane of
/// points between them, each half by the same rule.
std::vector<int> nested_dissection(const Grid& grid);

}  // namespace sparse
