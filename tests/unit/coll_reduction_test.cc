// Built-in reductions against plain arithmetic: every type and operation, at any alignment.

#include "coll/reduction.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "../atomic_arithmetic.h"
#include "core/data_types.h"

namespace gex::coll {
namespace {

template <class T>
constexpr gex_DT_t type_of() {
  if (std::is_floating_point_v<T>) return sizeof(T) == 8 ? GEX_DT_DBL : GEX_DT_FLT;
  if (sizeof(T) == 8) return std::is_signed_v<T> ? GEX_DT_I64 : GEX_DT_U64;
  return std::is_signed_v<T> ? GEX_DT_I32 : GEX_DT_U32;
}

template <class T>
class BuiltinReduction : public testing::Test {};
using Types =
    testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(BuiltinReduction, Types);

constexpr gex_OP_t of_all_types = GEX_OP_ADD | GEX_OP_MULT | GEX_OP_MIN | GEX_OP_MAX;
constexpr gex_OP_t of_integers = of_all_types | GEX_OP_AND | GEX_OP_OR | GEX_OP_XOR;

TYPED_TEST(BuiltinReduction, IsPlainArithmetic) {
  using T = TypeParam;
  EXPECT_EQ(bytes_of(type_of<T>()), sizeof(T));
  atomic_arithmetic::Values<T> random(1);
  for (unsigned number = 0; number < 32; ++number) {
    const gex_OP_t operation = gex_OP_t{1} << number;
    const Builtin builtin = builtin_of(type_of<T>(), operation);
    const gex_OP_t expected = std::is_integral_v<T> ? of_integers : of_all_types;
    ASSERT_EQ(builtin != nullptr, (expected & operation) != 0) << number;
    if (builtin == nullptr) continue;
    for (const std::size_t count : {1, 2, 7, 64, 1001}) {
      for (std::size_t shift = 0; shift < sizeof(T); shift += 3) {
        std::vector<std::byte> left(count * sizeof(T) + shift);
        std::vector<std::byte> right(left.size());
        std::vector<T> results(count);
        for (std::size_t i = 0; i < count; ++i) {
          const T a = random();
          const T b = random();
          std::memcpy(&left[shift + i * sizeof a], &a, sizeof a);
          std::memcpy(&right[shift + i * sizeof b], &b, sizeof b);
          results[i] = atomic_arithmetic::after<T>(operation, a, b, T{});
        }
        const std::vector<std::byte> left_before = left;
        builtin(left.data() + shift, right.data() + shift, right.data() + shift, count * sizeof(T));
        ASSERT_EQ(std::memcmp(right.data() + shift, results.data(), count * sizeof(T)), 0)
            << name_of_operation(operation) << " of " << count << " elements";
        ASSERT_EQ(left, left_before);
      }
    }
  }
}

TEST(Reduction, OfOtherTypesIsTheUsers) {
  EXPECT_EQ(builtin_of(GEX_DT_USER, GEX_OP_ADD), nullptr);
  EXPECT_EQ(builtin_of(GEX_DT_I32 | GEX_DT_U32, GEX_OP_ADD), nullptr);
  EXPECT_EQ(bytes_of(GEX_DT_USER), 0U);
}

TEST(Reduction, CallsTheUsersOperatorWithItsOperandsInOrder) {
  static const int context = 0;
  const auto operation = [](const void* left, void* right, std::size_t count, const void* data) {
    ASSERT_EQ(data, &context);
    ASSERT_EQ(count, 2U);
    auto* out = static_cast<char*>(right);
    for (std::size_t i = 0; i < 6; ++i)
      out[i] = static_cast<char>(static_cast<const char*>(left)[i] - out[i]);
  };
  Reduction reduction;
  reduction.element = 3;
  reduction.user = operation;
  reduction.user_data = &context;
  const char left[] = {9, 8, 7, 6, 5, 4};
  char right[] = {1, 2, 3, 4, 5, 6};
  reduction.apply(reinterpret_cast<const std::byte*>(left), reinterpret_cast<std::byte*>(right), 6);
  const char expected[] = {8, 6, 4, 2, 0, -2};
  EXPECT_EQ(std::memcmp(right, expected, 6), 0);
}

}  // namespace
}  // namespace gex::coll
