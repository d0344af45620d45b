/* Values of the GASNet-EX interface as text, for messages. Part of gasnet_tools.h.
 *
 * gasnett_format_{dt,op,ti} write the constants' names, joined by |, into buf and return the bytes
 * of that text, the final zero included. buf has room for them all, or is NULL: then nothing is
 * written. The others write into a buffer of at least the bytes that the ..._bufsz beside them
 * gives, and return it.
 *
 * From any thread and in AM handlers. */
#ifndef GEX_TOOLS_FORMAT_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_TOOLS_FORMAT_H_

#include <gex/platform.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/** Of a gex_DT_t: "GEX_DT_I32|GEX_DT_U32"; bits without a name in hexadecimal; "0" for none. */
GEX_EXPORT_ size_t gasnett_format_dt(char* buf, uint32_t datatypes);
/** Of a gex_OP_t. */
GEX_EXPORT_ size_t gasnett_format_op(char* buf, uint32_t operations);
/** Of a gex_TI_t. */
GEX_EXPORT_ size_t gasnett_format_ti(char* buf, uint32_t token_items);

/** Of `count` gex_Memvec_t: "2 regions, 24 bytes: [0x1000,16] [0x2000,8]". */
#define gasnett_format_memveclist_bufsz(count) ((size_t)64 + (size_t)(count)*48)
GEX_EXPORT_ char* gasnett_format_memveclist(char* buf, size_t count, const void* memvecs);

/** Of `count` addresses of regions of `length` bytes: "2 regions of 8 bytes: 0x1000 0x2000". */
#define gasnett_format_addrlist_bufsz(count) ((size_t)64 + (size_t)(count)*24)
GEX_EXPORT_ char* gasnett_format_addrlist(char* buf, size_t count, void* const* addresses,
                                          size_t length);

/** Of a strided transfer with rank `rank` of the gex_TM_t `team`: arrays as gex_VIS_StridedPut has
 * them. `stats` is ignored. */
#define gasnett_format_putsgets_bufsz(stride_levels) ((size_t)256 + (size_t)(stride_levels)*72)
GEX_EXPORT_ char* gasnett_format_putsgets(char* buf, void* stats, const void* team, uint32_t rank,
                                          const void* destination,
                                          const ptrdiff_t* destination_strides, const void* source,
                                          const ptrdiff_t* source_strides, size_t element_size,
                                          const size_t* counts, size_t stride_levels);

#if defined(__cplusplus)
}
#endif
#endif
