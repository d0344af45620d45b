#pragma once
// Dense kernels, on matrices by columns.

namespace cholesky {

/// Factorises the upper `width` rows of a panel of `order` rows and `width` columns, and solves the
/// rows below with that. False if a pivot is not above 0.
bool factor_panel(int order, int width, double* panel);

/// c = a * b^T, where a has `m` rows, b has `n` and c is m by n: both have `k` columns, which are
/// `stride` apart.
void multiply(int m, int n, int k, const double* a, const double* b, int stride, double* c);

}  // namespace cholesky
