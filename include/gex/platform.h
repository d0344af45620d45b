/** @file
 * What every public header stands on: the platform's names, branch hints and a few spellings that
 * existing clients take from any GASNet header. Preprocessor only. Part of gasnetex.h and
 * gasnet_tools.h.
 *
 * Internal names: GEX_PAGESIZE_, bytes of a page, a preprocessor integer; GEX_EXPORT_, what the
 * library exports; GEX_IDENT_(name, value), at file scope, puts "$GASNet<name>: <value> $" into the
 * executable, for scripts that look for it. That stands in .comment, of which the linker keeps one
 * copy of every string, whatever else it drops.
 *
 * Compilers warn of nothing in a client's use of these headers, whatever a client asks them to warn
 * of: each is a system header, as those of the C library are. GEX_SHOW_WARNINGS_, which libgex's
 * own build defines, shows the warnings.
 */
#ifndef GEX_PLATFORM_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_PLATFORM_H_

#include <gasnet_config.h>
#include <gasnet_portable_platform.h>

/* SWIG reads declarations alone, whatever it includes (gex/functions.h). */
#if defined(SWIG) && !defined(GEX_FUNCTIONS)
#define GEX_FUNCTIONS 1
#endif

/* Generators of bindings understand no attributes. */
#if defined(GEX_FUNCTIONS) && !defined(GEX_TWINS_)
#define GEX_EXPORT_
#define GEX_ATTRIBUTE_(list)
#else
#define GEX_EXPORT_ __attribute__((visibility("default")))
#define GEX_ATTRIBUTE_(list) __attribute__(list)
#endif

#define GEX_IDENT_(name, value) __asm__(".ident \"$GASNet" name ": " value " $\"");

/** @name Predicted branches
 * `if`, where the condition is expected to be false (if_pf) or true (if_pt).
 *
 * @param cond  The condition.
 * @par Example
 * @code
 * if_pf(error) report(error);
 * @endcode
 * @see GASNETT_PREDICT_TRUE
 */
/**@{*/
#ifndef if_pf
#define if_pf(cond) if (__builtin_expect(!!(cond), 0))
#endif
#ifndef if_pt
#define if_pt(cond) if (__builtin_expect(!!(cond), 1))
#endif
/**@}*/

/** @name Text and tokens
 * Expand their arguments, then make a string literal of one, or one token of two.
 *
 * @param x  What becomes a string.
 * @param a  The first part of the token.
 * @param b  The second part.
 */
/**@{*/
#ifndef _STRINGIFY
#define _STRINGIFY(x) GEX_PLATFORM_STRING_(x)
#endif
#define GEX_PASTE_(a, b) a##b
#ifndef _CONCAT
#define _CONCAT(a, b) GEX_PASTE_(a, b)
#endif
/**@}*/

#ifndef PRIuSZ
/** The printf conversion of a size_t: `printf("%" PRIuSZ "\n", nbytes)`. */
#define PRIuSZ "zu"
#endif

#if defined(PLATFORM_ARCH_X86_64) || defined(PLATFORM_ARCH_X86) || defined(PLATFORM_ARCH_RISCV) || \
    defined(PLATFORM_ARCH_S390) || defined(PLATFORM_ARCH_ARM)
#define GEX_PAGESIZE_ 4096
#define GEX_PAGESHIFT_ 12
#else
#define GEX_PAGESIZE_ 65536
#define GEX_PAGESHIFT_ 16
#endif

#endif
