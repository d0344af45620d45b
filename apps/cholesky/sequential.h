#pragma once
// A solver without supernodes and without communication, to compare with.

#include <vector>

#include "../sparse/matrix.h"

namespace cholesky {

/// The Cholesky factor, column by column from those to the left (left-looking).
sparse::Matrix factor(const sparse::Matrix& matrix);

/// Solves with a factor of that form.
std::vector<double> solve(const sparse::Matrix& factor, std::vector<double> b);

}  // namespace cholesky
