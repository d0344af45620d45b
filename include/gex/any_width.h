/* Words that may really be another integer or a floating-point number of that width: what atomic
 * operations access objects of clients as. No part of the interface.
 */
#ifndef GEX_ANY_WIDTH_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_ANY_WIDTH_H_

#include <stdint.h>

typedef uint32_t __attribute__((__may_alias__)) gex_any32_;
typedef uint64_t __attribute__((__may_alias__)) gex_any64_;

#endif
