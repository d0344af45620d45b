// GASNet-1: the way to the objects of the client that uses it.

#include <gasnet.h>

#include "base/error.h"
#include "core/objects.h"
#include "core/team.h"

extern "C" void gasnet_QueryGexObjects(gex_Client_t* client_p, gex_EP_t* endpoint_p, gex_TM_t* tm_p,
                                       gex_Segment_t* segment_p) {
  const gex_TM_t tm = gex_proc_.gasnet1_team;
  if (tm == GEX_TM_INVALID)
    gex::fatal(
        "gasnet_QueryGexObjects: neither gasnet_init nor gex_Client_Init with "
        "GEX_FLAG_USES_GASNET1 was called");
  const gex_EP_t endpoint = gex::Team::from(tm).endpoint;
  if (client_p != nullptr) *client_p = endpoint->client;
  if (endpoint_p != nullptr) *endpoint_p = endpoint;
  if (tm_p != nullptr) *tm_p = tm;
  if (segment_p != nullptr) *segment_p = endpoint->segment;
}
