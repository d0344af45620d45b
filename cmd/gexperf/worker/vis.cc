// Non-contiguous put: 64 KiB in elements of 8 bytes, one of every four places at both ends. However
// many dimensions the client makes of it, it is one loop. Rank 0 is active.

#include <gasnet_vis.h>

#include <vector>

#include "machine_limits.h"
#include "measurements.h"

namespace gexperf {

namespace {

constexpr std::size_t element_bytes = 8;
constexpr std::ptrdiff_t step_bytes = 4 * element_bytes;
constexpr unsigned doublings = 13;  ///< elements: 2 to that power
constexpr std::size_t elements = std::size_t{1} << doublings;
static_assert(elements * element_bytes == 65536);
static_assert(elements * step_bytes <= copy_bytes);

/// The loop as so many nested ones, of as equal lengths as can be.
struct Nest {
  std::vector<std::size_t> count;
  std::vector<std::ptrdiff_t> strides;

  explicit Nest(unsigned dims) : count(dims, 1), strides(dims) {
    for (unsigned i = 0; i < doublings; ++i) count[i % dims] *= 2;
    std::ptrdiff_t stride = step_bytes;
    for (unsigned i = 0; i < dims; ++i) {
      strides[i] = stride;
      stride *= static_cast<std::ptrdiff_t>(count[i]);
    }
  }
};

void strided_put(const Context& context, unsigned dims) {
  const Job& job = context.job;
  const Nest nest(dims);
  std::vector<std::uint64_t> source(elements * step_bytes / sizeof(std::uint64_t), 1);
  void* const there = job.segment_at_owner(1) + sizeof(Board);
  auto* const here = reinterpret_cast<std::uint64_t*>(job.segment_here(1) + sizeof(Board));
  compare(
      context,
      [&](std::uint64_t repetitions) {
        for (std::uint64_t i = 0; job.rank() == 0 && i < repetitions; ++i)
          gex_VIS_StridedPutBlocking(job.team(), 1, there, nest.strides.data(), source.data(),
                                     nest.strides.data(), element_bytes, nest.count.data(), dims,
                                     0);
      },
      [&](std::uint64_t repetitions) {
        constexpr std::size_t step = step_bytes / sizeof(std::uint64_t);
        for (std::uint64_t i = 0; job.rank() == 0 && i < repetitions; ++i) {
          std::uint64_t* const to = unknown(here);
          const std::uint64_t* const from = unknown(source.data());
          for (std::size_t n = 0; n < elements; ++n) to[n * step] = from[n * step];
        }
      });
}

}  // namespace

void strided_put_3(const Context& context) {
  strided_put(context, 3);
}
void strided_put_8(const Context& context) {
  strided_put(context, 8);
}
void strided_put_32(const Context& context) {
  strided_put(context, 32);
}

}  // namespace gexperf
