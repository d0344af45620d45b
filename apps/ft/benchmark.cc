#include "benchmark.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "spectrum.h"
#include "transform.h"
#include "uniform.h"

namespace ft {
namespace {

/// Initial conditions: two random numbers a point, in the order of memory.
void forward(const Grid& grid, const Transform& transform, Communication& communication) {
  const std::size_t nx = grid.problem.nx;
  Uniform numbers(2 * nx * grid.problem.ny * transform.transpose().first_plane());
  transform.run(communication, [&](std::size_t, std::size_t, Complex* out) {
    numbers.fill(reinterpret_cast<double*>(out), 2 * nx);
  });
}

void inverse(const Grid& grid, const Transform& transform, const Memory& memory, int iteration,
             Communication& communication) {
  const Evolution evolution(grid.problem, iteration);
  const Transpose& transpose = transform.transpose();
  const Complex* spectrum = memory.spectrum();
  transform.run(communication, [&](std::size_t y, std::size_t z, Complex* out) {
    const std::size_t row = (y - transpose.first_plane()) * transpose.rows + z;
    evolution.row(y, z, spectrum + row * transpose.row_length, out);
  });
}

/// The places, in the result of the inverse transform, of those points of the checksum that this
/// rank owns.
std::vector<std::size_t> checksum_places(const Grid& grid, const Transform& inverse) {
  std::vector<std::size_t> places;
  const std::size_t first = inverse.transpose().first_plane_after();
  const Layout layout = inverse.layout();
  for (int j = 1; j <= kChecksumPoints; ++j) {
    const ChecksumPoint point = checksum_point(grid.problem, j);
    if (point.z < first || point.z >= first + inverse.transpose().planes_after()) continue;
    places.push_back((point.z - first) * layout.plane_stride + point.y * layout.row_stride +
                     point.x);
  }
  return places;
}

struct Transforms {
  std::optional<Transform> forward;
  std::optional<Transform> inverse;

  Transforms(const Grid& grid, const Variant& variant, const Memory& memory)
      : forward(Transform::forward(grid, variant, memory)),
        inverse(Transform::inverse(grid, variant, memory)) {}
};

/// Measures once, on the root, and plans alike on all ranks: on fewer processors than ranks they
/// would disturb one another's measurements, and take as many times as long.
Transforms plan(const Job& job, const Grid& grid, const Memory& memory, const Variant& variant) {
  std::optional<Transforms> transforms;
  if (job.is_root()) {
    transforms.emplace(grid, variant, memory);
    std::string text = export_wisdom();
    // None, if it is too long.
    if (text.size() >= kWisdomBytes) text.clear();
    std::memcpy(memory.wisdom(), text.c_str(), text.size() + 1);
  }
  job.share(memory.wisdom(), kWisdomBytes);
  if (!job.is_root()) {
    import_wisdom(memory.wisdom());
    transforms.emplace(grid, variant, memory);
  }
  if (!transforms->forward || !transforms->inverse) job.fail("FFTW has no plan for this grid");
  return *std::move(transforms);
}

}  // namespace

Outcome run(const Job& job, const Grid& grid, const Memory& memory, const Variant& variant,
            int iterations) {
  const Transforms transforms = plan(job, grid, memory, variant);
  const Transform& to_spectrum = *transforms.forward;
  const Transform& from_spectrum = *transforms.inverse;
  const std::vector<std::size_t> places = checksum_places(grid, from_spectrum);
  Communication communication(job, memory.landing());

  // No rank may write a landing area while its owner plans there.
  communication.release_landing(to_spectrum.arrivals());
  forward(grid, to_spectrum, communication);
  // Either direction has pages of its own that a rank touches for the first time.
  communication.release_landing(from_spectrum.arrivals());
  inverse(grid, from_spectrum, memory, 1, communication);
  communication.reset();

  job.barrier();
  const double start = Communication::now();
  communication.release_landing(to_spectrum.arrivals());
  forward(grid, to_spectrum, communication);
  std::vector<Complex> partials(static_cast<std::size_t>(iterations));
  for (int i = 0; i < iterations; ++i) {
    communication.release_landing(from_spectrum.arrivals());
    inverse(grid, from_spectrum, memory, i + 1, communication);
    Complex& partial = partials[static_cast<std::size_t>(i)];
    for (const std::size_t place : places) partial += from_spectrum.result()[place];
  }
  communication.gather(partials.data(), memory.partials(), partials.size() * sizeof(Complex));

  Outcome outcome;
  outcome.variant = variant.name();
  if (job.is_root()) {
    for (std::size_t i = 0; i < partials.size(); ++i) {
      Complex sum = 0;
      for (std::size_t rank = 0; rank < grid.ranks; ++rank)
        sum += memory.partials()[rank * partials.size() + i];
      outcome.checksums.push_back(sum / static_cast<double>(grid.problem.points()));
    }
    outcome.seconds = Communication::now() - start;
    outcome.expected_messages =
        variant.messages(grid.forward()) +
        static_cast<std::size_t>(iterations) * variant.messages(grid.inverse());
  }

  const Traffic traffic = communication.traffic();
  job.gather(&traffic, memory.records(), sizeof traffic);
  if (job.is_root()) outcome.traffic.assign(memory.records(), memory.records() + grid.ranks);
  // The root must have read the records before another run writes them.
  job.barrier();
  return outcome;
}

}  // namespace ft
