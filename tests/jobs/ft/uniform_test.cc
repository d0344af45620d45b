#include "uniform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace {

/// The generator as the NAS report defines it: products of 46-bit numbers held in doubles, in
/// halves of 23 bits.
class Reference {
 public:
  double next() {
    constexpr double half = 0x1p23, modulus = 0x1p46, a = 1220703125.0;
    const double a1 = std::floor(a / half), a2 = a - half * a1;
    const double x1 = std::floor(x_ / half), x2 = x_ - half * x1;
    const double t1 = a1 * x2 + a2 * x1;
    const double z = t1 - half * std::floor(t1 / half);
    const double t3 = half * z + a2 * x2;
    x_ = t3 - modulus * std::floor(t3 / modulus);
    return x_ / modulus;
  }

 private:
  double x_ = 314159265.0;
};

TEST(Uniform, IsTheSequenceOfTheNasReport) {
  std::vector<double> numbers(4096);
  ft::Uniform(0).fill(numbers.data(), numbers.size());
  Reference reference;
  for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], reference.next()) << i;
}

TEST(Uniform, BeginsAnywhere) {
  constexpr std::size_t kFirst = 1'234'567;
  Reference reference;
  for (std::size_t i = 0; i < kFirst; ++i) reference.next();
  std::vector<double> numbers(64);
  ft::Uniform(kFirst).fill(numbers.data(), numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], reference.next()) << i;
}

TEST(Uniform, GoesOnWhereItStopped) {
  std::vector<double> whole(64), parts(64);
  ft::Uniform(7).fill(whole.data(), whole.size());
  ft::Uniform numbers(7);
  for (std::size_t i = 0; i < parts.size(); i += 16) numbers.fill(parts.data() + i, 16);
  EXPECT_EQ(whole, parts);
}

}  // namespace
