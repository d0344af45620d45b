/* gex/functions.h: the interface as functions and nothing else, for callers that cannot inline C:
 * bindings of Rust, Python, Fortran, Go, Julia and the like, debuggers, dlsym.
 *
 * Most short calls of the interface are static inline in gasnetex.h. The library exports each of
 * them as a function too, with the same name, arguments and result, and this header declares those.
 * It brings the types, constants and other functions of gasnetex.h, gasnet.h, gasnet_vis.h,
 * gasnet_coll.h, gasnet_ratomic.h and gasnet_mk.h as well, each documented there, and of the
 * standard headers stddef.h and stdint.h alone. There is no body, no attribute and no statement
 * expression in it; macros make the families by number of arguments.
 *
 * A source that has included gasnetex.h before has the inline functions, and this header declares
 * nothing more to it.
 *
 * No threading mode needs to be defined. A source that includes this header leaves no record of one
 * (gex/mode.h): a program of such sources alone runs in GASNET_PAR, and on the network that
 * GEX_CONDUIT or gexrun name.
 *
 * What is a macro only, and what stands for it:
 *   gex_AM_RequestShort(...) and its kind  the forms with a number: gex_AM_RequestShort2
 *   GEX_EVENT_INVALID, GEX_..._INVALID     a null pointer
 *   GEX_EVENT_NO_OP                        the address 1, of type gex_Event_t
 *   GEX_EVENT_NOW, DEFER, GROUP            the addresses 1, 2, 3, of type gex_Event_t *
 *   GEX_MK_HOST                            the address 1, of type gex_MK_t
 *   GEX_HSL_INITIALIZER                    gex_HSL_Init
 *   GASNET_BLOCKUNTIL(condition)           a loop of gasnet_AMPoll
 *   GASNET_TEAM_ALL                        gasnete_coll_team_all
 * gasnet_tools.h is not part of this. Its functions are exported under their names; its atomics and
 * locks are for C.
 */
#ifndef GEX_FUNCTIONS_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_FUNCTIONS_H_

#if !defined(_INCLUDED_GASNETEX_H) && !defined(GEX_FUNCTIONS)
#define GEX_FUNCTIONS 1
#endif

#include <gasnet.h>
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gex/annotations.h>
#include <gex/mk_streams.h>

#include <gex/functions_gasnet1.h>
#include <gex/functions_gasnetex.h>

#endif
