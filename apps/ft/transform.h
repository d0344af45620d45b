#pragma once
// The 3-D transform: two dimensions in planes, a transpose, and the third.

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "fft.h"
#include "memory.h"
#include "variant.h"

namespace ft {

/// The work planes of a rank. A plane is free again when the puts from it are complete; the one
/// used last is tried first, as it is still in the cache.
class WorkPlanes {
 public:
  explicit WorkPlanes(const Memory& memory) : memory_(memory) {}

  /// A plane to write to; waits for one if all are under way.
  Complex* acquire(Communication& communication);

  /// The sends from the plane acquired last are complete when `pending` is.
  void release(Communication::Pending pending) { std::swap(pending_[current_], pending); }

  /// Waits for all.
  void drain(Communication& communication);

 private:
  const Memory& memory_;
  std::array<Communication::Pending, kWorkPlanes> pending_{};
  std::size_t current_ = 0;
};

/// One direction of the 3-D transform, planned for one variant. Results are not scaled.
///
/// The result of the forward transform goes to the spectrum, in dense planes of y, each of rows of
/// ascending z. That of the inverse transform stays in the landing area, in the variant's layout.
class Transform {
 public:
  /// None if FFTW refuses. Writes over the memory.
  static std::optional<Transform> forward(const Grid& grid, const Variant& variant,
                                          const Memory& memory);
  static std::optional<Transform> inverse(const Grid& grid, const Variant& variant,
                                          const Memory& memory);

  /// Transforms the grid whose rows `fill(plane, row, out)` writes: plane counted over all ranks.
  /// The landing area stays this rank's until it releases it.
  template <typename Fill>
  void run(Communication& communication, const Fill& fill) const {
    WorkPlanes planes(memory_);
    for (std::size_t plane = 0; plane < transpose_.planes; ++plane) {
      Complex* work = planes.acquire(communication);
      for (std::size_t row = 0; row < transpose_.rows; ++row) {
        fill(transpose_.first_plane() + plane, row, work + row * transpose_.row_length);
      }
      columns(columns_, work, work);
      communication.wait_for_peers();
      communication.begin_region();
      send_rows(communication, plane, work);
      planes.release(communication.end_region());
      communication.progress();
    }
    variant_.finish(transpose_, memory_.packing(), communication);
    planes.drain(communication);
    communication.complete();
    last_dimension();
  }

  /// Where the result lies.
  const Complex* result() const { return result_; }
  Layout layout() const { return result_layout_; }
  const Transpose& transpose() const { return transpose_; }

  /// Arrivals that the library has to expect in a run.
  std::vector<Arrival> arrivals() const {
    return Communication::kIsTwoSided ? variant_.arrivals(transpose_) : std::vector<Arrival>();
  }

 private:
  Transform(const Transpose& transpose, std::size_t nx, const Variant& variant,
            const Memory& memory, Complex* result, const Layout& layout, Fft columns, Fft row,
            Fft last)
      : transpose_(transpose),
        nx_(nx),
        variant_(variant),
        memory_(memory),
        result_(result),
        result_layout_(layout),
        columns_(std::move(columns)),
        row_(std::move(row)),
        last_(std::move(last)) {}

  static std::optional<Transform> plan(const Transpose& transpose, std::size_t nx,
                                       const Variant& variant, const Memory& memory, int direction,
                                       Complex* result, const Layout& layout);

  void columns(const Fft& fft, Complex* in, Complex* out) const;
  void send_rows(Communication& communication, std::size_t plane, Complex* work) const;
  void last_dimension() const;

  Transpose transpose_;
  std::size_t nx_;
  const Variant& variant_;
  const Memory& memory_;
  Complex* result_;
  Layout result_layout_;
  Fft columns_;
  Fft row_;
  Fft last_;
};

}  // namespace ft
