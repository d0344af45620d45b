#pragma once
// A rank's elements of the fronts, and what it sends and receives of a child for its parent.

#include <cstddef>
#include <vector>

#include "tree.h"

namespace extend_add {

/// A rank's elements of one front, by columns.
struct Elements {
  int rows = 0;
  std::vector<double> values;
};

/// An index of a child's front and the one of its parent that it is added to, both as numbers among
/// those of the rank that has them.
struct Match {
  int in_child;
  int in_parent;
};

/// The indices that part `from` of the child's has and part `to` of the parent's, in ascending
/// order: both sides of a message find the same.
std::vector<Match> match(const Front& child, const Cyclic& of_child, int from,
                         const Cyclic& of_parent, int to);

/// The fronts that have elements on a rank.
class Fronts {
 public:
  Fronts(const Tree& tree, int rank);

  const Tree& tree() const { return tree_; }
  int rank() const { return rank_; }
  const Front& front(int id) const { return tree_[std::size_t(id)]; }
  Elements& elements(int id) { return elements_[std::size_t(id)]; }

  /// Appends what this rank has of a child for `target`, a rank of the parent.
  void pack(int child, int target, std::vector<double>& values);
  /// How many values pack() appends on `source`, for `target`.
  std::size_t packed(int child, int source, int target) const;
  /// Adds what `source` has packed for this rank to the parent.
  void add(int child, int source, const double* values);

 private:
  struct Matches {
    std::vector<Match> rows;
    std::vector<Match> columns;
  };
  Matches matches(int child, int source, int target) const;

  const Tree& tree_;
  int rank_;
  std::vector<Elements> elements_;  ///< Empty where the rank has none.
};

/// The number of elements here that differ from those of an accumulation without communication.
long differences(Fronts& fronts);

}  // namespace extend_add
