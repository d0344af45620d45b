/* Annotations that compilers understand and the languages do not have. Part of gasnet_tools.h.
 *
 * All of them are macros. These expand to text that means the same without this header, because
 * clients copy it into headers of their own: GASNETT_NEVER_INLINE, GASNETT_NORETURN, GASNETT_PURE,
 * GASNETT_CONST, GASNETT_HOT, GASNETT_COLD, GASNETT_PREDICT_TRUE/FALSE, gasnett_spinloop_hint and
 * gasneti_builtin_unreachable.
 *
 * Before a definition or declaration, on a line of its own:
 *   GASNETT_INLINE(name)            static, and inlined even without optimisation
 *   GASNETT_PURE, GASNETT_CONST     the result depends only on arguments (and, if pure, memory)
 *   GASNETT_MALLOC                  the result is fresh memory
 *   GASNETT_HOT, GASNETT_COLD       often called, rarely called
 *   GASNETT_USED, GASNETT_UNUSED    kept though nothing refers to it; no warning if nothing does
 *   GASNETT_DEPRECATED, GASNETT_WARN_UNUSED_RESULT
 * After a declaration: GASNETT_NORETURN.
 * The forms with P (GASNETT_NORETURNP(name) ...) are for compilers that want a pragma; here they
 * are empty. */
#ifndef GEX_TOOLS_COMPILER_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_TOOLS_COMPILER_H_

#include <gex/platform.h>

#if defined(__cplusplus)
#define GASNETT_EXTERNC extern "C"
#define GASNETT_BEGIN_EXTERNC extern "C" {
#define GASNETT_END_EXTERNC }
#else
#define GASNETT_EXTERNC extern
#define GASNETT_BEGIN_EXTERNC
#define GASNETT_END_EXTERNC
#endif

#define GASNETT_INLINE(name) static inline __attribute__((__always_inline__, __unused__))
/** `definition` is a whole declaration or definition, and may hold commas in parentheses only. */
#define GASNETT_NEVER_INLINE(name, definition) __attribute__((__noinline__)) definition
#define GASNETT_RESTRICT __restrict__

#define GASNETT_NORETURN __attribute__((__noreturn__))
#define GASNETT_NORETURNP(name)
#define GASNETT_MALLOC __attribute__((__malloc__))
#define GASNETT_MALLOCP(name)
#define GASNETT_PURE __attribute__((__pure__))
#define GASNETT_PUREP(name)
#define GASNETT_CONST __attribute__((__const__))
#define GASNETT_CONSTP(name)
#define GASNETT_HOT __attribute__((__hot__))
#define GASNETT_COLD __attribute__((__cold__))
#define GASNETT_DEPRECATED __attribute__((__deprecated__))
#define GASNETT_WARN_UNUSED_RESULT __attribute__((__warn_unused_result__))
#define GASNETT_USED __attribute__((__used__))
#define GASNETT_UNUSED __attribute__((__unused__))

/** Declares a function whose argument number `format_argument` is a printf format for those from
 * `first_argument` on. Stands before `;` or a body. The declarator is repeated, because the
 * attribute may follow a declaration only. */
#define GASNETT_FORMAT_PRINTF(name, format_argument, first_argument, declarator)       \
  declarator __attribute__((__format__(__printf__, format_argument, first_argument))); \
  declarator
/** For a pointer to such a function: a variable, a parameter or a member. */
#define GASNETT_FORMAT_PRINTF_FUNCPTR(name, format_argument, first_argument, declarator) \
  declarator __attribute__((__format__(__printf__, format_argument, first_argument)))

/** The end of a case that goes on in the next. Not followed by a semicolon. */
#define GASNETT_FALLTHROUGH __attribute__((__fallthrough__));

/** 1: `#pragma GCC diagnostic push`, `pop` and `ignored` are understood. */
#define GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC 1

/** Non-zero exactly if the expression is; the compiler expects that it is, or is not. */
#define GASNETT_PREDICT_TRUE(expression) __builtin_expect(!!(expression), 1)
#define GASNETT_PREDICT_FALSE(expression) __builtin_expect(!!(expression), 0)

/** 1 if the value is a constant to the compiler here. */
#define gasnett_constant_p(expression) __builtin_constant_p(expression)

/** Name of the enclosing function, a const char *. */
#define GASNETT_CURRENT_FUNCTION __func__

#define gasneti_builtin_unreachable() __builtin_unreachable()
#if defined(GASNET_DEBUG)
/** Control never gets here. With GASNET_DEBUG the job ends if it does. */
#define gasnett_unreachable() gasnett_fatalerror("code marked as unreachable was reached")
/** The condition holds. With GASNET_DEBUG the job ends if it does not. */
#define gasnett_assume(condition) \
  ((condition) ? (void)0 : gasnett_fatalerror("assumption does not hold: %s", #condition))
#else
#define gasnett_unreachable() __builtin_unreachable()
#define gasnett_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())
#endif

/** In a loop that waits for another thread: spares power and the other hardware thread. Orders no
 * memory access of the processor; keeps the compiler from moving any across. */
#if defined(PLATFORM_ARCH_X86_64) || defined(PLATFORM_ARCH_X86)
#define gasnett_spinloop_hint() __asm__ __volatile__("pause" : : : "memory")
#elif defined(PLATFORM_ARCH_AARCH64)
#define gasnett_spinloop_hint() __asm__ __volatile__("isb" : : : "memory")
#elif defined(PLATFORM_ARCH_POWERPC)
#define gasnett_spinloop_hint() __asm__ __volatile__("or 27,27,27" : : : "memory")
#else
#define gasnett_spinloop_hint() __asm__ __volatile__("" : : : "memory")
#endif

/** At global scope, followed by a semicolon: keeps `text` in the object file as the array `name`,
 * for ident(1) and strings(1). */
#define GASNETT_IDENT(name, text) \
  extern char const name[];       \
  __attribute__((__used__)) char const name[] = text

/** Evaluates each argument once, in order, and warns of nothing. An expression of type void. */
#define GASNETT_UNUSED_ARGS1(a) ((void)(a))
#define GASNETT_UNUSED_ARGS2(a, b) ((void)(a), (void)(b))
#define GASNETT_UNUSED_ARGS3(a, b, c) ((void)(a), (void)(b), (void)(c))
#define GASNETT_UNUSED_ARGS4(a, b, c, d) ((void)(a), (void)(b), (void)(c), (void)(d))
#define GASNETT_UNUSED_ARGS5(a, b, c, d, e) (GASNETT_UNUSED_ARGS4(a, b, c, d), (void)(e))
#define GASNETT_UNUSED_ARGS6(a, b, c, d, e, f) \
  (GASNETT_UNUSED_ARGS4(a, b, c, d), GASNETT_UNUSED_ARGS2(e, f))
#define GASNETT_UNUSED_ARGS7(a, b, c, d, e, f, g) \
  (GASNETT_UNUSED_ARGS4(a, b, c, d), GASNETT_UNUSED_ARGS3(e, f, g))
#define GASNETT_UNUSED_ARGS8(a, b, c, d, e, f, g, h) \
  (GASNETT_UNUSED_ARGS4(a, b, c, d), GASNETT_UNUSED_ARGS4(e, f, g, h))

#endif
