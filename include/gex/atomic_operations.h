/* One atomic operation on memory of this process, by the processor: the arithmetic of
 * gasnet_ratomic.h.
 *
 * The inline calls of clients and the library, which serves the processes that have the memory not
 * mapped, execute this one text: with whatever way an operation comes, what touches the memory are
 * the processor's own atomic instructions, so all ways are atomic towards one another.
 *
 * Values travel as bits in 64-bit words, those of 32-bit types in the low half. Types and opcodes
 * are constants where this is inlined, and all but one of the cases are folded away.
 *
 * Floating-point arithmetic, MULT, MIN and MAX are compare-and-exchange loops on the bits. A float
 * is computed as a double and rounded once more, which gives what float arithmetic gives: products
 * are exact in a double, and a sum's two roundings are one, because a double has more than twice
 * the digits of a float, and two more. CAS compares bits, so 0.0 and -0.0 differ and a NaN equals
 * itself. MIN is op0 < op1 ? op0 : op1, MAX with >, so a NaN on either side gives op1.
 */
#ifndef GEX_ATOMIC_OPERATIONS_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_ATOMIC_OPERATIONS_H_

#include <gasnet_fwd.h>
#include <gex/any_width.h>
#include <gex/fences.h>
#include <string.h>

/* Inlined whatever its size, since folding leaves little of it. */
#define GEX_FOLDED_ static inline __attribute__((always_inline, unused))

#define GEX_AD_FLOATS_ (GEX_DT_FLT | GEX_DT_DBL)
#define GEX_AD_WIDE_ (GEX_DT_I64 | GEX_DT_U64 | GEX_DT_DBL)
#define GEX_AD_FETCHING_ (GEX_OP_TO_FETCHING(0xfff) | GEX_OP_GET)

/* An operation is relaxed unless it is asked to be a fence; one of unknown flags might be. */
#define GEX_AD_IS_RELAXED_(flags) \
  (__builtin_constant_p(flags) && !((flags) & (GEX_FLAG_AD_ACQ | GEX_FLAG_AD_REL)))

GEX_FOLDED_ int gex_ad_update_order_(gex_Flags_t flags) {
  return GEX_AD_IS_RELAXED_(flags) ? __ATOMIC_RELAXED : __ATOMIC_ACQ_REL;
}

/* An atomic load cannot release, so a fence stands before it. */
GEX_FOLDED_ uint64_t gex_ad_load_(const void* at, int wide, gex_Flags_t flags) {
  const int order = GEX_AD_IS_RELAXED_(flags) ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE;
  if (flags & GEX_FLAG_AD_REL) gex_full_fence_();
  return wide ? __atomic_load_n((const gex_any64_*)at, order)
              : __atomic_load_n((const gex_any32_*)at, order);
}

/* An atomic store cannot acquire, so a fence stands behind it. */
GEX_FOLDED_ void gex_ad_store_(void* at, int wide, uint64_t value, gex_Flags_t flags) {
  const int order = GEX_AD_IS_RELAXED_(flags) ? __ATOMIC_RELAXED : __ATOMIC_RELEASE;
  if (wide)
    __atomic_store_n((gex_any64_*)at, value, order);
  else
    __atomic_store_n((gex_any32_*)at, (uint32_t)value, order);
  if (flags & GEX_FLAG_AD_ACQ) gex_full_fence_();
}

GEX_FOLDED_ uint64_t gex_ad_exchange_(void* at, int wide, uint64_t value, int order) {
  return wide ? __atomic_exchange_n((gex_any64_*)at, value, order)
              : __atomic_exchange_n((gex_any32_*)at, (uint32_t)value, order);
}

GEX_FOLDED_ uint64_t gex_ad_add_(void* at, int wide, uint64_t operand, int order) {
  return wide ? __atomic_fetch_add((gex_any64_*)at, operand, order)
              : __atomic_fetch_add((gex_any32_*)at, (uint32_t)operand, order);
}

GEX_FOLDED_ uint64_t gex_ad_and_(void* at, int wide, uint64_t operand, int order) {
  return wide ? __atomic_fetch_and((gex_any64_*)at, operand, order)
              : __atomic_fetch_and((gex_any32_*)at, (uint32_t)operand, order);
}

GEX_FOLDED_ uint64_t gex_ad_or_(void* at, int wide, uint64_t operand, int order) {
  return wide ? __atomic_fetch_or((gex_any64_*)at, operand, order)
              : __atomic_fetch_or((gex_any32_*)at, (uint32_t)operand, order);
}

GEX_FOLDED_ uint64_t gex_ad_xor_(void* at, int wide, uint64_t operand, int order) {
  return wide ? __atomic_fetch_xor((gex_any64_*)at, operand, order)
              : __atomic_fetch_xor((gex_any32_*)at, (uint32_t)operand, order);
}

