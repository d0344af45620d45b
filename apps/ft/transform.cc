#include "transform.h"

#include <algorithm>

namespace ft {
namespace {

/// Columns that are transformed together: enough to fill vectors and cache lines, few enough that a
/// column of thousands of points stays in the second-level cache.
constexpr std::size_t kColumns = 32;

std::size_t width(std::size_t nx) {
  return std::min(nx, kColumns);
}

}  // namespace

Complex* WorkPlanes::acquire(Communication& communication) {
  for (std::size_t i = 0; i < kWorkPlanes; ++i) {
    const std::size_t candidate = (current_ + kWorkPlanes - i) % kWorkPlanes;
    if (Communication::is_done(pending_[candidate])) {
      current_ = candidate;
      return memory_.work(current_);
    }
  }
  // All are under way, and the oldest is the one that has waited longest.
  current_ = (current_ + 1) % kWorkPlanes;
  communication.wait(pending_[current_]);
  return memory_.work(current_);
}

void WorkPlanes::drain(Communication& communication) {
  for (Communication::Pending& pending : pending_) communication.wait(pending);
}

std::optional<Transform> Transform::plan(const Transpose& transpose, std::size_t nx,
                                         const Variant& variant, const Memory& memory,
                                         int direction, Complex* result, const Layout& layout) {
  const std::size_t length = transpose.row_length;
  const Layout landing = variant.landing(transpose);
  std::optional<Fft> columns = Fft::plan({transpose.rows, width(nx), length, length}, direction,
                                         memory.work(0), memory.work(0));
  std::optional<Fft> row = Fft::plan({nx, 1, 1, 1}, direction, memory.work(0), memory.work(0));
  std::optional<Fft> last =
      Fft::plan({transpose.rows_after(), width(nx), landing.row_stride, layout.row_stride},
                direction, memory.landing(), result);
  if (!columns || !row || !last) return std::nullopt;
  return Transform(transpose, nx, variant, memory, result, layout, std::move(*columns),
                   std::move(*row), std::move(*last));
}

std::optional<Transform> Transform::forward(const Grid& grid, const Variant& variant,
                                            const Memory& memory) {
  const Transpose transpose = grid.forward();
  const Layout dense{transpose.rows_after() * transpose.row_length, transpose.row_length};
  return plan(transpose, grid.problem.nx, variant, memory, Fft::kForward, memory.spectrum(), dense);
}

std::optional<Transform> Transform::inverse(const Grid& grid, const Variant& variant,
                                            const Memory& memory) {
  const Transpose transpose = grid.inverse();
  return plan(transpose, grid.problem.nx, variant, memory, Fft::kInverse, memory.landing(),
              variant.landing(transpose));
}

void Transform::columns(const Fft& fft, Complex* in, Complex* out) const {
  const std::size_t step = width(nx_);
  for (std::size_t x = 0; x < nx_; x += step) fft(in + x, out + x);
}

void Transform::send_rows(Communication& communication, std::size_t plane, Complex* work) const {
  const std::size_t rows_per_rank = transpose_.planes_after();
  const std::size_t rows_per_piece = variant_.rows_per_piece(transpose_);
  for (std::size_t i = 0; i < transpose_.ranks; ++i) {
    // Each rank begins with itself, so that the ranks' first targets differ.
    const std::size_t to = (transpose_.rank + i) % transpose_.ranks;
    for (std::size_t row = 0; row < rows_per_rank; row += rows_per_piece) {
      Complex* data = work + (to * rows_per_rank + row) * transpose_.row_length;
      for (std::size_t j = 0; j < rows_per_piece; ++j) {
        Complex* pencil = data + j * transpose_.row_length;
        row_(pencil, pencil);
      }
      variant_.send(transpose_, {plane, to, row, data}, memory_.packing(), communication);
    }
  }
}

void Transform::last_dimension() const {
  const Layout landing = variant_.landing(transpose_);
  for (std::size_t plane = 0; plane < transpose_.planes_after(); ++plane) {
    columns(last_, memory_.landing() + plane * landing.plane_stride,
            result_ + plane * result_layout_.plane_stride);
  }
}

}  // namespace ft
