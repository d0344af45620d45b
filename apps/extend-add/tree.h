#pragma once
// The fronts of a multifrontal factorisation, the ranks that share each, and how a front is spread
// over them.

#include <algorithm>
#include <vector>

#include "../sparse/supernode.h"

namespace extend_add {

/// Indices dealt out to `parts` in blocks: the first block to part 0, and so on, and round again.
struct Cyclic {
  int block = 1;
  int parts = 1;

  int owner(int i) const { return i / block % parts; }
  /// The number of index `i` among its owner's.
  int local(int i) const { return i / block / parts * block + i % block; }
  /// How many of the indices below `n` a part has.
  int count(int n, int part) const {
    const int round = block * parts;
    return n / round * block + std::clamp(n % round - part * block, 0, block);
  }
};

/// A dense matrix of `order` rows and columns. The first `width` ones are eliminated in it; what is
/// behind them is added to the parent's.
struct Front {
  int order;
  int width;
  int parent;  ///< -1: none.
  std::vector<int> children;
  std::vector<int> place;  ///< The place of row `width + i` in the parent is place[i].

  // The ranks that have to do with it, and those of them that have its elements: a grid of
  // rows.parts by columns.parts, by columns.
  int first_rank;
  int rank_count;
  Cyclic rows;
  Cyclic columns;

  int grid_size() const { return rows.parts * columns.parts; }
  /// `rank` has a place in the grid if is_on(rank).
  bool is_on(int rank) const { return rank >= first_rank && rank < first_rank + grid_size(); }
  int grid_row(int rank) const { return (rank - first_rank) % rows.parts; }
  int grid_column(int rank) const { return (rank - first_rank) / rows.parts; }
  int rank(int grid_row, int grid_column) const {
    return first_rank + grid_column * rows.parts + grid_row;
  }
};

/// Children come before their parents.
using Tree = std::vector<Front>;

/// Each subtree has a share of its parent's ranks in proportion to the elements of its fronts.
Tree make_tree(const std::vector<sparse::Supernode>& supernodes, int ranks, int block);

}  // namespace extend_add
