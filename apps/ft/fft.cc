#include "fft.h"

#include <cstdlib>
#include <memory>

namespace ft {

std::string export_wisdom() {
  const std::unique_ptr<char, decltype(&std::free)> text(fftw_export_wisdom_to_string(),
                                                         &std::free);
  return text ? text.get() : "";
}

// A text that FFTW does not accept changes nothing but the time that planning takes.
void import_wisdom(const char* text) {
  fftw_import_wisdom_from_string(text);
}

std::optional<Fft> Fft::plan(const Shape& shape, int direction, Complex* in, Complex* out) {
  const int length = static_cast<int>(shape.length);
  // A plan may rely on the alignment it was made for; neighbouring elements of an array differ in
  // it where FFTW's vectors are wider than an element.
  const bool uniform = fftw_alignment_of(reinterpret_cast<double*>(in)) == 0 &&
                       fftw_alignment_of(reinterpret_cast<double*>(in + 1)) == 0;
  const unsigned flags = FFTW_MEASURE | (uniform ? 0U : FFTW_UNALIGNED);
  fftw_plan plan = fftw_plan_many_dft(
      1, &length, static_cast<int>(shape.width), reinterpret_cast<fftw_complex*>(in), nullptr,
      static_cast<int>(shape.in_stride), 1, reinterpret_cast<fftw_complex*>(out), nullptr,
      static_cast<int>(shape.out_stride), 1, direction, flags);
  if (plan == nullptr) return std::nullopt;
  return Fft(plan);
}

}  // namespace ft
