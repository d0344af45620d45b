/* The record that a translation unit leaves when it was compiled with another release's headers. */
#include <gasnet_fwd.h>
#include <gex/abi.h>

static const struct gex_ClientNote_ other_abi __attribute__((
    section(".note.gex.client"), used, aligned(4))) = {4,
                                                       sizeof(struct gex_ClientNote_) - 16,
                                                       GEX_NOTE_TYPE_CLIENT_,
                                                       GEX_NOTE_NAME_,
                                                       GEX_ABI_VERSION_ + 1,
                                                       GEX_MODE_PAR_,
                                                       "smp"};
