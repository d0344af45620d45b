#include "../job.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace ft {
namespace {

constexpr std::int64_t kPage = 4096;

}  // namespace

Job::Job(int*, char***) {
  upcxx::init();
}

std::size_t Job::largest_segment() const {
  const std::int64_t left = upcxx::shared_segment_size() - upcxx::shared_segment_used();
  const std::int64_t least = upcxx::reduce_all(left, upcxx::op_fast_min).wait();
  // Alignment takes as much as a page.
  return std::size_t(std::max<std::int64_t>(least - 2 * kPage, 0));
}

void Job::attach(std::size_t bytes) {
  const Address mine = upcxx::allocate<std::byte>(bytes, kPage);
  if (!mine) fail("there is no memory for " + std::to_string(bytes) + " bytes");
  for (int rank = 0; rank < upcxx::rank_n(); ++rank) {
    segments_.push_back(upcxx::broadcast(mine, rank).wait());
  }
}

void Job::barrier() const {
  upcxx::barrier();
}

void Job::share(void* cell, std::size_t bytes) const {
  upcxx::broadcast(static_cast<std::byte*>(cell), bytes, 0).wait();
}

void Job::gather(const void* mine, void* all, std::size_t bytes) const {
  const std::ptrdiff_t cell =
      static_cast<std::byte*>(all) - segment() + std::ptrdiff_t(rank() * bytes);
  upcxx::rput(static_cast<const std::byte*>(mine), segment_of(0) + cell, bytes).wait();
  barrier();
}

void Job::exit(int status) const {
  upcxx::finalize();
  std::exit(status);
}

void Job::refuse(const std::string& reason) const {
  if (is_root()) std::fprintf(stderr, "%s: %s\n", kProgram, reason.c_str());
  exit(2);
}

void Job::fail(const std::string& reason) const {
  std::fprintf(stderr, "%s: rank %u: %s\n", kProgram, rank(), reason.c_str());
  std::exit(1);
}

}  // namespace ft
