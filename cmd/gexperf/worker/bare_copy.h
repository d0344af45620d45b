#pragma once
// Copies of large buffers, by the C library and by a loop. Which is faster depends on the
// processor, on the size and on where the buffers lie.

#include <cstdint>
#include <cstring>

namespace gexperf {

using CopyWords = void (*)(std::uint64_t* to, const std::uint64_t* from, std::size_t words);

/// Two words; what loops over words become where the compiler vectorizes them.
using WordPair [[gnu::vector_size(16), gnu::aligned(8), gnu::may_alias]] = std::uint64_t;

inline void copy_by_memcpy(std::uint64_t* to, const std::uint64_t* from, std::size_t words) {
  std::memcpy(to, from, words * sizeof *to);
}

inline void copy_by_loop(std::uint64_t* to, const std::uint64_t* from, std::size_t words) {
  constexpr std::size_t step = 8;
  std::size_t i = 0;
  for (; i + step <= words; i += step) {
    WordPair pairs[step / 2];
    for (std::size_t n = 0; n < step / 2; ++n)
      pairs[n] = reinterpret_cast<const WordPair*>(from + i)[n];
    for (std::size_t n = 0; n < step / 2; ++n) reinterpret_cast<WordPair*>(to + i)[n] = pairs[n];
  }
  for (; i < words; ++i) to[i] = from[i];
}

inline constexpr CopyWords all_copies[] = {copy_by_memcpy, copy_by_loop};

/// to[i] = a[i] + b[i]
inline void sum_words(std::uint64_t* to, const std::uint64_t* a, const std::uint64_t* b,
                      std::size_t words) {
  std::size_t i = 0;
  for (; i + 2 <= words; i += 2)
    *reinterpret_cast<WordPair*>(to + i) =
        *reinterpret_cast<const WordPair*>(a + i) + *reinterpret_cast<const WordPair*>(b + i);
  for (; i < words; ++i) to[i] = a[i] + b[i];
}

}  // namespace gexperf
