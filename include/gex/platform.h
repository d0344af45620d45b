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
 * copy of every string, whatever else it drops. */
#ifndef GEX_PLATFORM_H_
#define GEX_PLATFORM_H_

#include <gasnet_config.h>
#include <gasnet_portable_platform.h>

/* As gex/abi.h has it, to the letter. */
#define GEX_EXPORT_ __attribute__((visibility("default")))

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

#if PLATFORM_ARCH_X86_64 || PLATFORM_ARCH_X86 || PLATFORM_ARCH_RISCV || PLATFORM_ARCH_S390 || \
    PLATFORM_ARCH_ARM
#define GEX_PAGESIZE_ 4096
#define GEX_PAGESHIFT_ 12
#else
#define GEX_PAGESIZE_ 65536
#define GEX_PAGESHIFT_ 16
#endif

#endif
