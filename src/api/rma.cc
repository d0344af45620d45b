// Entry points: put and get, out of line.

#include "rma/rma.h"

#include <gasnetex.h>

#include "api/require.h"
#include "base/error.h"
#include "core/event.h"
#include "core/team.h"
#include "observe/in_call.h"

namespace {

using gex::Call;
using gex::fatal;
using gex::in_call;
using gex::rma::ResolvedTransfer;

constexpr gex_Flags_t known_flags =
    GEX_FLAG_IMMEDIATE | GEX_FLAG_LC_COPY_YES | GEX_FLAG_LC_COPY_NO | GEX_FLAG_PEER_NEVER_SELF |
    GEX_FLAG_PEER_NEVER_NBRHD | GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_SOME |
    GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_UNKNOWN |
    GEX_FLAG_PEER_SEG_SOME | GEX_FLAG_PEER_SEG_BOUND | GEX_FLAG_PEER_SEG_OFFSET;

enum class Local { buffer, value };

template <Local local_is = Local::buffer, class AnyCall>
ResolvedTransfer check_and_resolve(const AnyCall& call, gex_TM_t tm, gex_Rank_t rank,
                                   const void* local, void* remote, std::size_t size,
                                   gex_Flags_t flags) {
  if (call.is_checked()) gex::require_peer(tm, rank, name_of(call));
  const gex::Target peer = gex::resolve(tm, rank);
  if (call.is_checked()) {
    gex::require_capability(peer.local_endpoint, GEX_EP_CAPABILITY_RMA, name_of(call));
    gex::require_flags(flags, known_flags, name_of(call));
    if (local_is == Local::buffer && (flags & GEX_FLAG_SELF_SEG_OFFSET) == 0)
      gex::rma::check_local(peer, local, size, call);
  }
  return gex::rma::resolve_transfer(peer, local, remote, size, flags, call);
}

template <class AnyCall>
void check_completion(const AnyCall& call, const gex_Event_t* lc_opt, bool implicit) {
  if (!call.is_checked()) return;
  const bool variable = gex::has_variable(lc_opt);
  if (lc_opt == nullptr) fatal("%s: lc_opt is null", name_of(call));
  if (implicit && variable)
    fatal("%s: lc_opt must be GEX_EVENT_NOW, DEFER or GROUP", name_of(call));
  if (!implicit && lc_opt == GEX_EVENT_GROUP)
    fatal("%s: lc_opt must be GEX_EVENT_NOW, DEFER or a variable", name_of(call));
}

/// A value is in no buffer, so flags about a local buffer do not apply.
constexpr gex_Flags_t of_value(gex_Flags_t flags) {
  return flags & ~(GEX_FLAG_SELF_SEG_UNKNOWN | GEX_FLAG_SELF_SEG_SOME | GEX_FLAG_SELF_SEG_BOUND |
                   GEX_FLAG_SELF_SEG_OFFSET);
}

}  // namespace

extern "C" {

int gex_put_blocking_(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src, size_t nbytes,
                      gex_Flags_t flags) {
  return in_call(Call::put_blocking, [=](auto& call) noexcept {
    return call.returns(
        gex::rma::put_blocking(check_and_resolve(call, tm, rank, src, dest, nbytes, flags), flags));
  });
}

int gex_put_nbi_(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src, size_t nbytes,
                 gex_Event_t* lc_opt, gex_Flags_t flags) {
  return in_call(Call::put_nbi, [=](auto& call) noexcept {
    check_completion(call, lc_opt, true);
    return call.returns(gex::rma::put_implicit(
        check_and_resolve(call, tm, rank, src, dest, nbytes, flags), lc_opt, flags));
  });
}

gex_Event_t gex_put_nb_(gex_TM_t tm, gex_Rank_t rank, void* dest, const void* src, size_t nbytes,
                        gex_Event_t* lc_opt, gex_Flags_t flags) {
  return in_call(Call::put_nb, [=](auto& call) noexcept {
    check_completion(call, lc_opt, false);
    return call.returns(gex::rma::put_explicit(
        check_and_resolve(call, tm, rank, src, dest, nbytes, flags), lc_opt, flags));
  });
}

int gex_get_blocking_(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes,
                      gex_Flags_t flags) {
  return in_call(Call::get_blocking, [=](auto& call) noexcept {
    return call.returns(
        gex::rma::get_blocking(check_and_resolve(call, tm, rank, dest, src, nbytes, flags), flags));
  });
}

int gex_get_nbi_(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes,
                 gex_Flags_t flags) {
  return in_call(Call::get_nbi, [=](auto& call) noexcept {
    return call.returns(
        gex::rma::get_implicit(check_and_resolve(call, tm, rank, dest, src, nbytes, flags), flags));
  });
}

gex_Event_t gex_get_nb_(gex_TM_t tm, void* dest, gex_Rank_t rank, void* src, size_t nbytes,
                        gex_Flags_t flags) {
  return in_call(Call::get_nb, [=](auto& call) noexcept {
    return call.returns(
        gex::rma::get_explicit(check_and_resolve(call, tm, rank, dest, src, nbytes, flags), flags));
  });
}

gex_RMA_Value_t gex_get_value_(gex_TM_t tm, gex_Rank_t rank, void* src, size_t nbytes,
                               gex_Flags_t flags) {
  return in_call(Call::get_value, [=](auto& call) noexcept {
    gex::require_value_size(nbytes, name_of(call));
    gex_RMA_Value_t value = 0;
    void* bytes = const_cast<void*>(gex_value_bytes_(&value, nbytes));
    gex::rma::get_blocking(
        check_and_resolve<Local::value>(call, tm, rank, bytes, src, nbytes, of_value(flags)), 0);
    return value;
  });
}

int gex_put_value_blocking_(gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
                            size_t nbytes, gex_Flags_t flags) {
  return in_call(Call::put_value_blocking, [=](auto& call) noexcept {
    gex::require_value_size(nbytes, name_of(call));
    const void* bytes = gex_value_bytes_(&value, nbytes);
    return call.returns(gex::rma::put_blocking(
        check_and_resolve<Local::value>(call, tm, rank, bytes, dest, nbytes, of_value(flags)),
        flags));
  });
}

int gex_put_value_nbi_(gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
                       size_t nbytes, gex_Flags_t flags) {
  return in_call(Call::put_value_nbi, [=](auto& call) noexcept {
    gex::require_value_size(nbytes, name_of(call));
    const void* bytes = gex_value_bytes_(&value, nbytes);
    return call.returns(gex::rma::put_implicit(
        check_and_resolve<Local::value>(call, tm, rank, bytes, dest, nbytes, of_value(flags)),
        GEX_EVENT_NOW, flags));
  });
}

gex_Event_t gex_put_value_nb_(gex_TM_t tm, gex_Rank_t rank, void* dest, gex_RMA_Value_t value,
                              size_t nbytes, gex_Flags_t flags) {
  return in_call(Call::put_value_nb, [=](auto& call) noexcept {
    gex::require_value_size(nbytes, name_of(call));
    const void* bytes = gex_value_bytes_(&value, nbytes);
    return call.returns(gex::rma::put_explicit(
        check_and_resolve<Local::value>(call, tm, rank, bytes, dest, nbytes, of_value(flags)),
        GEX_EVENT_NOW, flags));
  });
}

}  // extern "C"
