// Entry points: non-contiguous put and get.

#include "vis/vis.h"

#include <gasnet_vis.h>

#include "api/require.h"
#include "base/error.h"
#include "core/team.h"
#include "observe/in_call.h"
#include "vis/peer_completion.h"

namespace {

using gex::Call;
using gex::checked;
using gex::fatal;
using gex::Form;
using gex::Initiated;
using gex::vis::BlockList;
using gex::vis::Direction;
using gex::vis::StridedArgument;
using gex::vis::VisCall;
using gex::vis::VisRequest;

/// `empty`: the call moves nothing whatever its other arguments, so these are not looked at.
[[gnu::always_inline]] inline VisRequest request_of(const VisCall& which, gex_TM_t tm,
                                                    gex_Rank_t rank, gex_Flags_t flags,
                                                    bool empty) {
  if (checked() && !empty) {
    const char* call = name_of(which.call);
    gex::require_peer(tm, rank, call);
    gex::require_capability(gex::resolve(tm, rank).local_endpoint, GEX_EP_CAPABILITY_VIS, call);
    const bool has_local_completion = which.is_put() && which.form != Form::blocking;
    gex::require_flags(
        flags, GEX_FLAG_IMMEDIATE | (has_local_completion ? GEX_FLAG_ENABLE_LEAF_LC : 0), call);
  }
  return {which, tm, rank, flags};
}

/// An array without which the entries that are counted cannot be read.
void require_array(const void* array, std::size_t entries, const char* name, Call call) {
  if (checked() && entries != 0 && array == nullptr)
    fatal("%s: %s is null, but has %zu entries", name_of(call), name, entries);
}

template <class Entry>
struct List {
  std::size_t count;
  const Entry* entries;
  std::size_t length = 0;  ///< of each block; indexed only
};

BlockList blocks(const List<gex_Memvec_t>& list) {
  return {list.entries, list.count};
}
BlockList blocks(const List<void*>& list) {
  // Blocks of no bytes count as no blocks: their addresses need not be there.
  return {list.entries, list.length != 0 ? list.count : 0, list.length};
}

template <class Entry>
Initiated lists(VisCall which, gex_TM_t tm, gex_Rank_t rank, const List<Entry>& destination,
                const List<Entry>& source, gex_Flags_t flags) {
  gex::InCall call(which.call);
  const VisRequest request = request_of(which, tm, rank, flags, false);
  const BlockList to = blocks(destination);
  const BlockList from = blocks(source);
  require_array(destination.entries, to.count(), "dstlist", call);
  require_array(source.entries, from.count(), "srclist", call);
  const bool is_put = which.is_put();
  const Initiated outcome = gex::vis::move_lists(request, is_put ? to : from, is_put ? from : to);
  call.returns(outcome.event_or_no_op());
  return outcome;
}

Initiated strided(VisCall which, gex_TM_t tm, gex_Rank_t rank, const StridedArgument& destination,
                  const StridedArgument& source, std::size_t elemsz, const std::size_t* count,
                  std::size_t levels, gex_Flags_t flags) {
  gex::InCall call(which.call);
  bool empty = elemsz == 0;  // read in checked mode only
  if (checked()) {
    if (!empty) require_array(count, levels, "count", call);
    for (std::size_t i = 0; !empty && i < levels; ++i) empty = count[i] == 0;
    if (!empty) {
      require_array(destination.strides, levels, "dststrides", call);
      require_array(source.strides, levels, "srcstrides", call);
    }
  }
  const VisRequest request = request_of(which, tm, rank, flags, empty);
  const bool is_put = which.is_put();
  const Initiated outcome = gex::vis::move_strided(
      request, is_put ? destination : source, is_put ? source : destination, elemsz, count, levels);
  call.returns(outcome.event_or_no_op());
  return outcome;
}

int refused(const Initiated& outcome) {
  return outcome.refused ? 1 : 0;
}
gex_Event_t event_or_no_op_of(const Initiated& outcome) {
  return outcome.event_or_no_op();
}

}  // namespace

