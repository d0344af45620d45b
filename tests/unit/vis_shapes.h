#pragma once
// Random strided transfers, as clients may describe them.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "../naive_strided.h"
#include "base/random.h"

namespace gex::vis {

using naive::naive_loop;
using naive::Strided;

/// Strides of one end for which no two elements overlap: the dimensions in any order, with or
/// without gaps, up or down.
inline std::vector<std::ptrdiff_t> random_strides(Random& random, std::size_t element,
                                                  const std::vector<std::size_t>& count,
                                                  bool in_order) {
  std::vector<std::size_t> order(count.size());
  std::iota(order.begin(), order.end(), 0);
  if (!in_order)
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  std::vector<std::ptrdiff_t> strides(count.size());
  auto stride = static_cast<std::ptrdiff_t>(element);
  for (const std::size_t i : order) {
    if (random.below(3) == 0) stride += static_cast<std::ptrdiff_t>(random.below(24));
    strides[i] = random.below(4) == 0 ? -stride : stride;
    stride *= static_cast<std::ptrdiff_t>(std::max<std::size_t>(count[i], 1));
  }
  return strides;
}

/// A transfer of at most `max` elements and `dims` dimensions.
inline Strided random_strided(Random& random, std::size_t dims, std::size_t max) {
  constexpr std::size_t elements[] = {1, 2, 3, 4, 7, 8, 12, 16, 32, 64, 100};
  Strided strided;
  strided.element = elements[random.below(std::size(elements))];
  strided.count.resize(random.below(dims + 1));
  std::size_t left = max;
  for (std::size_t& count : strided.count) {
    count = random.below(3) == 0 ? 1 : 1 + random.below(std::min<std::size_t>(left, 7));
    left /= count;
  }
  for (std::size_t i = strided.count.size(); i > 1; --i)
    std::swap(strided.count[i - 1], strided.count[random.below(i)]);
  strided.remote = random_strides(random, strided.element, strided.count, random.below(2) == 0);
  // Often the same layout at both ends, which folds.
  strided.local = random.below(3) == 0 ? strided.remote
                                       : random_strides(random, strided.element, strided.count,
                                                        random.below(2) == 0);
  return strided;
}

}  // namespace gex::vis
