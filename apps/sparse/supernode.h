#pragma once
// The structure of a factor of a sparse matrix, before it is computed.

#include <vector>

#include "matrix.h"

namespace sparse {

/// Consecutive columns of a factor that have the same rows below them.
struct Supernode {
  int begin;              ///< The first column.
  int end;                ///< Behind the last.
  std::vector<int> rows;  ///< The rows below the columns, in ascending order.
  int parent;             ///< The supernode of the first row below, or -1.

  int width() const { return end - begin; }
  /// Columns and the rows below them: the order of the supernode's front.
  int order() const { return width() + int(rows.size()); }
  /// Row number `i` of the front, as a row of the matrix.
  int row(int i) const { return i < width() ? begin + i : rows[std::size_t(i - width())]; }
};

struct Analysis {
  int relaxed = 16;    ///< Subtrees of up to that many columns become one supernode, with zeros.
  double zeros = 0.1;  ///< Part of a larger supernode that may be zeros.
  int widest = 0;      ///< Wider supernodes are split; 0: none.
};

/// The supernodes of the matrix's Cholesky factor in the order of their columns; children come
/// before their parents. The columns of each subtree of the elimination tree must be consecutive,
/// as nested dissection leaves them.
std::vector<Supernode> analyze(const Matrix& matrix, const Analysis& how);

/// The supernode of each column.
std::vector<int> supernode_of_columns(const std::vector<Supernode>& supernodes);

}  // namespace sparse
