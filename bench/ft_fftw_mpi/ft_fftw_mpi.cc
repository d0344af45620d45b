// The peer of apps/ft: the same grid, iterations, evolution and checksum with FFTW's own MPI
// transform, its best case: planned by measuring, and both directions left in transposed order, so
// that each transform makes one transpose.
//
//   mpirun -n 2 --bind-to core ft_fftw_mpi --class A

#include <fftw3-mpi.h>
#include <mpi.h>

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem.h"
#include "spectrum.h"
#include "uniform.h"

namespace {

using ft::Complex;

fftw_complex* fftw(Complex* data) {
  return reinterpret_cast<fftw_complex*>(data);
}

/// Memory that FFTW's vectors may use without shifting.
class Array {
 public:
  explicit Array(std::ptrdiff_t elements)
      : data_(reinterpret_cast<Complex*>(fftw_alloc_complex(static_cast<std::size_t>(elements)))) {}
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { fftw_free(fftw(data_)); }

  Complex* get() const { return data_; }

 private:
  Complex* data_;
};

class Peer {
 public:
  explicit Peer(const ft::Problem& problem)
      : problem_(problem),
        elements_(fftw_mpi_local_size_3d_transposed(side(problem.nz), side(problem.ny),
                                                    side(problem.nx), MPI_COMM_WORLD, &planes_z_,
                                                    &first_z_, &planes_y_, &first_y_)),
        spectrum_(elements_),
        grid_(elements_) {
    forward_ = plan(spectrum_, FFTW_FORWARD, FFTW_MPI_TRANSPOSED_OUT);
    inverse_ = plan(grid_, FFTW_BACKWARD, FFTW_MPI_TRANSPOSED_IN);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() {
    if (forward_ != nullptr) fftw_destroy_plan(forward_);
    if (inverse_ != nullptr) fftw_destroy_plan(inverse_);
  }

  bool is_planned() const { return forward_ != nullptr && inverse_ != nullptr; }

  /// The initial conditions and their spectrum, in planes of y.
  void forward() {
    ft::Uniform numbers(2 * problem_.nx * problem_.ny * static_cast<std::size_t>(first_z_));
    numbers.fill(reinterpret_cast<double*>(spectrum_.get()),
                 2 * problem_.nx * problem_.ny * static_cast<std::size_t>(planes_z_));
    fftw_execute(forward_);
  }

  Complex iterate(int iteration) {
    const ft::Evolution evolution(problem_, iteration);
    for (std::size_t y = 0; y < static_cast<std::size_t>(planes_y_); ++y) {
      for (std::size_t z = 0; z < problem_.nz; ++z) {
        const std::size_t row = (y * problem_.nz + z) * problem_.nx;
        evolution.row(y + static_cast<std::size_t>(first_y_), z, spectrum_.get() + row,
                      grid_.get() + row);
      }
    }
    fftw_execute(inverse_);
    return checksum();
  }

 private:
  static std::ptrdiff_t side(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

  fftw_plan plan(const Array& array, int direction, unsigned order) const {
    return fftw_mpi_plan_dft_3d(side(problem_.nz), side(problem_.ny), side(problem_.nx),
                                fftw(array.get()), fftw(array.get()), MPI_COMM_WORLD, direction,
                                FFTW_MEASURE | order);
  }

  Complex checksum() const {
    Complex sum = 0;
    for (int j = 1; j <= ft::kChecksumPoints; ++j) {
      const ft::ChecksumPoint point = ft::checksum_point(problem_, j);
      const std::ptrdiff_t z = side(point.z) - first_z_;
      if (z < 0 || z >= planes_z_) continue;
      sum +=
          grid_
              .get()[(static_cast<std::size_t>(z) * problem_.ny + point.y) * problem_.nx + point.x];
    }
    Complex total = 0;
    MPI_Allreduce(&sum, &total, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return total / static_cast<double>(problem_.points());
  }

  const ft::Problem& problem_;
  std::ptrdiff_t planes_z_ = 0;
  std::ptrdiff_t first_z_ = 0;
  std::ptrdiff_t planes_y_ = 0;
  std::ptrdiff_t first_y_ = 0;
  std::ptrdiff_t elements_;
  Array spectrum_;
  Array grid_;
  fftw_plan forward_ = nullptr;
  fftw_plan inverse_ = nullptr;
};

/// MPI and FFTW's use of it, for the life of the program.
class Session {
 public:
  Session(int* argc, char*** argv) {
    MPI_Init(argc, argv);
    fftw_mpi_init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    fftw_mpi_cleanup();
    MPI_Finalize();
  }

  bool is_root() const { return rank_ == 0; }
  int size() const { return size_; }

  int refuse(const std::string& reason) const {
    if (is_root()) std::fprintf(stderr, "ft_fftw_mpi: %s\n", reason.c_str());
    return 2;
  }

 private:
  int rank_ = 0;
  int size_ = 0;
};

/// Prints one JSON object; the status of the program.
int run(const Session& session, const ft::Problem& problem) {
  Peer peer(problem);
  if (!peer.is_planned()) return session.refuse("FFTW has no plan for this grid");
  peer.forward();
  peer.iterate(1);

  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  peer.forward();
  std::vector<Complex> checksums;
  for (int i = 1; i <= problem.iterations(); ++i) checksums.push_back(peer.iterate(i));
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - start;

  const bool verified = ft::verified_iterations(problem, checksums) == problem.iterations();
  if (session.is_root()) {
    std::printf(
        "{\"class\": \"%s\", \"ranks\": %d, \"seconds\": %.6f, \"mops\": %.1f, "
        "\"verified\": %s}\n",
        problem.name.c_str(), session.size(), seconds,
        ft::mops(problem.points(), problem.iterations(), seconds), verified ? "true" : "false");
  }
  return verified ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  if (argc != 3 || std::string_view(argv[1]) != "--class")
    return session.refuse("usage: ft_fftw_mpi --class S, W, A, B, C, D, ...");
  const ft::ProblemOrError found = ft::find_problem(ft::published_classes, "nas_ft.json", argv[2]);
  if (!found.problem) return session.refuse(found.error);
  return run(session, *found.problem);
}
