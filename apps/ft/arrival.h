#pragma once

#include <cstddef>

namespace ft {

/// A piece of a transpose on its way to this rank. A library with two sides posts a receive for
/// each.
struct Arrival {
  std::size_t from;
  std::size_t offset;  ///< In the landing area, in elements.
  std::size_t count;
};

}  // namespace ft
