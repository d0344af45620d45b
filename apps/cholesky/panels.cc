#include "panels.h"

#include <algorithm>

#include "dense.h"

namespace cholesky {

std::vector<Panel> make_panels(const sparse::Matrix& matrix, int widest) {
  sparse::Analysis how;
  how.widest = widest;
  std::vector<sparse::Supernode> supernodes = sparse::analyze(matrix, how);
  const std::vector<int> of = sparse::supernode_of_columns(supernodes);
  std::vector<Panel> panels(supernodes.size());
  for (std::size_t k = 0; k < panels.size(); ++k) {
    Panel& panel = panels[k];
    panel.shape = std::move(supernodes[k]);
    for (int i = panel.shape.width(); i < panel.shape.order(); ++i) {
      const int target = of[std::size_t(panel.shape.row(i))];
      if (panel.blocks.empty() || panel.blocks.back().target != target) {
        panels[std::size_t(target)].sources.push_back({int(k), int(panel.blocks.size())});
        panel.blocks.push_back({target, i, i});
      }
      panel.blocks.back().end = i + 1;
    }
  }
  return panels;
}

void fill(const sparse::Matrix& matrix, const Panel& panel, double* elements) {
  const sparse::Supernode& shape = panel.shape;
  std::fill(elements, elements + panel.elements(), 0);
  for (int column = shape.begin; column < shape.end; ++column) {
    int at = column - shape.begin;
    for (int i = matrix.begins[std::size_t(column)]; i < matrix.begins[std::size_t(column) + 1];
         ++i) {
      while (shape.row(at) != matrix.rows[std::size_t(i)]) ++at;
      elements[at] = matrix.values[std::size_t(i)];
    }
    elements += shape.order();
  }
}

void update(const Panel& from, const double* elements, const Block& block, const Panel& target,
            double* to) {
  const int height = from.shape.order() - block.begin;
  const int width = block.end - block.begin;
  std::vector<double> product(std::size_t(height) * std::size_t(width));
  const double* const rows = elements + block.begin;
  multiply(height, width, from.shape.width(), rows, rows, from.shape.order(), product.data());
  std::vector<int> places;
  int at = 0;
  for (int i = block.begin; i < from.shape.order(); ++i) {
    while (target.shape.row(at) != from.shape.row(i)) ++at;
    places.push_back(at);
  }
  const double* next = product.data();
  for (int i = block.begin; i < block.end; ++i) {
    double* const column =
        to + std::ptrdiff_t(from.shape.row(i) - target.shape.begin) * target.shape.order();
    for (const int place : places) column[place] -= *next++;
  }
}

}  // namespace cholesky
