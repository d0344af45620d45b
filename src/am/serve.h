#pragma once
// The part of the progress thread (core/progress_thread.h) in active messages: it delivers the
// library's own that have arrived over rings and networks, where no thread of the client takes
// them.
//
// A message whose handler is the client's, or calls one of the client's, it takes from its way and
// leaves to the next poll of the client's (set_aside.h), so that the library's own behind it are
// reached. Of these there is a bound: beyond it, everything behind such a message waits for that
// poll. What has been left so keeps its credit and its slab, so a sender has no more under way than
// without the thread.
//
// The count of taken messages shows whether a thread of the client takes them from a ring: where it
// has moved without the progress thread, or a message has been there for some microseconds only,
// that leaves the ring alone. Over a network polls are counted instead.
//
// Messages of this process to itself are not served: no other rank waits for them.

#include "core/progress.h"

namespace gex::am {

extern const Server server;

}  // namespace gex::am
