// GASNet-1: the way to the objects of the client.

#include <gasnet.h>

#include "base/error.h"
#include "core/objects.h"

extern "C" void gasnet_QueryGexObjects(gex_Client_t* client_p, gex_EP_t* endpoint_p, gex_TM_t* tm_p,
                                       gex_Segment_t* segment_p) {
  const gex_Client_t client = gex::only_client();
  if (client == nullptr || (client->flags & GEX_FLAG_USES_GASNET1) == 0)
    gex::fatal("gasnet_QueryGexObjects: no client was made with GEX_FLAG_USES_GASNET1");
  if (client_p != nullptr) *client_p = client;
  if (endpoint_p != nullptr) *endpoint_p = client->endpoint;
  if (tm_p != nullptr) *tm_p = client->team;
  if (segment_p != nullptr) *segment_p = client->endpoint->segment;
}
