#include "dense.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace cholesky {

bool factor_panel(int order, int width, double* panel) {
  for (int i = 0; i < width; ++i) {
    double* const column = panel + std::ptrdiff_t(i) * order;
    if (!(column[i] > 0)) return false;
    const double pivot = std::sqrt(column[i]);
    for (int row = i; row < order; ++row) column[row] /= pivot;
    for (int j = i + 1; j < width; ++j) {
      double* const later = panel + std::ptrdiff_t(j) * order;
      const double factor = column[j];
      for (int row = j; row < order; ++row) later[row] -= factor * column[row];
    }
  }
  return true;
}

void multiply(int m, int n, int k, const double* a, const double* b, int stride, double* c) {
  std::fill(c, c + std::ptrdiff_t(m) * n, 0);
  // Four columns of c at a time: each element of a that is loaded serves all.
  int j = 0;
  for (; j + 4 <= n; j += 4) {
    double* const c0 = c + std::ptrdiff_t(j) * m;
    double* const c1 = c0 + m;
    double* const c2 = c1 + m;
    double* const c3 = c2 + m;
    for (int t = 0; t < k; ++t) {
      const double* const from = a + std::ptrdiff_t(t) * stride;
      const double* const by = b + std::ptrdiff_t(t) * stride + j;
      const double b0 = by[0];
      const double b1 = by[1];
      const double b2 = by[2];
      const double b3 = by[3];
      for (int i = 0; i < m; ++i) {
        c0[i] += from[i] * b0;
        c1[i] += from[i] * b1;
        c2[i] += from[i] * b2;
        c3[i] += from[i] * b3;
      }
    }
  }
  for (; j < n; ++j) {
    double* const to = c + std::ptrdiff_t(j) * m;
    for (int t = 0; t < k; ++t) {
      const double* const from = a + std::ptrdiff_t(t) * stride;
      const double by = b[std::ptrdiff_t(t) * stride + j];
      for (int i = 0; i < m; ++i) to[i] += from[i] * by;
    }
  }
}

}  // namespace cholesky
