// The operations of atomic domains against plain arithmetic: every type and operation, as the
// library performs them for others and as clients have them inline.

#include "atomic/operation.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../atomic_arithmetic.h"

namespace gex::atomic {
namespace {

using atomic_arithmetic::Bits;
using atomic_arithmetic::bits_of;
using atomic_arithmetic::operation_count;

template <class T>
struct TypeOf;
template <>
struct TypeOf<std::int32_t> {
  static constexpr gex_DT_t value = GEX_DT_I32;
};
template <>
struct TypeOf<std::uint32_t> {
  static constexpr gex_DT_t value = GEX_DT_U32;
};
template <>
struct TypeOf<std::int64_t> {
  static constexpr gex_DT_t value = GEX_DT_I64;
};
template <>
struct TypeOf<std::uint64_t> {
  static constexpr gex_DT_t value = GEX_DT_U64;
};
template <>
struct TypeOf<float> {
  static constexpr gex_DT_t value = GEX_DT_FLT;
};
template <>
struct TypeOf<double> {
  static constexpr gex_DT_t value = GEX_DT_DBL;
};

using Apply = std::uint64_t (*)(void* at, std::uint64_t operand1, std::uint64_t operand2);

/// An operation as clients have it: type, opcode and flags known to the compiler.
template <class T, unsigned number, gex_Flags_t flags>
std::uint64_t apply_constant(void* at, std::uint64_t operand1, std::uint64_t operand2) {
  return gex_ad_apply_(TypeOf<T>::value, at, gex_OP_t{1} << number, operand1, operand2, flags);
}
template <class T, gex_Flags_t flags, unsigned... numbers>
constexpr std::array<Apply, sizeof...(numbers)> constants(
    std::integer_sequence<unsigned, numbers...>) {
  return {apply_constant<T, numbers, flags>...};
}
template <class T, gex_Flags_t flags>
constexpr auto constant =
    constants<T, flags>(std::make_integer_sequence<unsigned, operation_count>());

template <class T>
class AtomicOperations : public testing::Test {};
using Types =
    testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(AtomicOperations, Types);

/// Performs an operation; returns the value before, if the operation fetches. Of one type for all,
/// so that what follows is compiled once for each type of the target.
using Perform = std::function<std::uint64_t(void* at, gex_OP_t operation, std::uint64_t operand1,
                                            std::uint64_t operand2)>;

/// Compares what `perform` leaves and returns for random operands with plain arithmetic.
template <class T>
void expect_arithmetic(const Perform& perform) {
  atomic_arithmetic::Values<T> values(TypeOf<T>::value);
  struct {
    Bits<T> before = 0x5a5a5a5a;
    T target = 0;
    Bits<T> behind = 0xa5a5a5a5;
  } memory;
  for (unsigned number = 0; number < operation_count; ++number) {
    const gex_OP_t operation = gex_OP_t{1} << number;
    if (!is_operation_of(TypeOf<T>::value, operation)) continue;
    for (int round = 0; round < 2000; ++round) {
      const T op0 = values();
      const T op1 = round % 2 == 0 ? values() : op0;
      const T op2 = values();
      memory.target = op0;
      const std::uint64_t got = perform(&memory.target, operation, bits_of(op1), bits_of(op2));
      ASSERT_EQ(bits_of(memory.target), bits_of(atomic_arithmetic::after(operation, op0, op1, op2)))
          << name_of_operation(operation) << " of " << op0 << ", " << op1 << ", " << op2;
      if (fetches(operation)) {
        ASSERT_EQ(got, bits_of(op0)) << name_of_operation(operation);
      }
    }
    ASSERT_EQ(memory.before, 0x5a5a5a5a);
    ASSERT_EQ(memory.behind, 0xa5a5a5a5);
  }
}

TYPED_TEST(AtomicOperations, DoWhatPlainArithmeticDoes) {
  constexpr gex_Flags_t choices[] = {0, GEX_FLAG_AD_ACQ, GEX_FLAG_AD_REL,
                                     GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL};
  for (const gex_Flags_t flags : choices)
    expect_arithmetic<TypeParam>(
        [flags](void* at, gex_OP_t operation, std::uint64_t operand1, std::uint64_t operand2) {
          return apply(TypeOf<TypeParam>::value, at, operation, operand1, operand2, flags);
        });
}

template <class T, gex_Flags_t flags>
void expect_arithmetic_of_constants() {
  expect_arithmetic<T>(
      [](void* at, gex_OP_t operation, std::uint64_t operand1, std::uint64_t operand2) {
        const auto number = static_cast<unsigned>(std::countr_zero(operation));
        return constant<T, flags>[number](at, operand1, operand2);
      });
}

TYPED_TEST(AtomicOperations, DoTheSameWhereTheCompilerSeesWhich) {
  expect_arithmetic_of_constants<TypeParam, 0>();
  expect_arithmetic_of_constants<TypeParam, GEX_FLAG_AD_ACQ>();
  expect_arithmetic_of_constants<TypeParam, GEX_FLAG_AD_REL>();
}

/// An operation whose opcode and flags are no constants, inline.
template <class T>
bool perform_any(void* result, void* at, gex_OP_t operation, std::uint64_t operand1,
                 std::uint64_t operand2, gex_Flags_t flags) {
  const volatile gex_OP_t opcode = operation;
  const volatile gex_Flags_t unknown_flags = flags;
  return gex_ad_perform_any_(TypeOf<T>::value, result, at, opcode, operand1, operand2,
                             unknown_flags) != 0;
}

TYPED_TEST(AtomicOperations, DoTheSameWhereTheCompilerCannotSeeWhich) {
  constexpr gex_Flags_t choices[] = {0, GEX_FLAG_AD_ACQ, GEX_FLAG_AD_REL,
                                     GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL};
  for (const gex_Flags_t flags : choices)
    expect_arithmetic<TypeParam>(
        [flags](void* at, gex_OP_t operation, std::uint64_t operand1, std::uint64_t operand2) {
          Bits<TypeParam> result[2] = {0x5a5a5a5a, 0x5a5a5a5a};
          EXPECT_TRUE(perform_any<TypeParam>(result, at, operation, operand1, operand2, flags));
          EXPECT_EQ(result[1], 0x5a5a5a5a);
          if (!fetches(operation)) {
            EXPECT_EQ(result[0], 0x5a5a5a5a);
          }
          return std::uint64_t{result[0]};
        });
}

TYPED_TEST(AtomicOperations, ThatTheTypeLacksAreNotPerformed) {
  for (unsigned number = 0; number <= 32; ++number) {
    const gex_OP_t operation = number == 32 ? 0 : gex_OP_t{1} << number;
    if (is_operation_of(TypeOf<TypeParam>::value, operation)) continue;
    TypeParam target = 7;
    TypeParam result = 9;
    EXPECT_FALSE(perform_any<TypeParam>(&result, &target, operation, bits_of(TypeParam{3}), 0, 0))
        << operation;
    EXPECT_EQ(target, TypeParam{7});
    EXPECT_EQ(result, TypeParam{9});
  }
}

TYPED_TEST(AtomicOperations, AreThoseThatTheSpecificationGivesTheType) {
  constexpr gex_DT_t type = TypeOf<TypeParam>::value;
  EXPECT_EQ(operations_of(type), atomic_arithmetic::operations<TypeParam>());
  for (unsigned number = 0; number < operation_count; ++number) {
    const gex_OP_t operation = gex_OP_t{1} << number;
    EXPECT_EQ(is_operation_of(type, operation),
              (atomic_arithmetic::operations<TypeParam>() & operation) != 0);
    EXPECT_FALSE(is_operation_of(type, operation | GEX_OP_USER));
    EXPECT_EQ(fetches(operation), atomic_arithmetic::is_fetching(operation));
  }
  EXPECT_FALSE(is_operation_of(type, 0));
  EXPECT_FALSE(is_operation_of(type, GEX_OP_USER));
}

TYPED_TEST(AtomicOperations, OfManyThreadsLoseNothing) {
  constexpr int threads = 4;
  constexpr int each = 20000;
  // Sums that a float holds exactly.
  TypeParam sum = 0;
  TypeParam max = 0;
  const auto work = [&](int thread) {
    for (int i = 1; i <= each; ++i) {
      apply(TypeOf<TypeParam>::value, &sum, GEX_OP_INC, 0, 0, 0);
      const int value = i * threads + thread;
      apply(TypeOf<TypeParam>::value, &max, GEX_OP_MAX, bits_of(static_cast<TypeParam>(value)), 0,
            0);
    }
  };
  std::vector<std::thread> running;
  running.reserve(threads);
  for (int thread = 0; thread < threads; ++thread) running.emplace_back(work, thread);
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(sum, static_cast<TypeParam>(threads * each));
  EXPECT_EQ(max, static_cast<TypeParam>(each * threads + threads - 1));
}

TEST(AtomicCategories, FollowTheOperation) {
  EXPECT_EQ(category_of(GEX_OP_SET), ec_put);
  EXPECT_EQ(category_of(GEX_OP_GET), ec_get);
  EXPECT_EQ(category_of(GEX_OP_SWAP), ec_rmw);
  EXPECT_EQ(category_of(GEX_OP_CAS), ec_rmw);
  EXPECT_EQ(category_of(GEX_OP_ADD), ec_rmw);
}

}  // namespace
}  // namespace gex::atomic
