#pragma once
// One-dimensional transforms, by FFTW.

#include <fftw3.h>

#include <cstddef>
#include <optional>
#include <string>

#include "problem.h"

namespace ft {

/// `width` neighbouring columns, each of `length` points `in_stride` elements apart, transformed to
/// columns of points `out_stride` apart; in place where both pointers are the same. A row is one
/// column of stride 1.
struct Shape {
  std::size_t length;
  std::size_t width;
  std::size_t in_stride;
  std::size_t out_stride;
};

/// The measurements of FFTW so far in this process, as a text. A process that takes them over need
/// not measure the same shapes again.
std::string export_wisdom();
void import_wisdom(const char* text);

/// A plan for one shape. Planning measures, and writes over what `in` and `out` point to; executing
/// takes any pointers of elements.
class Fft {
 public:
  static constexpr int kForward = FFTW_FORWARD;
  static constexpr int kInverse = FFTW_BACKWARD;

  /// None if FFTW has no plan for the shape.
  static std::optional<Fft> plan(const Shape& shape, int direction, Complex* in, Complex* out);

  Fft(Fft&& other) noexcept : plan_(other.plan_) { other.plan_ = nullptr; }
  Fft& operator=(Fft&&) = delete;
  ~Fft() {
    if (plan_ != nullptr) fftw_destroy_plan(plan_);
  }

  /// `in` and `out` are the same exactly if they were when planned. No scaling.
  void operator()(Complex* in, Complex* out) const {
    fftw_execute_dft(plan_, reinterpret_cast<fftw_complex*>(in),
                     reinterpret_cast<fftw_complex*>(out));
  }

 private:
  explicit Fft(fftw_plan plan) : plan_(plan) {}

  fftw_plan plan_;
};

}  // namespace ft
