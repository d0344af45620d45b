/* Checksums, counting zeros, and a heap that watches itself. Part of gasnet_tools.h.
 *
 * May be called from any thread; the heap not in signal handlers. */
#ifndef GEX_TOOLS_MEMORY_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_TOOLS_MEMORY_H_

#include <gex/platform.h>
#include <gex/tools_compiler.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/** CRC-64/XZ of `size` bytes: the same on every machine and in every release. Not secure. */
GEX_EXPORT_ uint64_t gasnett_checksum(const void* bytes, int size);

/* Bytes that are 0 in a word: adding 0x7f to the low seven bits of each byte sets its top bit
 * unless they are 0, and no carry leaves the byte. */
static inline int gasnett_count0s_uint64_t(uint64_t word) {
  const uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f);
  return __builtin_popcountll(~(((word & low7) + low7) | word | low7));
}
static inline int gasnett_count0s_uint32_t(uint32_t word) {
  const uint32_t low7 = UINT32_C(0x7f7f7f7f);
  return __builtin_popcount(~(((word & low7) + low7) | word | low7));
}
static inline int gasnett_count0s_uintptr_t(uintptr_t word) {
  return sizeof word == 8 ? gasnett_count0s_uint64_t((uint64_t)word)
                          : gasnett_count0s_uint32_t((uint32_t)word);
}

/** The number of bytes that are 0. */
GEX_EXPORT_ size_t gasnett_count0s(const void* bytes, size_t size);
/** The same, while copying them to `destination`, which does not overlap. */
GEX_EXPORT_ size_t gasnett_count0s_copy(void* GASNETT_RESTRICT destination,
                                        const void* GASNETT_RESTRICT source, size_t size);

/** What went through gasnett_debug_malloc and its kind in this process. */
typedef struct gasnett_heapstats_t {
  uint64_t allocated_bytes;   /* ever */
  uint64_t freed_bytes;       /* ever */
  uint64_t live_bytes;        /* now */
  uint64_t live_bytes_max;    /* at most, so far */
  uint64_t allocated_objects; /* of objects, as above */
  uint64_t freed_objects;
  uint64_t live_objects;
  uint64_t live_objects_max;
  uint64_t overhead_bytes; /* what the heap itself takes for the live objects */
} gasnett_heapstats_t;
/** Fills *stats and returns 0. */
GEX_EXPORT_ int gasnett_getheapstats(gasnett_heapstats_t* stats);

/* malloc and its kind, with a guard on both sides of every object. Memory comes uninitialised (but
 * for calloc), aligned for any type, and never NULL: running out ends the job. An object that was
 * written past either end, freed twice or not allocated here ends the job when it is looked at,
 * with one line naming where it was allocated. Objects of this heap and of the C library's must not
 * be mixed. */
#define gasnett_debug_malloc(size) gex_debug_malloc_(size, GEX_DEBUG_PLACE_)
#define gasnett_debug_calloc(count, size) gex_debug_calloc_(count, size, GEX_DEBUG_PLACE_)
#define gasnett_debug_realloc(object, size) gex_debug_realloc_(object, size, GEX_DEBUG_PLACE_)
#define gasnett_debug_strdup(text) gex_debug_strdup_(text, GEX_DEBUG_PLACE_)
#define gasnett_debug_strndup(text, size) gex_debug_strndup_(text, size, GEX_DEBUG_PLACE_)
/** NULL is allowed. */
#define gasnett_debug_free(object) gex_debug_free_(object, GEX_DEBUG_PLACE_)
/** Looks at one object and returns its size; at some live object; at all of them. */
#define gasnett_debug_memcheck(object) gex_debug_memcheck_(object, GEX_DEBUG_PLACE_)
#define gasnett_debug_memcheck_one() gex_debug_memcheck_one_(GEX_DEBUG_PLACE_)
#define gasnett_debug_memcheck_all() gex_debug_memcheck_all_(GEX_DEBUG_PLACE_)

#define GEX_DEBUG_PLACE_ __FILE__ ":" GEX_PLATFORM_STRING_(__LINE__)
GEX_EXPORT_ void* gex_debug_malloc_(size_t size, const char* place);
GEX_EXPORT_ void* gex_debug_calloc_(size_t count, size_t size, const char* place);
GEX_EXPORT_ void* gex_debug_realloc_(void* object, size_t size, const char* place);
GEX_EXPORT_ char* gex_debug_strdup_(const char* text, const char* place);
GEX_EXPORT_ char* gex_debug_strndup_(const char* text, size_t size, const char* place);
GEX_EXPORT_ void gex_debug_free_(void* object, const char* place);
GEX_EXPORT_ size_t gex_debug_memcheck_(const void* object, const char* place);
GEX_EXPORT_ void gex_debug_memcheck_one_(const char* place);
GEX_EXPORT_ void gex_debug_memcheck_all_(const char* place);

#if defined(__cplusplus)
}
#endif
#endif
