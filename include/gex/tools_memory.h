/** @file
 * Checksums, counting zeros, and a heap that watches itself. Part of gasnet_tools.h.
 */
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

/** Returns the CRC-64/XZ of some bytes: the same on every machine and in every release. Not secure.
 *
 * @param bytes  The bytes.
 * @param size   How many.
 * @return The checksum.
 * @par Context
 * Any thread, and in handlers.
 * @par Example
 * @code
 * uint64_t sum = gasnett_checksum(block, (int)sizeof block);
 * @endcode
 */
GEX_EXPORT_ uint64_t gasnett_checksum(const void* bytes, int size);

/** @name Count zeros
 * Count the bytes that are 0, of a word or of a range of memory.
 *
 * @param word         The word.
 * @param bytes        The range.
 * @param size         Its bytes.
 * @param destination  Receives a copy of the range, which it does not overlap.
 * @param source       The range to copy and count.
 * @return The number of bytes that are 0.
 * @par Context
 * Any thread, and in handlers.
 * @par Example
 * @code
 * size_t zeros = gasnett_count0s(block, sizeof block);
 * @endcode
 * @par Specification
 * GASNet tools, "Miscellaneous tools".
 */
/**@{*/
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

GEX_EXPORT_ size_t gasnett_count0s(const void* bytes, size_t size);
GEX_EXPORT_ size_t gasnett_count0s_copy(void* GASNETT_RESTRICT destination,
                                        const void* GASNETT_RESTRICT source, size_t size);
/**@}*/

/** What went through gasnett_debug_malloc and its kind in this process.
 * @see gasnett_getheapstats
 */
typedef struct gasnett_heapstats_t {
  uint64_t allocated_bytes;   /**< Ever. */
  uint64_t freed_bytes;       /**< Ever. */
  uint64_t live_bytes;        /**< Now. */
  uint64_t live_bytes_max;    /**< At most, so far. */
  uint64_t allocated_objects; /**< Objects, as above. */
  uint64_t freed_objects;     /**< Objects, as above. */
  uint64_t live_objects;      /**< Objects, as above. */
  uint64_t live_objects_max;  /**< Objects, as above. */
  uint64_t overhead_bytes;    /**< What the heap itself takes for the live objects. */
} gasnett_heapstats_t;
/** Returns what went through the heap that watches itself.
 *
 * @param stats  Receives the numbers.
 * @return 0.
 * @par Example
 * @code
 * gasnett_heapstats_t stats;
 * gasnett_getheapstats(&stats);
 * if (stats.live_objects != 0) report((int)stats.live_objects);
 * @endcode
 * @see gasnett_debug_malloc
 */
GEX_EXPORT_ int gasnett_getheapstats(gasnett_heapstats_t* stats);

/** @name A heap that watches itself
 * malloc and its kind, with a guard on both sides of every object.
 *
 * Memory comes uninitialised (but for calloc), aligned for any type, and never NULL: running out
 * ends the job. An object that was written past either end, freed twice or not allocated here ends
 * the job when it is looked at, with one line naming where it was allocated. Objects of this heap
 * and of the C library's must not be mixed.
 *
 * @par Synopsis
 * @code
 * void *gasnett_debug_malloc(size_t size);
 * void *gasnett_debug_calloc(size_t count, size_t size);
 * void *gasnett_debug_realloc(void *object, size_t size);
 * char *gasnett_debug_strdup(const char *text);
 * char *gasnett_debug_strndup(const char *text, size_t size);
 * void gasnett_debug_free(void *object);
 * size_t gasnett_debug_memcheck(const void *object);
 * void gasnett_debug_memcheck_one(void);
 * void gasnett_debug_memcheck_all(void);
 * @endcode
 * @param size    Bytes; of strndup, at most so many of the text.
 * @param count   Objects of so many bytes.
 * @param object  An object of this heap; for realloc and free it may be NULL.
 * @param text    The text to copy.
 * @return The object. memcheck: the size of one object, which it looks at; _one looks at some live
 *         object, _all at all of them.
 * @par Context
 * Any thread, and in handlers; not in signal handlers.
 * @par Example
 * @code
 * char* copy = gasnett_debug_strdup("text");
 * gasnett_debug_memcheck_all();
 * gasnett_debug_free(copy);
 * @endcode
 * @see gasnett_getheapstats
 */
/**@{*/
#define gasnett_debug_malloc(size) gex_debug_malloc_(size, GEX_DEBUG_PLACE_)
#define gasnett_debug_calloc(count, size) gex_debug_calloc_(count, size, GEX_DEBUG_PLACE_)
#define gasnett_debug_realloc(object, size) gex_debug_realloc_(object, size, GEX_DEBUG_PLACE_)
#define gasnett_debug_strdup(text) gex_debug_strdup_(text, GEX_DEBUG_PLACE_)
#define gasnett_debug_strndup(text, size) gex_debug_strndup_(text, size, GEX_DEBUG_PLACE_)
#define gasnett_debug_free(object) gex_debug_free_(object, GEX_DEBUG_PLACE_)
#define gasnett_debug_memcheck(object) gex_debug_memcheck_(object, GEX_DEBUG_PLACE_)
#define gasnett_debug_memcheck_one() gex_debug_memcheck_one_(GEX_DEBUG_PLACE_)
#define gasnett_debug_memcheck_all() gex_debug_memcheck_all_(GEX_DEBUG_PLACE_)
/**@}*/

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
