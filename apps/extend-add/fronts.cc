#include "fronts.h"

#include <cstdint>

namespace extend_add {
namespace {

/// The value of element (row, column) of a front before anything is added: a small whole number, so
/// that sums are the same in any order.
double initial(int front, int row, int column) {
  std::uint64_t mixed =
      (std::uint64_t(front) << 40) ^ (std::uint64_t(row) << 20) ^ std::uint64_t(column);
  mixed *= 0x9e3779b97f4a7c15;
  return double((mixed >> 40) % 17) - 8;
}

/// Calls `function` with row and column of each element that a rank has, in the order of memory.
template <class Function>
void for_each_element(const Front& front, int rank, Function function) {
  for (int column = 0; column < front.order; ++column) {
    if (front.columns.owner(column) != front.grid_column(rank)) continue;
    for (int row = 0; row < front.order; ++row) {
      if (front.rows.owner(row) == front.grid_row(rank)) function(row, column);
    }
  }
}

}  // namespace

std::vector<Match> match(const Front& child, const Cyclic& of_child, int from,
                         const Cyclic& of_parent, int to) {
  std::vector<Match> found;
  for (int i = child.width; i < child.order; ++i) {
    const int place = child.place[std::size_t(i - child.width)];
    if (of_child.owner(i) == from && of_parent.owner(place) == to) {
      found.push_back({of_child.local(i), of_parent.local(place)});
    }
  }
  return found;
}

Fronts::Fronts(const Tree& tree, int rank) : tree_(tree), rank_(rank), elements_(tree.size()) {
  for (std::size_t id = 0; id < tree.size(); ++id) {
    const Front& front = tree[id];
    if (!front.is_on(rank)) continue;
    elements_[id].rows = front.rows.count(front.order, front.grid_row(rank));
    for_each_element(front, rank, [&](int row, int column) {
      elements_[id].values.push_back(initial(int(id), row, column));
    });
  }
}

Fronts::Matches Fronts::matches(int id, int source, int target) const {
  const Front& child = front(id);
  const Front& parent = front(child.parent);
  return {match(child, child.rows, child.grid_row(source), parent.rows, parent.grid_row(target)),
          match(child, child.columns, child.grid_column(source), parent.columns,
                parent.grid_column(target))};
}

std::size_t Fronts::packed(int child, int source, int target) const {
  const Matches all = matches(child, source, target);
  return all.rows.size() * all.columns.size();
}

void Fronts::pack(int child, int target, std::vector<double>& values) {
  const Matches all = matches(child, rank_, target);
  const Elements& from = elements(child);
  values.reserve(values.size() + all.rows.size() * all.columns.size());
  for (const Match& column : all.columns) {
    const double* const begin = &from.values[std::size_t(column.in_child) * std::size_t(from.rows)];
    for (const Match& row : all.rows) values.push_back(begin[row.in_child]);
  }
}

void Fronts::add(int child, int source, const double* values) {
  const Matches all = matches(child, source, rank_);
  Elements& to = elements(front(child).parent);
  for (const Match& column : all.columns) {
    double* const begin = &to.values[std::size_t(column.in_parent) * std::size_t(to.rows)];
    for (const Match& row : all.rows) begin[row.in_parent] += *values++;
  }
}

long differences(Fronts& fronts) {
  const Tree& tree = fronts.tree();
  std::vector<std::vector<double>> whole(tree.size());
  long differ = 0;
  for (std::size_t id = 0; id < tree.size(); ++id) {
    const Front& front = tree[id];
    const auto order = std::size_t(front.order);
    std::vector<double>& values = whole[id];
    values.resize(order * order);
    for (std::size_t at = 0; at < values.size(); ++at) {
      values[at] = initial(int(id), int(at % order), int(at / order));
    }
    for (const int c : front.children) {
      const Front& child = tree[std::size_t(c)];
      const auto below = std::size_t(child.order - child.width);
      const double* from = whole[std::size_t(c)].data();
      const auto width = std::size_t(child.width);
      for (std::size_t column = 0; column < below; ++column)
        for (std::size_t row = 0; row < below; ++row)
          values[std::size_t(child.place[column]) * order + std::size_t(child.place[row])] +=
              from[(width + column) * (below + width) + width + row];
      whole[std::size_t(c)] = {};
    }
    if (!front.is_on(fronts.rank())) continue;
    const double* here = fronts.elements(int(id)).values.data();
    for_each_element(front, fronts.rank(), [&](int row, int column) {
      if (*here++ != values[std::size_t(column) * order + std::size_t(row)]) ++differ;
    });
  }
  return differ;
}

}  // namespace extend_add
