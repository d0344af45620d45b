#pragma once
// The grid split over the ranks, and the two transposes that every 3-D transform needs one of.

#include <algorithm>
#include <cstddef>

#include "problem.h"

namespace ft {

/// One transpose. Before it a rank owns whole planes of rows; after it a rank owns whole planes of
/// the other kind, each made of the rows of one number, one row from every plane of every rank. A
/// row, which is x, is never divided.
struct Transpose {
  std::size_t planes;      ///< Planes that a rank owns before.
  std::size_t rows;        ///< Rows of each such plane.
  std::size_t row_length;  ///< In elements, the padding included.
  std::size_t ranks;
  std::size_t rank;

  std::size_t first_plane() const { return rank * planes; }  ///< Counted over all ranks.
  std::size_t planes_after() const { return rows / ranks; }
  std::size_t rows_after() const { return planes * ranks; }
  std::size_t first_plane_after() const { return rank * planes_after(); }
  std::size_t elements() const { return planes * rows * row_length; }
};

/// A problem on `ranks` ranks, seen from `rank`. Each row of x is followed by `padding` unused
/// elements, so that the points of a column do not all fall into the same cache sets. Four
/// elements, which are one cache line, make the distance of two rows an odd number of lines: that
/// spreads a column over all sets, and no other padding measured better.
struct Grid {
  const Problem& problem;
  std::size_t ranks;
  std::size_t rank;
  std::size_t padding;

  std::size_t row_length() const { return problem.nx + padding; }

  /// Planes of z become planes of y.
  Transpose forward() const { return {problem.nz / ranks, problem.ny, row_length(), ranks, rank}; }

  /// Planes of y become planes of z.
  Transpose inverse() const { return {problem.ny / ranks, problem.nz, row_length(), ranks, rank}; }

  /// Elements of a rank's share.
  std::size_t elements() const { return forward().elements(); }

  /// Elements of the larger kind of plane.
  std::size_t plane_elements() const { return std::max(problem.ny, problem.nz) * row_length(); }
};

}  // namespace ft