/* Exchanges if the value is `*expected`, else writes the value there. Does not fail spuriously.
 */
GEX_FOLDED_ int gex_ad_compare_exchange_(void* at, int wide, uint64_t* expected, uint64_t desired,
                                         int order) {
  const int failed = order == __ATOMIC_RELAXED ? __ATOMIC_RELAXED : __ATOMIC_ACQUIRE;
  uint32_t found = (uint32_t)*expected;
  int exchanged;
  if (wide)
    return __atomic_compare_exchange_n((gex_any64_*)at, expected, desired, 0, order, failed);
  exchanged =
      __atomic_compare_exchange_n((gex_any32_*)at, &found, (uint32_t)desired, 0, order, failed);
  *expected = found;
  return exchanged;
}

/* expr of the specification for floating-point numbers. */
GEX_FOLDED_ double gex_ad_float_result_(gex_OP_t operation, double op0, double op1) {
  switch (operation) {
    case GEX_OP_ADD:
      return op0 + op1;
    case GEX_OP_SUB:
      return op0 - op1;
    case GEX_OP_MULT:
      return op0 * op1;
    case GEX_OP_MIN:
      return op0 < op1 ? op0 : op1;
    case GEX_OP_MAX:
      return op0 > op1 ? op0 : op1;
    case GEX_OP_INC:
      return op0 + 1;
    case GEX_OP_DEC:
      return op0 - 1;
    default:
      return op0;
  }
}

GEX_FOLDED_ int gex_ad_less_(gex_DT_t type, uint64_t op0, uint64_t op1) {
  if (type == GEX_DT_I32) return (int32_t)(uint32_t)op0 < (int32_t)(uint32_t)op1;
  if (type == GEX_DT_I64) return (int64_t)op0 < (int64_t)op1;
  return op0 < op1;
}

/* expr of the specification, for what the processor has no instruction for. */
GEX_FOLDED_ uint64_t gex_ad_result_(gex_DT_t type, gex_OP_t operation, uint64_t op0, uint64_t op1) {
  if (type == GEX_DT_DBL) {
    double left, right;
    memcpy(&left, &op0, sizeof left);
    memcpy(&right, &op1, sizeof right);
    left = gex_ad_float_result_(operation, left, right);
    memcpy(&op0, &left, sizeof op0);
    return op0;
  }
  if (type == GEX_DT_FLT) {
    const uint32_t bits0 = (uint32_t)op0, bits1 = (uint32_t)op1;
    float left, right;
    uint32_t bits;
    memcpy(&left, &bits0, sizeof left);
    memcpy(&right, &bits1, sizeof right);
    left = (float)gex_ad_float_result_(operation, (double)left, (double)right);
    memcpy(&bits, &left, sizeof bits);
    return bits;
  }
  switch (operation) {
    case GEX_OP_MULT:
      return op0 * op1;
    case GEX_OP_MIN:
      return gex_ad_less_(type, op0, op1) ? op0 : op1;
    case GEX_OP_MAX:
      return gex_ad_less_(type, op0, op1) ? op1 : op0;
    default:
      return op0;
  }
}

/* Performs `opcode` on the object at `at`, aligned to its size; returns op0, but for SET nothing in
 * particular. `opcode` is one operation that `type` has. ACQ and REL of `flags` are obeyed. */
GEX_FOLDED_ uint64_t gex_ad_apply_(gex_DT_t type, void* at, gex_OP_t opcode, uint64_t operand1,
                                   uint64_t operand2, gex_Flags_t flags) {
  const int wide = (type & GEX_AD_WIDE_) != 0;
  const int order = gex_ad_update_order_(flags);
  const gex_OP_t operation = opcode < GEX_OP_TO_FETCHING(1) || opcode == GEX_OP_GET
                                 ? opcode
                                 : GEX_OP_TO_NONFETCHING(opcode);
  uint64_t op0;
  switch (operation) {
    case GEX_OP_GET:
      return gex_ad_load_(at, wide, flags);
    case GEX_OP_SET:
      if (opcode == GEX_OP_SWAP) return gex_ad_exchange_(at, wide, operand1, order);
      gex_ad_store_(at, wide, operand1, flags);
      return 0;
    case GEX_OP_CAS:
      gex_ad_compare_exchange_(at, wide, &operand1, operand2, order);
      return operand1;
    default:
      break;
  }
  if (!(type & GEX_AD_FLOATS_)) {
    switch (operation) {
      case GEX_OP_ADD:
        return gex_ad_add_(at, wide, operand1, order);
      case GEX_OP_SUB:
        return gex_ad_add_(at, wide, 0 - operand1, order);
      case GEX_OP_INC:
        return gex_ad_add_(at, wide, 1, order);
      case GEX_OP_DEC:
        return gex_ad_add_(at, wide, ~(uint64_t)0, order);
      case GEX_OP_AND:
        return gex_ad_and_(at, wide, operand1, order);
      case GEX_OP_OR:
        return gex_ad_or_(at, wide, operand1, order);
      case GEX_OP_XOR:
        return gex_ad_xor_(at, wide, operand1, order);
      default:
        break;
    }
  }
  /* Nothing is ordered by what only guesses at the value. */
  op0 = gex_ad_load_(at, wide, 0);
  while (!gex_ad_compare_exchange_(at, wide, &op0, gex_ad_result_(type, operation, op0, operand1),
                                   order)) {
  }
  return op0;
}

