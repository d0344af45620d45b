#include "sequential.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace cholesky {

sparse::Matrix factor(const sparse::Matrix& matrix) {
  const auto order = std::size_t(matrix.order());
  sparse::Matrix result;
  // By row: the columns to the left whose next entry is in that row, and where it is.
  struct Next {
    std::size_t column;
    std::size_t entry;
  };
  std::vector<std::vector<Next>> next(order);
  std::vector<double> work(order);
  std::vector<bool> is_there(order);
  for (std::size_t j = 0; j < order; ++j) {
    std::vector<int> rows;
    const auto add = [&](int row, double value) {
      if (!is_there[std::size_t(row)]) rows.push_back(row);
      is_there[std::size_t(row)] = true;
      work[std::size_t(row)] += value;
    };
    for (auto i = std::size_t(matrix.begins[j]); i < std::size_t(matrix.begins[j + 1]); ++i) {
      add(matrix.rows[i], matrix.values[i]);
    }
    for (const Next& left : next[j]) {
      const auto end = std::size_t(result.begins[left.column + 1]);
      for (std::size_t i = left.entry; i < end; ++i) {
        add(result.rows[i], -result.values[left.entry] * result.values[i]);
      }
      if (left.entry + 1 < end) {
        next[std::size_t(result.rows[left.entry + 1])].push_back({left.column, left.entry + 1});
      }
    }
    std::sort(rows.begin(), rows.end());
    if (!(work[j] > 0)) throw std::domain_error("the matrix is not positive definite");
    const double pivot = std::sqrt(work[j]);
    if (rows.size() > 1) next[std::size_t(rows[1])].push_back({j, result.rows.size() + 1});
    for (const int row : rows) {
      result.rows.push_back(row);
      result.values.push_back(work[std::size_t(row)] / pivot);
      work[std::size_t(row)] = 0;
      is_there[std::size_t(row)] = false;
    }
    result.begins.push_back(int(result.rows.size()));
  }
  return result;
}

std::vector<double> solve(const sparse::Matrix& factor, std::vector<double> b) {
  for (std::size_t j = 0; j < b.size(); ++j) {
    const auto begin = std::size_t(factor.begins[j]);
    b[j] /= factor.values[begin];
    for (std::size_t i = begin + 1; i < std::size_t(factor.begins[j + 1]); ++i) {
      b[std::size_t(factor.rows[i])] -= factor.values[i] * b[j];
    }
  }
  for (std::size_t j = b.size(); j-- > 0;) {
    const auto begin = std::size_t(factor.begins[j]);
    for (std::size_t i = begin + 1; i < std::size_t(factor.begins[j + 1]); ++i) {
      b[j] -= factor.values[i] * b[std::size_t(factor.rows[i])];
    }
    b[j] /= factor.values[begin];
  }
  return b;
}

}  // namespace cholesky
