#include "../job.h"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace ft {

Job::Job(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rank_ = static_cast<unsigned>(rank);
  size_ = static_cast<unsigned>(size);
}

void Ranks::Free::operator()(std::byte* memory) const {
  std::free(memory);
}

// MPI sets no limit.
std::size_t Job::largest_segment() const {
  return static_cast<std::size_t>(-1);
}

void Job::attach(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  segment_.reset(
      static_cast<std::byte*>(std::aligned_alloc(page, (bytes + page - 1) / page * page)));
  if (segment_ == nullptr) fail("there is no memory for " + std::to_string(bytes) + " bytes");
}

void Job::barrier() const {
  MPI_Barrier(MPI_COMM_WORLD);
}

void Job::share(void* cell, std::size_t bytes) const {
  MPI_Bcast(cell, static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD);
}

void Job::gather(const void* mine, void* all, std::size_t bytes) const {
  const int count = static_cast<int>(bytes);
  MPI_Gather(mine, count, MPI_BYTE, all, count, MPI_BYTE, 0, MPI_COMM_WORLD);
}

void Job::exit(int status) const {
  MPI_Finalize();
  std::exit(status);
}

void Job::refuse(const std::string& reason) const {
  if (is_root()) std::fprintf(stderr, "%s: %s\n", kProgram, reason.c_str());
  barrier();
  exit(2);
}

void Job::fail(const std::string& reason) const {
  std::fprintf(stderr, "%s: rank %u: %s\n", kProgram, rank_, reason.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

}  // namespace ft