/* Writes an object of that type, given as bits. */
GEX_FOLDED_ void gex_ad_write_(gex_DT_t type, void* to, uint64_t bits) {
  if (type & GEX_AD_WIDE_)
    *(gex_any64_*)to = bits;
  else
    *(gex_any32_*)to = (uint32_t)bits;
}

/* Performs `opcode`, and writes op0 to `*result` if it fetches. */
GEX_FOLDED_ void gex_ad_perform_(gex_DT_t type, void* result, void* at, gex_OP_t opcode,
                                 uint64_t operand1, uint64_t operand2, gex_Flags_t flags) {
  const uint64_t op0 = gex_ad_apply_(type, at, opcode, operand1, operand2, flags);
  if (opcode & GEX_AD_FETCHING_) gex_ad_write_(type, result, op0);
}

/* Cases of the switch below: an operation; one that only integers have; and one together with its
 * fetching form, where the two differ only in what becomes of op0. */
#define GEX_AD_CASE_(operation)                                              \
  case __builtin_ctz(operation):                                             \
    gex_ad_perform_(type, result, at, operation, operand1, operand2, flags); \
    return 1
#define GEX_AD_CASE_OF_INTEGERS_(operation)                                  \
  case __builtin_ctz(operation):                                             \
    if (type & GEX_AD_FLOATS_) return 0;                                     \
    gex_ad_perform_(type, result, at, operation, operand1, operand2, flags); \
    return 1
#define GEX_AD_CASE_OF_BOTH_(operation)                                  \
  case __builtin_ctz(operation):                                         \
  case __builtin_ctz(GEX_OP_TO_FETCHING(operation)):                     \
    op0 = gex_ad_apply_(type, at, operation, operand1, operand2, flags); \
    if (opcode & GEX_AD_FETCHING_) gex_ad_write_(type, result, op0);     \
    return 1

/* `gex_ad_perform_` of an opcode that is not constant: a jump to the instructions of
 * that operation. 0, and nothing is done, if `type` has no operation that is the lowest bit of
 * `opcode`.
 */
GEX_FOLDED_ int gex_ad_perform_any_(gex_DT_t type, void* result, void* at, gex_OP_t opcode,
                                    uint64_t operand1, uint64_t operand2, gex_Flags_t flags) {
  uint64_t op0;
  /* The highest bit is no operation's. With it there is always a lowest bit to count to. */
  switch (__builtin_ctz(opcode | 1u << 31)) {
    GEX_AD_CASE_OF_INTEGERS_(GEX_OP_AND);
    GEX_AD_CASE_OF_INTEGERS_(GEX_OP_FAND);
    GEX_AD_CASE_OF_INTEGERS_(GEX_OP_OR);
    GEX_AD_CASE_OF_INTEGERS_(GEX_OP_FOR);
    GEX_AD_CASE_OF_INTEGERS_(GEX_OP_XOR);
    GEX_AD_CASE_OF_INTEGERS_(GEX_OP_FXOR);
    GEX_AD_CASE_(GEX_OP_ADD);
    GEX_AD_CASE_(GEX_OP_FADD);
    GEX_AD_CASE_(GEX_OP_SUB);
    GEX_AD_CASE_(GEX_OP_FSUB);
    GEX_AD_CASE_(GEX_OP_INC);
    GEX_AD_CASE_(GEX_OP_FINC);
    GEX_AD_CASE_(GEX_OP_DEC);
    GEX_AD_CASE_(GEX_OP_FDEC);
    GEX_AD_CASE_OF_BOTH_(GEX_OP_MULT);
    GEX_AD_CASE_OF_BOTH_(GEX_OP_MIN);
    GEX_AD_CASE_OF_BOTH_(GEX_OP_MAX);
    GEX_AD_CASE_(GEX_OP_SET);
    GEX_AD_CASE_(GEX_OP_SWAP);
    GEX_AD_CASE_OF_BOTH_(GEX_OP_CAS);
    GEX_AD_CASE_(GEX_OP_GET);
    default:
      return 0;
  }
}
#undef GEX_AD_CASE_
#undef GEX_AD_CASE_OF_INTEGERS_
#undef GEX_AD_CASE_OF_BOTH_

#endif
