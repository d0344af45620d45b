#pragma once
// The two triangular systems with a factor that is spread over the ranks.

#include "factorization.h"

namespace cholesky {

/// Solves A x = b, where the factor is complete on all ranks. Constructing one is collective. Each
/// panel's part of x is with its owner.
class Solution {
 public:
  Solution(const Factorization& factor, const std::vector<double>& b);
  Solution(const Solution&) = delete;
  Solution& operator=(const Solution&) = delete;

  /// x, on all ranks. Collective.
  std::vector<double> run();

 private:
  using Shared = upcxx::dist_object<Solution*>;

  /// One of the two systems: forward from the leaves, backward from the roots.
  void solve(bool is_forward);
  void solve_panel(int id, bool is_forward);
  void send(const Source& block, int to, bool is_forward, const std::vector<double>& values);
  /// Takes what `block` contributes: forward to its target, backward to the panel it is in.
  void add(const Source& block, bool is_forward, upcxx::view<double> values);

  const Panel& panel(int id) const { return factor_.panels()[std::size_t(id)]; }
  const Block& block(const Source& of) const {
    return panel(of.panel).blocks[std::size_t(of.block)];
  }
  double* part(int id) { return x_.data() + panel(id).shape.begin; }

  const Factorization& factor_;
  std::vector<double> x_;
  std::vector<int> arrived_[2];  ///< By direction and panel.
  Ready<int, std::greater<>> ready_[2];
  Shared shared_;
};

}  // namespace cholesky