extern "C" {

gex_Event_t gex_VIS_VectorGetNB(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                                gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[],
                                gex_Flags_t flags) {
  return event_or_no_op_of(lists({Call::vector_get_nb, Direction::get, Form::with_event}, tm,
                                 srcrank, List<gex_Memvec_t>{dstcount, dstlist},
                                 List<gex_Memvec_t>{srccount, srclist}, flags));
}

int gex_VIS_VectorGetNBI(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                         gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[],
                         gex_Flags_t flags) {
  return refused(lists({Call::vector_get_nbi, Direction::get, Form::implicit}, tm, srcrank,
                       List<gex_Memvec_t>{dstcount, dstlist}, List<gex_Memvec_t>{srccount, srclist},
                       flags));
}

int gex_VIS_VectorGetBlocking(gex_TM_t tm, size_t dstcount, gex_Memvec_t const dstlist[],
                              gex_Rank_t srcrank, size_t srccount, gex_Memvec_t const srclist[],
                              gex_Flags_t flags) {
  return refused(lists({Call::vector_get_blocking, Direction::get, Form::blocking}, tm, srcrank,
                       List<gex_Memvec_t>{dstcount, dstlist}, List<gex_Memvec_t>{srccount, srclist},
                       flags));
}

gex_Event_t gex_VIS_VectorPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                gex_Memvec_t const dstlist[], size_t srccount,
                                gex_Memvec_t const srclist[], gex_Flags_t flags) {
  return event_or_no_op_of(lists({Call::vector_put_nb, Direction::put, Form::with_event}, tm,
                                 dstrank, List<gex_Memvec_t>{dstcount, dstlist},
                                 List<gex_Memvec_t>{srccount, srclist}, flags));
}

int gex_VIS_VectorPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                         gex_Memvec_t const dstlist[], size_t srccount,
                         gex_Memvec_t const srclist[], gex_Flags_t flags) {
  return refused(lists({Call::vector_put_nbi, Direction::put, Form::implicit}, tm, dstrank,
                       List<gex_Memvec_t>{dstcount, dstlist}, List<gex_Memvec_t>{srccount, srclist},
                       flags));
}

int gex_VIS_VectorPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                              gex_Memvec_t const dstlist[], size_t srccount,
                              gex_Memvec_t const srclist[], gex_Flags_t flags) {
  return refused(lists({Call::vector_put_blocking, Direction::put, Form::blocking}, tm, dstrank,
                       List<gex_Memvec_t>{dstcount, dstlist}, List<gex_Memvec_t>{srccount, srclist},
                       flags));
}

gex_Event_t gex_VIS_IndexedGetNB(gex_TM_t tm, size_t dstcount, void* const dstlist[], size_t dstlen,
                                 gex_Rank_t srcrank, size_t srccount, void* const srclist[],
                                 size_t srclen, gex_Flags_t flags) {
  return event_or_no_op_of(lists({Call::indexed_get_nb, Direction::get, Form::with_event}, tm,
                                 srcrank, List<void*>{dstcount, dstlist, dstlen},
                                 List<void*>{srccount, srclist, srclen}, flags));
}

int gex_VIS_IndexedGetNBI(gex_TM_t tm, size_t dstcount, void* const dstlist[], size_t dstlen,
                          gex_Rank_t srcrank, size_t srccount, void* const srclist[], size_t srclen,
                          gex_Flags_t flags) {
  return refused(lists({Call::indexed_get_nbi, Direction::get, Form::implicit}, tm, srcrank,
                       List<void*>{dstcount, dstlist, dstlen},
                       List<void*>{srccount, srclist, srclen}, flags));
}

int gex_VIS_IndexedGetBlocking(gex_TM_t tm, size_t dstcount, void* const dstlist[], size_t dstlen,
                               gex_Rank_t srcrank, size_t srccount, void* const srclist[],
                               size_t srclen, gex_Flags_t flags) {
  return refused(lists({Call::indexed_get_blocking, Direction::get, Form::blocking}, tm, srcrank,
                       List<void*>{dstcount, dstlist, dstlen},
                       List<void*>{srccount, srclist, srclen}, flags));
}

gex_Event_t gex_VIS_IndexedPutNB(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                                 void* const dstlist[], size_t dstlen, size_t srccount,
                                 void* const srclist[], size_t srclen, gex_Flags_t flags) {
  return event_or_no_op_of(lists({Call::indexed_put_nb, Direction::put, Form::with_event}, tm,
                                 dstrank, List<void*>{dstcount, dstlist, dstlen},
                                 List<void*>{srccount, srclist, srclen}, flags));
}

int gex_VIS_IndexedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount, void* const dstlist[],
                          size_t dstlen, size_t srccount, void* const srclist[], size_t srclen,
                          gex_Flags_t flags) {
  return refused(lists({Call::indexed_put_nbi, Direction::put, Form::implicit}, tm, dstrank,
                       List<void*>{dstcount, dstlist, dstlen},
                       List<void*>{srccount, srclist, srclen}, flags));
}

