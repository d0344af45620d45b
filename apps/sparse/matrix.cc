#include "matrix.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace sparse {
namespace {

struct Box {
  std::array<int, 3> begin;
  std::array<int, 3> end;

  int extent(int dimension) const {
    return end[std::size_t(dimension)] - begin[std::size_t(dimension)];
  }
};

/// Below this extent a box is in the order of its points.
constexpr int undivided = 3;

void dissect(const Grid& grid, const Box& box, std::vector<int>& order) {
  int longest = 0;
  for (int dimension = 1; dimension < 3; ++dimension) {
    if (box.extent(dimension) > box.extent(longest)) longest = dimension;
  }
  if (box.extent(longest) <= undivided) {
    for (int z = box.begin[2]; z < box.end[2]; ++z)
      for (int y = box.begin[1]; y < box.end[1]; ++y)
        for (int x = box.begin[0]; x < box.end[0]; ++x) order.push_back(grid.point(x, y, z));
    return;
  }
  const auto across = std::size_t(longest);
  const int middle = (box.begin[across] + box.end[across]) / 2;
  Box lower = box;
  Box upper = box;
  Box separator = box;
  lower.end[across] = separator.begin[across] = middle;
  separator.end[across] = upper.begin[across] = middle + 1;
  dissect(grid, lower, order);
  dissect(grid, upper, order);
  dissect(grid, separator, order);
}

}  // namespace

std::vector<int> nested_dissection(const Grid& grid) {
  std::vector<int> order;
  dissect(grid, {{0, 0, 0}, grid.extent}, order);
  return order;
}

Matrix laplacian(const Grid& grid, const std::vector<int>& order) {
  std::vector<int> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[std::size_t(order[i])] = int(i);
  const auto dimensions = 3 - std::count(grid.extent.begin(), grid.extent.end(), 1);
  const double diagonal = 2 * double(std::max<long>(dimensions, 1));
  const std::array<int, 3> strides{1, grid.extent[0], grid.extent[0] * grid.extent[1]};
  Matrix matrix;
  for (std::size_t column = 0; column < order.size(); ++column) {
    std::vector<int> below;
    for (std::size_t dimension = 0; dimension < 3; ++dimension) {
      const int at = order[column] / strides[dimension] % grid.extent[dimension];
      for (const int step : {-1, 1}) {
        if (at + step < 0 || at + step >= grid.extent[dimension]) continue;
        const int point = order[column] + step * strides[dimension];
        const int neighbor = place[std::size_t(point)];
        if (neighbor > int(column)) below.push_back(neighbor);
      }
    }
    std::sort(below.begin(), below.end());
    matrix.rows.push_back(int(column));
    matrix.values.push_back(diagonal);
    for (const int row : below) {
      matrix.rows.push_back(row);
      matrix.values.push_back(-1);
    }
    matrix.begins.push_back(int(matrix.rows.size()));
  }
  return matrix;
}

std::vector<double> multiply(const Matrix& matrix, const std::vector<double>& x) {
  std::vector<double> product(x.size());
  for (std::size_t column = 0; column < x.size(); ++column) {
    const auto begin = std::size_t(matrix.begins[column]);
    product[column] += matrix.values[begin] * x[column];
    for (std::size_t i = begin + 1; i < std::size_t(matrix.begins[column + 1]); ++i) {
      const auto row = std::size_t(matrix.rows[i]);
      product[row] += matrix.values[i] * x[column];
      product[column] += matrix.values[i] * x[row];
    }
  }
  return product;
}

}  // namespace sparse
