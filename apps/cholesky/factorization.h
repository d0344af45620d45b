#pragma once
// The factorisation: tasks that run when what they need has arrived.

#include <functional>
#include <upcxx/upcxx.hpp>

#include "panels.h"
#include "ready.h"

namespace cholesky {

/// Factorises a matrix on all ranks. Constructing one is collective.
///
/// A panel is factorised by its owner when all updates are in it. The owner then sends a pointer to
/// the ranks that compute updates with it, and they get the panel from there. A rank that computes
/// updates of another's panel adds them up; when all of them are in the sum, the owner is sent a
/// pointer to it and gets the sum. Ranks that share memory read panels and sums where they are.
class Factorization {
 public:
  Factorization(const sparse::Matrix& matrix, const std::vector<Panel>& panels, Mapping mapping);
  Factorization(const Factorization&) = delete;
  Factorization& operator=(const Factorization&) = delete;
  ~Factorization();

  /// Runs this rank's tasks. Collective.
  void run();

  const std::vector<Panel>& panels() const { return panels_; }
  int owner(int panel) const { return mapping_.owner(panel); }
  bool is_mine(int panel) const { return owner(panel) == upcxx::rank_me(); }
  /// The elements of a panel that is mine.
  const double* elements(int panel) const { return at(panel).elements.local(); }

 private:
  using Pointer = upcxx::global_ptr<double>;
  using Shared = upcxx::dist_object<Factorization*>;

  /// A panel, as this rank sees it.
  struct State {
    Pointer elements;                  ///< If it is mine. Else what this rank adds up for it.
    const double* factored = nullptr;  ///< Its factor: the owner's elements, or `copy`.
    std::vector<double> copy;
    int updates_left = 0;   ///< Updates to it that this rank computes.
    int uses_left = 0;      ///< Updates with it that this rank computes.
    int arrivals_left = 0;  ///< If it is mine: updates and sums.
  };
  /// An update of `target`, or its factorisation if both are equal. Panels to the left come first:
  /// most depends on them.
  struct Task {
    int target;
    int source;
    int block;
    bool operator>(const Task& other) const { return target > other.target; }
  };

  State& at(int panel) { return states_[std::size_t(panel)]; }
  const State& at(int panel) const { return states_[std::size_t(panel)]; }
  const Panel& panel(int id) const { return panels_[std::size_t(id)]; }

  void factor(int id);
  void update(const Task& task);
  /// The factor of a panel can be read.
  void enqueue_updates(int source, const double* factored);
  void count_arrival(int id);
  void get_panel(int id, Pointer from);
  void get_sum(int id, Pointer from);
  void add_sum(int id, const double* sum, Pointer from);

  const std::vector<Panel>& panels_;
  Mapping mapping_;
  std::vector<State> states_;
  Ready<Task, std::greater<>> ready_;
  long tasks_left_ = 0;
  Shared shared_;
};

}  // namespace cholesky
