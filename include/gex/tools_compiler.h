/** @file
 * Annotations that compilers understand and the languages do not have. Part of gasnet_tools.h.
 *
 * All of them are macros. These expand to text that means the same without this header, because
 * clients copy it into headers of their own: GASNETT_NEVER_INLINE, GASNETT_NORETURN, GASNETT_PURE,
 * GASNETT_CONST, GASNETT_HOT, GASNETT_COLD, GASNETT_PREDICT_TRUE, GASNETT_PREDICT_FALSE,
 * gasnett_spinloop_hint and gasneti_builtin_unreachable.
 */
#ifndef GEX_TOOLS_COMPILER_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_TOOLS_COMPILER_H_

#include <gex/platform.h>

/** @name C linkage
 * Declare functions of C in headers that C++ includes, too: one, or those between BEGIN and END.
 * @par Example
 * @code
 * GASNETT_BEGIN_EXTERNC
 * int in_c(void);
 * GASNETT_END_EXTERNC
 * @endcode
 */
/**@{*/
#if defined(__cplusplus)
#define GASNETT_EXTERNC extern "C"
#define GASNETT_BEGIN_EXTERNC extern "C" {
#define GASNETT_END_EXTERNC }
#else
#define GASNETT_EXTERNC extern
#define GASNETT_BEGIN_EXTERNC
#define GASNETT_END_EXTERNC
#endif
/**@}*/

/** @name Annotations of declarations
 * State facts about a function or variable, before its declaration; NORETURN stands after it.
 *
 * - GASNETT_INLINE(name): static, and inlined even without optimisation.
 * - GASNETT_NEVER_INLINE(name, definition): not inlined.
 * - GASNETT_RESTRICT: a pointer to what no other pointer here refers to.
 * - GASNETT_NORETURN: does not return.
 * - GASNETT_MALLOC: the result is fresh memory.
 * - GASNETT_PURE, GASNETT_CONST: the result depends on arguments and memory only, on arguments
 *   only.
 * - GASNETT_HOT, GASNETT_COLD: called often, called rarely.
 * - GASNETT_DEPRECATED: its use is warned of.
 * - GASNETT_WARN_UNUSED_RESULT: so is ignoring its result.
 * - GASNETT_USED, GASNETT_UNUSED: kept though nothing refers to it; no warning if nothing does.
 *
 * The forms with P are for compilers that want a pragma; here they are empty.
 *
 * @param name        The function.
 * @param definition  A whole declaration or definition, which may hold commas in parentheses only.
 * @par Specification
 * GASNet tools, "Compiler annotations".
 */
/**@{*/
#define GASNETT_INLINE(name) static inline __attribute__((__always_inline__, __unused__))
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

/**@}*/

/** @name Functions that format as printf
 * Declare a function, or a pointer to one, whose arguments the compiler checks as those of printf.
 *
 * It stands before `;` or a body. FUNCPTR is for a variable, a parameter or a member.
 *
 * @param name             The function.
 * @param format_argument  Number of the argument that is the format, from 1.
 * @param first_argument   Number of the first argument that it formats.
 * @param declarator       The declaration, which is repeated, because the attribute may follow a
 *                         declaration only.
 * @par Example
 * @code
 * GASNETT_FORMAT_PRINTF(complain, 1, 2, void complain(const char* format, ...));
 * @endcode
 * @par Specification
 * GASNet tools, "Compiler annotations".
 */
/**@{*/
#define GASNETT_FORMAT_PRINTF(name, format_argument, first_argument, declarator)       \
  declarator __attribute__((__format__(__printf__, format_argument, first_argument))); \
  declarator
#define GASNETT_FORMAT_PRINTF_FUNCPTR(name, format_argument, first_argument, declarator) \
  declarator __attribute__((__format__(__printf__, format_argument, first_argument)))

/**@}*/

/** The end of a case that goes on in the next. Not followed by a semicolon. */
#define GASNETT_FALLTHROUGH __attribute__((__fallthrough__));

/** 1: the pragmas GCC diagnostic push, pop and ignored are understood. */
#define GASNETT_USE_PRAGMA_GCC_DIAGNOSTIC 1

/** @name Predictions
 * Are non-zero exactly if an expression is; the compiler expects that it is, or that it is not.
 *
 * @param expression  The expression.
 * @par Specification
 * GASNet tools, "Compiler annotations".
 * @see if_pf
 */
/**@{*/
#define GASNETT_PREDICT_TRUE(expression) __builtin_expect(!!(expression), 1)
#define GASNETT_PREDICT_FALSE(expression) __builtin_expect(!!(expression), 0)

/**@}*/

/** Is 1 if an expression is a constant to the compiler where it stands.
 *
 * @param expression  The expression, which is not evaluated.
 */
#define gasnett_constant_p(expression) __builtin_constant_p(expression)

/** The name of the enclosing function, a const char *. */
#define GASNETT_CURRENT_FUNCTION __func__

/** @name What cannot be
 * State what never happens, which lets the compiler leave code out.
 *
 * unreachable: control never gets there. assume: a condition holds. With GASNET_DEBUG the job ends
 * with one line if it happens all the same; gasneti_builtin_unreachable never checks.
 *
 * @param condition  What holds; evaluated once.
 * @par Specification
 * GASNet tools, "Compiler annotations".
 */
/**@{*/
#define gasneti_builtin_unreachable() __builtin_unreachable()
#if defined(GASNET_DEBUG)
#define gasnett_unreachable() gasnett_fatalerror("code marked as unreachable was reached")
#define gasnett_assume(condition) \
  ((condition) ? (void)0 : gasnett_fatalerror("assumption does not hold: %s", #condition))
#else
#define gasnett_unreachable() __builtin_unreachable()
#define gasnett_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())
#endif
/**@}*/

/** In a loop that waits for another thread, spares power and the other hardware thread. Orders no
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

/** At global scope, keeps a text in the object file, for ident(1) and strings(1).
 *
 * @param name  The array that holds it.
 * @param text  A string literal.
 * @par Example
 * @code
 * GASNETT_IDENT(my_version, "$MyVersion: 1.2 $");
 * @endcode
 */
#define GASNETT_IDENT(name, text) \
  extern char const name[];       \
  __attribute__((__used__)) char const name[] = text

/** @name Unused arguments
 * Evaluate each argument once, in order, so that the compiler warns of none: an expression of type
 * void.
 *
 * @param a  The first argument.
 * @param b  The second.
 * @param c  The third.
 * @param d  The fourth.
 * @param e  The fifth.
 * @param f  The sixth.
 * @param g  The seventh.
 * @param h  The eighth.
 */
/**@{*/
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
/**@}*/

#endif
