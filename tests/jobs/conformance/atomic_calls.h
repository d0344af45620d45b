#pragma once
// The common part of the tests of atomic domains: the interface's functions behind one type each,
// with an opcode that is a constant or not, and domains.

#include <gasnet_ratomic.h>

#include <array>
#include <bit>
#include <utility>

#include "../../atomic_arithmetic.h"
#include "transfer.h"

namespace conformance {

/// The interface's functions of one type.
template <class T>
struct Functions;
#define GEX_TEST_FUNCTIONS(SUFFIX, type)                                                        \
  template <>                                                                                   \
  struct Functions<type> {                                                                      \
    static constexpr gex_DT_t dt = GEX_DT_##SUFFIX;                                             \
    [[gnu::always_inline]] static gex_Event_t nb(gex_AD_t ad, type* result, gex_Rank_t rank,    \
                                                 void* at, gex_OP_t op, type a, type b,         \
                                                 gex_Flags_t flags) {                           \
      return gex_AD_OpNB_##SUFFIX(ad, result, rank, at, op, a, b, flags);                       \
    }                                                                                           \
    [[gnu::always_inline]] static int nbi(gex_AD_t ad, type* result, gex_Rank_t rank, void* at, \
                                          gex_OP_t op, type a, type b, gex_Flags_t flags) {     \
      return gex_AD_OpNBI_##SUFFIX(ad, result, rank, at, op, a, b, flags);                      \
    }                                                                                           \
  };
GEX_TEST_FUNCTIONS(I32, std::int32_t)
GEX_TEST_FUNCTIONS(U32, std::uint32_t)
GEX_TEST_FUNCTIONS(I64, std::int64_t)
GEX_TEST_FUNCTIONS(U64, std::uint64_t)
GEX_TEST_FUNCTIONS(FLT, float)
GEX_TEST_FUNCTIONS(DBL, double)
#undef GEX_TEST_FUNCTIONS

using AtomicTypes =
    testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;

inline gex_AD_t create(gex_TM_t tm, gex_DT_t dt, gex_OP_t ops, gex_Flags_t flags = 0) {
  gex_AD_t ad = GEX_AD_INVALID;
  gex_AD_Create(&ad, tm, dt, ops, flags);
  return ad;
}

/// A domain of all operations of a type, over the primordial team.
template <class T>
gex_AD_t create_all() {
  return create(team(), Functions<T>::dt, atomic_arithmetic::operations<T>());
}

inline gex_EC_t category_of(gex_OP_t op) {
  return op == GEX_OP_SET ? GEX_EC_PUT : op == GEX_OP_GET ? GEX_EC_GET : GEX_EC_RMW;
}

/// One call, and all it takes.
template <class T>
struct Call {
  gex_AD_t ad;
  T* result;
  gex_Rank_t rank;
  void* at;
  gex_OP_t op;
  T operand1;
  T operand2;
  gex_Flags_t flags;
};

/// The explicit and the implicit form of a call with a constant opcode.
template <class T>
struct Forms {
  gex_Event_t (*nb)(const Call<T>&);
  int (*nbi)(const Call<T>&);
};
template <class T, unsigned number>
constexpr Forms<T> constant_forms() {
  constexpr gex_OP_t op = gex_OP_t{1} << number;
  return {
      [](const Call<T>& c) {
        return Functions<T>::nb(c.ad, c.result, c.rank, c.at, op, c.operand1, c.operand2, c.flags);
      },
      [](const Call<T>& c) {
        return Functions<T>::nbi(c.ad, c.result, c.rank, c.at, op, c.operand1, c.operand2, c.flags);
      }};
}
template <class T, unsigned... numbers>
constexpr std::array<Forms<T>, sizeof...(numbers)> all_forms(
    std::integer_sequence<unsigned, numbers...>) {
  return {constant_forms<T, numbers>()...};
}
template <class T>
constexpr auto forms =
    all_forms<T>(std::make_integer_sequence<unsigned, atomic_arithmetic::operation_count>());

/// Performs the call to its end, in one of four ways.
template <class T>
void perform(const Call<T>& c, unsigned way) {
  const Forms<T>& constant = forms<T>[static_cast<unsigned>(std::countr_zero(c.op))];
  const bool known = way % 2 == 0;
  if (way / 2 % 2 == 0) {
    gex_Event_t event = GEX_EVENT_INVALID;
    retry([&] {
      event = known ? constant.nb(c)
                    : Functions<T>::nb(c.ad, c.result, c.rank, c.at, c.op, c.operand1, c.operand2,
                                       c.flags);
      return event != GEX_EVENT_NO_OP;
    });
    gex_Event_Wait(event);
  } else {
    retry([&] {
      return (known ? constant.nbi(c)
                    : Functions<T>::nbi(c.ad, c.result, c.rank, c.at, c.op, c.operand1, c.operand2,
                                        c.flags)) == 0;
    });
    gex_NBI_Wait(category_of(c.op), 0);
  }
}

/// One operation on `at` of a rank, completed; its result, or 0.
template <class T>
T once(gex_AD_t ad, gex_Rank_t rank, void* at, gex_OP_t op, T operand1 = 0, T operand2 = 0,
       gex_Flags_t flags = 0) {
  T result = 0;
  perform(Call<T>{ad, &result, rank, at, op, operand1, operand2, flags}, 0);
  return result;
}

}  // namespace conformance
