/* The agreement between a compiled client and the library: version, linkage, and the record that
 * each client translation unit leaves for start-up to check.
 *
 * The record is an ELF note, because notes are found in memory (dl_iterate_phdr, PT_NOTE) in every
 * kind of link: static, PIE or not, shared clients, dlopen. It holds the ABI number, the threading
 * mode and the conduit label.
 */
#ifndef GEX_ABI_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_ABI_H_

#include <gex/platform.h>
#include <stdint.h>

/** Interface between inline code in clients and the library; also the library's SONAME number. */
#define GEX_ABI_VERSION_ 2

#define GEX_LIKELY_(condition) __builtin_expect(!!(condition), 1)
#define GEX_UNLIKELY_(condition) __builtin_expect(!!(condition), 0)

/* Inline functions of the interface. The library compiles the same text once more with the other
 * definition, which gives every one of them an exported twin for callers that cannot inline C;
 * these are declared in gex/functions.h, which defines GEX_FUNCTIONS and so leaves the bodies out.
 * So they are in all headers for what reads these as Clang without optimisation: it inlines
 * nothing, and as which generators of bindings read, of which many pass over inline functions.
 * GEX_CALL_TWINS_, for tests that are compiled without inlining: each call goes to the twin.
 */
#ifdef GEX_TWINS_
#define GEX_INLINE_ GEX_EXPORT_
#elif defined(GEX_CALL_TWINS_)
#define GEX_INLINE_ extern inline __attribute__((gnu_inline))
#else
#define GEX_INLINE_ static inline __attribute__((unused))
#endif
/* Inline functions that are no part of the interface, and have no twins. */
#define GEX_HELPER_ static inline __attribute__((unused))
#if defined(GEX_FUNCTIONS) || defined(__BINDGEN__) || \
    (defined(__clang__) && !defined(__OPTIMIZE__) && !defined(GEX_LIBRARY_))
#define GEX_DECLARATIONS_ 1
#endif
#if !defined(GEX_DECLARATIONS_) || defined(GEX_TWINS_)
#define GEX_BODIES_ 1
#endif

/** Threading modes as the record and gex_proc_ hold them. */
#define GEX_MODE_SEQ_ 1u
#define GEX_MODE_PARSYNC_ 2u
#define GEX_MODE_PAR_ 3u

#define GEX_NOTE_NAME_ "GEX"
#define GEX_NOTE_TYPE_CLIENT_ 1u

/** Contents of one note: the ELF note header, then what start-up reads. */
struct gex_ClientNote_ {
  uint32_t name_size, desc_size, type;
  char name[4];
  uint32_t abi;
  uint32_t mode;
  char conduit[16]; /* empty: no GASNET_CONDUIT_<NAME> was defined */
};

#endif
