// Collectives of an MPI library; compare.py runs them beside libgex's.
//
//   mpirun -n 2 --bind-to core coll_mpi

#include <mpi.h>

#include <cstdlib>

#include "rows.h"

namespace {

class Mpi {
 public:
  Mpi() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }
  unsigned rank() const { return static_cast<unsigned>(rank_); }
  unsigned ranks() const { return static_cast<unsigned>(ranks_); }
  void barrier() { MPI_Barrier(MPI_COMM_WORLD); }
  void broadcast(void* data, std::size_t bytes) {
    MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, 0, MPI_COMM_WORLD);
  }
  void sum(double* result, const double* operand, std::size_t count) {
    MPI_Allreduce(operand, result, static_cast<int>(count), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  void* allocate(std::size_t bytes) { return std::aligned_alloc(4096, bytes); }

 private:
  int rank_ = 0;
  int ranks_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Mpi mpi;
  coll_mpi::Rows rows(mpi, coll_mpi::options_of(argc, argv));
  rows.measure_barrier();
  rows.measure_broadcasts();
  rows.measure_sums();
  MPI_Finalize();
  return 0;
}
