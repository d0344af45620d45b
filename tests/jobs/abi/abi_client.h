/* A client in two translation units, in plain C: start, put and get, atomics, a request and its
 * reply. Each unit is compiled as C11 and as C++11. */
#ifndef ABI_CLIENT_H_
#define ABI_CLIENT_H_

#include <gasnetex.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Runs the whole client; returns the exit status. */
__attribute__((visibility("default"))) int abi_client_run(int* argc, char*** argv);

/* The second unit's part: messages, and the constants as it sees them. */
int abi_exchange_messages(gex_EP_t endpoint, gex_TM_t team, gex_Rank_t peer);
const struct gex_Proc_* abi_constants_of_second_unit(void);

#ifdef __cplusplus
}
#endif
#endif