int gex_VIS_IndexedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, size_t dstcount,
                               void* const dstlist[], size_t dstlen, size_t srccount,
                               void* const srclist[], size_t srclen, gex_Flags_t flags) {
  return refused(lists({Call::indexed_put_blocking, Direction::put, Form::blocking}, tm, dstrank,
                       List<void*>{dstcount, dstlist, dstlen},
                       List<void*>{srccount, srclist, srclen}, flags));
}

gex_Event_t gex_VIS_StridedGetNB(gex_TM_t tm, void* dstaddr, const ptrdiff_t dststrides[],
                                 gex_Rank_t srcrank, void* srcaddr, const ptrdiff_t srcstrides[],
                                 size_t elemsz, const size_t count[], size_t stridelevels,
                                 gex_Flags_t flags) {
  return event_or_no_op_of(strided({Call::strided_get_nb, Direction::get, Form::with_event}, tm,
                                   srcrank, {dstaddr, dststrides}, {srcaddr, srcstrides}, elemsz,
                                   count, stridelevels, flags));
}

int gex_VIS_StridedGetNBI(gex_TM_t tm, void* dstaddr, const ptrdiff_t dststrides[],
                          gex_Rank_t srcrank, void* srcaddr, const ptrdiff_t srcstrides[],
                          size_t elemsz, const size_t count[], size_t stridelevels,
                          gex_Flags_t flags) {
  return refused(strided({Call::strided_get_nbi, Direction::get, Form::implicit}, tm, srcrank,
                         {dstaddr, dststrides}, {srcaddr, srcstrides}, elemsz, count, stridelevels,
                         flags));
}

int gex_VIS_StridedGetBlocking(gex_TM_t tm, void* dstaddr, const ptrdiff_t dststrides[],
                               gex_Rank_t srcrank, void* srcaddr, const ptrdiff_t srcstrides[],
                               size_t elemsz, const size_t count[], size_t stridelevels,
                               gex_Flags_t flags) {
  return refused(strided({Call::strided_get_blocking, Direction::get, Form::blocking}, tm, srcrank,
                         {dstaddr, dststrides}, {srcaddr, srcstrides}, elemsz, count, stridelevels,
                         flags));
}

gex_Event_t gex_VIS_StridedPutNB(gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr,
                                 const ptrdiff_t dststrides[], void* srcaddr,
                                 const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[],
                                 size_t stridelevels, gex_Flags_t flags) {
  return event_or_no_op_of(strided({Call::strided_put_nb, Direction::put, Form::with_event}, tm,
                                   dstrank, {dstaddr, dststrides}, {srcaddr, srcstrides}, elemsz,
                                   count, stridelevels, flags));
}

int gex_VIS_StridedPutNBI(gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr,
                          const ptrdiff_t dststrides[], void* srcaddr, const ptrdiff_t srcstrides[],
                          size_t elemsz, const size_t count[], size_t stridelevels,
                          gex_Flags_t flags) {
  return refused(strided({Call::strided_put_nbi, Direction::put, Form::implicit}, tm, dstrank,
                         {dstaddr, dststrides}, {srcaddr, srcstrides}, elemsz, count, stridelevels,
                         flags));
}

int gex_VIS_StridedPutBlocking(gex_TM_t tm, gex_Rank_t dstrank, void* dstaddr,
                               const ptrdiff_t dststrides[], void* srcaddr,
                               const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[],
                               size_t stridelevels, gex_Flags_t flags) {
  return refused(strided({Call::strided_put_blocking, Direction::put, Form::blocking}, tm, dstrank,
                         {dstaddr, dststrides}, {srcaddr, srcstrides}, elemsz, count, stridelevels,
                         flags));
}

void gex_VIS_SetPeerCompletionHandler(gex_AM_Index_t handler, const void* source_addr,
                                      size_t nbytes, gex_Flags_t flags) {
  const gex::InCall in_call(Call::set_peer_completion);
  const char* call = name_of(in_call);
  gex::require_flags(flags, 0, call);
  if (handler == 0) {
    gex::vis::arm(0, nullptr, 0);
    return;
  }
  // Always checked: the peer would run another handler, or get more bytes than it takes.
  if (handler < GEX_AM_INDEX_BASE)
    fatal("%s: the handler index %u is below GEX_AM_INDEX_BASE", call, unsigned{handler});
  if (nbytes > GEX_VIS_MAX_PEERCOMPLETION)
    fatal("%s: %zu bytes are more than GEX_VIS_MAX_PEERCOMPLETION", call, nbytes);
  if (nbytes != 0 && source_addr == nullptr) fatal("%s: source_addr is null", call);
  gex::vis::arm(handler, source_addr, nbytes);
}

}  // extern "C"
