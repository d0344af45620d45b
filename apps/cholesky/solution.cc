#include "solution.h"

namespace cholesky {

Solution::Solution(const Factorization& factor, const std::vector<double>& b)
    : factor_(factor), x_(b), shared_(this) {
  for (std::vector<int>& arrived : arrived_) arrived.resize(factor.panels().size());
}

std::vector<double> Solution::run() {
  solve(true);
  solve(false);
  std::vector<double> x(x_.size());
  for (int id = 0; id < int(factor_.panels().size()); ++id) {
    if (factor_.is_mine(id))
      std::copy_n(part(id), panel(id).shape.width(), x.data() + panel(id).shape.begin);
  }
  upcxx::reduce_all(x.data(), x.data(), x.size(), upcxx::op_fast_add).wait();
  return x;
}

void Solution::solve(bool is_forward) {
  long left = 0;
  for (int id = 0; id < int(factor_.panels().size()); ++id) {
    if (!factor_.is_mine(id)) continue;
    ++left;
    if (is_forward ? panel(id).sources.empty() : panel(id).blocks.empty()) {
      ready_[is_forward].push(id);
    }
  }
  for (; left > 0; --left) solve_panel(ready_[is_forward].pop(), is_forward);
}

void Solution::solve_panel(int id, bool is_forward) {
  const sparse::Supernode& shape = panel(id).shape;
  const double* const elements = factor_.elements(id);
  const auto element = [&](int row, int column) {
    return elements[std::ptrdiff_t(column) * shape.order() + row];
  };
  double* const x = part(id);
  if (is_forward) {
    for (int j = 0; j < shape.width(); ++j) {
      x[j] /= element(j, j);
      for (int i = j + 1; i < shape.width(); ++i) x[i] -= element(i, j) * x[j];
    }
    for (int b = 0; b < int(panel(id).blocks.size()); ++b) {
      const Block& block = panel(id).blocks[std::size_t(b)];
      std::vector<double> products(std::size_t(block.end - block.begin));
      for (int j = 0; j < shape.width(); ++j)
        for (int i = block.begin; i < block.end; ++i)
          products[std::size_t(i - block.begin)] += element(i, j) * x[j];
      send({id, b}, factor_.owner(block.target), true, products);
    }
  } else {
    for (int j = shape.width(); j-- > 0;) {
      for (int i = j + 1; i < shape.width(); ++i) x[j] -= element(i, j) * x[i];
      x[j] /= element(j, j);
    }
    for (const Source& source : panel(id).sources) {
      std::vector<double> values;
      for (int i = block(source).begin; i < block(source).end; ++i) {
        values.push_back(x[panel(source.panel).shape.row(i) - shape.begin]);
      }
      send(source, factor_.owner(source.panel), false, values);
    }
  }
}

void Solution::send(const Source& block, int to, bool is_forward,
                    const std::vector<double>& values) {
  upcxx::rpc_ff(
      to,
      [](Shared& there, Source of, bool forward, upcxx::view<double> arrived) {
        (*there)->add(of, forward, arrived);
      },
      shared_, block, is_forward, upcxx::make_view(values));
}

void Solution::add(const Source& from, bool is_forward, upcxx::view<double> values) {
  const Block& rows = block(from);
  const sparse::Supernode& shape = panel(from.panel).shape;
  const int id = is_forward ? rows.target : from.panel;
  const double* value = values.begin();
  for (int i = rows.begin; i < rows.end; ++i, ++value) {
    if (is_forward) {
      x_[std::size_t(shape.row(i))] -= *value;
    } else {
      const double* const elements = factor_.elements(id);
      for (int j = 0; j < shape.width(); ++j) {
        part(id)[j] -= elements[std::ptrdiff_t(j) * shape.order() + i] * *value;
      }
    }
  }
  const std::size_t all = is_forward ? panel(id).sources.size() : panel(id).blocks.size();
  if (std::size_t(++arrived_[is_forward][std::size_t(id)]) == all) ready_[is_forward].push(id);
}

}  // namespace cholesky
