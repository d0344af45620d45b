#pragma once
// Non-contiguous put and get: vector, indexed and strided.
//
// The path of a strided put; that of a list has `lists` in the names, that of a get `get`:
//
//   gex_VIS_StridedPutNB  api/vis.cc        checks the arguments, and makes a VisRequest
//   move_strided          vis.cc            `make_shape` (shape.h) finds the fewest loops;
//                                           `take_notice`: the handler that is armed for the peer
//   move_regions          vis.cc            where the peer's memory is mapped: `copy_strided`
//                                           (packers.h), then `send_notice` (peer_completion.h)
//   move_resolved         vis.cc            for all else, and if the call is observed or devices
//                                           have memory: `resolve_ranges` (rma/rma.h) by
//                                           `choose_way` (rma/way.h), and `narrow_way` decide the
//                                           way, which may be a copy, too
//   initiate              core/initiate.h   makes the event, and counts the parts
//   inject_transfer       vis.cc            gives it to what carries the bytes:
//
//   begin_copy_strided    by_kind.h         a device, whose copies reach both sides
//   move_by_network       native.h          the network: `take_pieces` (pieces.h) cuts both
//                                           regions; `inject_all` (rma/injection.h) waits for room
//   put_by_messages       messages.h        messages: description.h and region_copy.h pack a part
//                                           (by_kind.h, if it is a device's), message_series.h
//                                           sends it
//   on_put                messages.cc       at the peer: `handle_put` checks and unpacks, in the
//                                           handler or when a device's copies are done
//                                           (`finish_when_copied`, rma/staging.h); then
//                                           `rma::reply_done` answers. `on_put_with_notice` calls
//                                           `note_arrival` before that
//   complete              core/thread.h     adds to `done`, a count of the event (core/event.h),
//                                           which gex_Event_Wait reads: called by `on_done`
//                                           (rma/messages.cc) for each message, by `Host::complete`
//                                           for each operation of the network or for the flush
//                                           behind all of them, by a kind for each of its copies
//
// noncontiguous_transfer.h is what the ways are given; region.h and walk.h have the cursor.
//
// `local` is the caller's region and `remote` that of the peer, for puts and gets alike, as in rma
// and in conduits. The payload of a put by messages has been copied when its call returns, unless
// it comes from a device.

#include <gasnetex.h>

#include <cstddef>

#include "core/initiate.h"
#include "observe/restricted.h"
#include "vis/region.h"

namespace gex::vis {

enum class Direction { put, get };

/// A call: what it does with the data and how it completes.
struct VisCall {
  Call call;
  Direction direction;
  Form form;

  bool is_put() const noexcept { return direction == Direction::put; }
};

/// A call requests this, besides the data.
struct VisRequest : VisCall {
  gex_TM_t tm;
  gex_Rank_t rank;
  gex_Flags_t flags;
};

/// One end of a strided transfer as the client gives it.
struct StridedArgument {
  void* address;
  const std::ptrdiff_t* strides;
};

Initiated move_strided(const VisRequest& request, const StridedArgument& remote,
                       const StridedArgument& local, std::size_t element, const std::size_t* count,
                       std::size_t levels) noexcept;
Initiated move_lists(const VisRequest& request, const BlockList& remote,
                     const BlockList& local) noexcept;

/// Start-up only.
void start();

}  // namespace gex::vis
