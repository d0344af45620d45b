#pragma once
// The panels of a factor, the updates between them, and the ranks that compute both.

#include <vector>

#include "../sparse/supernode.h"

namespace cholesky {

/// Rows `begin` to `end` of a panel's, which are columns of the panel `target`: the panel updates
/// that one.
struct Block {
  int target;
  int begin;
  int end;
};

/// A block of another panel.
struct Source {
  int panel;
  int block;
};

/// Columns of the factor: a supernode or a part of one. Elements are by columns, `order()` in each.
struct Panel {
  sparse::Supernode shape;
  std::vector<Block> blocks;
  std::vector<Source> sources;  ///< The blocks that update this panel.

  std::size_t elements() const { return std::size_t(shape.order()) * std::size_t(shape.width()); }
};

/// Children come before their parents. Panels are at most `widest` columns wide.
std::vector<Panel> make_panels(const sparse::Matrix& matrix, int widest);

/// A panel's elements of the matrix.
void fill(const sparse::Matrix& matrix, const Panel& panel, double* elements);

/// Subtracts what `block` of panel `from` contributes from `to`, the elements of its target.
void update(const Panel& from, const double* elements, const Block& block, const Panel& target,
            double* to);

/// Which rank computes what: a grid of `rows` by `columns` ranks, dealt out so that the panels go
/// to all ranks in turn. The factor of a panel is needed on one column of the grid, and what a
/// panel gets comes from one row: with one row that is fan-in, with one column fan-out, and
/// between those fan-both (Ashcraft, 1993).
struct Mapping {
  int rows;
  int columns;

  int updater(int target, int source) const {
    return target % rows + source / rows % columns * rows;
  }
  int owner(int panel) const { return updater(panel, panel); }
};

}  // namespace cholesky
