/* What every public header stands on: the platform's names, branch hints and a few spellings that
 * existing clients take from any GASNet header. Preprocessor only.
 *
 *   if_pf(condition), if_pt(condition)   `if`, predicted false or true
 *   _STRINGIFY(x)                        the expansion of x as a string literal
 *   _CONCAT(a,b)                         the expansions of a and b pasted
 *   PRIuSZ                               the printf conversion of a size_t
 *   HAVE_PTHREAD_H                       1: POSIX threads are here
 *   GEX_PAGESIZE_                        bytes of a page, a preprocessor integer. Where the kernel
 *                                        chooses among sizes, the largest: what is aligned to it is
 *                                        aligned to any.
 *   GEX_EXPORT_                          what the library exports
 *   GEX_IDENT_(name, value)              at file scope: "$GASNet<name>: <value> $" in the
 * executable, for scripts that look for it. It stands in .comment, of which the linker keeps one
 * copy of every string, whatever else it drops.
 *
 * Compilers warn of nothing in a client's use of these headers, whatever a client asks them to warn
 * of: each is a system header, as those of the C library are. GEX_SHOW_WARNINGS_, which libgex's
 * own build defines, shows the warnings. */
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

#ifndef if_pf
#define if_pf(cond) if (__builtin_expect(!!(cond), 0))
#endif
#ifndef if_pt
#define if_pt(cond) if (__builtin_expect(!!(cond), 1))
#endif

#ifndef _STRINGIFY
#define _STRINGIFY(x) GEX_PLATFORM_STRING_(x)
#endif
#define GEX_PASTE_(a, b) a##b
#ifndef _CONCAT
#define _CONCAT(a, b) GEX_PASTE_(a, b)
#endif

#ifndef PRIuSZ
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
