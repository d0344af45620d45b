#include "factorization.h"

#include <set>
#include <stdexcept>
#include <string>

#include "dense.h"

namespace cholesky {

Factorization::Factorization(const sparse::Matrix& matrix, const std::vector<Panel>& panels,
                             Mapping mapping)
    : panels_(panels), mapping_(mapping), states_(panels.size()), shared_(this) {
  const int me = upcxx::rank_me();
  for (int id = 0; id < int(panels.size()); ++id) {
    std::set<int> updaters;
    for (const Source& source : panel(id).sources) {
      const int updater = mapping.updater(id, source.panel);
      updaters.insert(updater);
      if (updater != me) continue;
      ++at(id).updates_left;
      ++at(source.panel).uses_left;
      ++tasks_left_;
    }
    if (!is_mine(id)) continue;
    ++tasks_left_;
    updaters.erase(me);
    at(id).arrivals_left = at(id).updates_left + int(updaters.size());
    at(id).elements = upcxx::new_array<double>(panel(id).elements());
    fill(matrix, panel(id), at(id).elements.local());
    if (at(id).arrivals_left == 0) ready_.push({id, id, 0});
  }
}

Factorization::~Factorization() {
  for (const State& state : states_) upcxx::delete_array(state.elements);
}

void Factorization::run() {
  while (tasks_left_ > 0) {
    const Task task = ready_.pop();
    if (task.source == task.target) {
      factor(task.target);
    } else {
      update(task);
    }
    --tasks_left_;
  }
  // Others may still get panels from here.
  upcxx::barrier();
}

void Factorization::factor(int id) {
  State& mine = at(id);
  const sparse::Supernode& shape = panel(id).shape;
  if (!factor_panel(shape.order(), shape.width(), mine.elements.local())) {
    throw std::domain_error("the matrix is not positive definite in columns " +
                            std::to_string(shape.begin) + " to " + std::to_string(shape.end - 1));
  }
  std::set<int> updaters;
  for (const Block& block : panel(id).blocks) updaters.insert(mapping_.updater(block.target, id));
  for (const int updater : updaters) {
    if (updater == upcxx::rank_me()) {
      enqueue_updates(id, mine.elements.local());
      continue;
    }
    upcxx::rpc_ff(
        updater, [](Shared& there, int which, Pointer from) { (*there)->get_panel(which, from); },
        shared_, id, mine.elements);
  }
}

void Factorization::get_panel(int id, Pointer from) {
  if (from.is_local()) {
    enqueue_updates(id, from.local());
    return;
  }
  std::vector<double>& copy = at(id).copy;
  copy.resize(panel(id).elements());
  upcxx::rget(from, copy.data(), copy.size()).then([this, id, to = copy.data()] {
    enqueue_updates(id, to);
  });
}

void Factorization::enqueue_updates(int source, const double* factored) {
  at(source).factored = factored;
  const std::vector<Block>& blocks = panel(source).blocks;
  for (int i = 0; i < int(blocks.size()); ++i) {
    const int target = blocks[std::size_t(i)].target;
    if (mapping_.updater(target, source) == upcxx::rank_me()) ready_.push({target, source, i});
  }
}

void Factorization::update(const Task& task) {
  State& source = at(task.source);
  State& target = at(task.target);
  const Panel& to = panel(task.target);
  if (!target.elements) {
    target.elements = upcxx::new_array<double>(to.elements());
    std::fill_n(target.elements.local(), to.elements(), 0);
  }
  const Panel& from = panel(task.source);
  cholesky::update(from, source.factored, from.blocks[std::size_t(task.block)], to,
                   target.elements.local());
  if (--source.uses_left == 0) source.copy = {};
  --target.updates_left;
  if (is_mine(task.target)) {
    count_arrival(task.target);
  } else if (target.updates_left == 0) {
    upcxx::rpc_ff(
        owner(task.target),
        [](Shared& there, int which, Pointer from) { (*there)->get_sum(which, from); }, shared_,
        task.target, target.elements);
    target.elements = nullptr;
  }
}

void Factorization::get_sum(int id, Pointer from) {
  if (from.is_local()) {
    add_sum(id, from.local(), from);
    return;
  }
  auto sum = std::make_shared<std::vector<double>>(panel(id).elements());
  upcxx::rget(from, sum->data(), sum->size()).then([this, id, from, sum] {
    add_sum(id, sum->data(), from);
  });
}

void Factorization::add_sum(int id, const double* sum, Pointer from) {
  double* to = at(id).elements.local();
  for (std::size_t i = 0; i < panel(id).elements(); ++i) to[i] += sum[i];
  upcxx::rpc_ff(
      from.where(), [](Pointer got) { upcxx::delete_array(got); }, from);
  count_arrival(id);
}

void Factorization::count_arrival(int id) {
  if (--at(id).arrivals_left == 0) ready_.push({id, id, 0});
}

}  // namespace cholesky
