/** @file
 * Values of the GASNet-EX interface as text, for messages. Part of gasnet_tools.h.
 */
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

/** @name Constants as text
 * Write the names of constants, joined by |: "GEX_DT_I32|GEX_DT_U32". Bits without a name are in
 * hexadecimal; 0 is "0".
 *
 * @param buf          Receives the text, and has room for it all; or NULL: nothing is written.
 * @param datatypes    A gex_DT_t.
 * @param operations   A gex_OP_t.
 * @param token_items  A gex_TI_t.
 * @return The bytes of the text, the final zero included.
 * @par Context
 * Any thread, and in handlers.
 * @par Example
 * @code
 * char text[64];
 * gasnett_format_dt(text, GEX_DT_I32 | GEX_DT_U32);
 * puts(text);
 * @endcode
 */
/**@{*/
GEX_EXPORT_ size_t gasnett_format_dt(char* buf, uint32_t datatypes);
GEX_EXPORT_ size_t gasnett_format_op(char* buf, uint32_t operations);
GEX_EXPORT_ size_t gasnett_format_ti(char* buf, uint32_t token_items);

/**@}*/

/** @name Non-contiguous transfers as text
 * Write the ranges or the strides of a transfer: "2 regions, 24 bytes: [0x1000,16] [0x2000,8]".
 *
 * @param buf                  Receives the text; it has at least the bytes that the _bufsz macro
 *                             gives.
 * @param count                Entries of the list.
 * @param memvecs              The list: gex_Memvec_t of all ranges.
 * @param addresses            The list: addresses of ranges of `length` bytes.
 * @param length               Bytes of each.
 * @param stats                Ignored.
 * @param team                 A gex_TM_t.
 * @param rank                 The peer.
 * @param destination          As for gex_VIS_StridedPutNB, like all below.
 * @param destination_strides  Strides in bytes.
 * @param source               The source's address.
 * @param source_strides       Strides in bytes.
 * @param element_size         Bytes of an element.
 * @param counts               Elements in each dimension.
 * @param stride_levels        Number of dimensions.
 * @return `buf`; of the _bufsz macros a number of bytes.
 * @par Context
 * Any thread, and in handlers.
 * @par Example
 * @code
 * char text[gasnett_format_memveclist_bufsz(1)];
 * gex_Memvec_t range = {here, 8};
 * puts(gasnett_format_memveclist(text, 1, &range));
 * @endcode
 * @see gex_VIS_VectorPutNB, gex_VIS_StridedPutNB
 */
/**@{*/
#define gasnett_format_memveclist_bufsz(count) ((size_t)64 + (size_t)(count)*48)
GEX_EXPORT_ char* gasnett_format_memveclist(char* buf, size_t count, const void* memvecs);

#define gasnett_format_addrlist_bufsz(count) ((size_t)64 + (size_t)(count)*24)
GEX_EXPORT_ char* gasnett_format_addrlist(char* buf, size_t count, void* const* addresses,
                                          size_t length);

#define gasnett_format_putsgets_bufsz(stride_levels) ((size_t)256 + (size_t)(stride_levels)*72)
GEX_EXPORT_ char* gasnett_format_putsgets(char* buf, void* stats, const void* team, uint32_t rank,
                                          const void* destination,
                                          const ptrdiff_t* destination_strides, const void* source,
                                          const ptrdiff_t* source_strides, size_t element_size,
                                          const size_t* counts, size_t stride_levels);
/**@}*/

#if defined(__cplusplus)
}
#endif
#endif
