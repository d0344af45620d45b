#pragma once
// The fetch-and-adds of each type that peer_gex measures.

#include <gasnet_ratomic.h>
#include <gasnetex.h>

#include <cstdint>

/// A type by its name in the rows.
struct Type {
  const char* name;
  gex_DT_t type;
};
inline constexpr Type types[] = {{"i32", GEX_DT_I32}, {"u32", GEX_DT_U32}, {"i64", GEX_DT_I64},
                                 {"u64", GEX_DT_U64}, {"flt", GEX_DT_FLT}, {"dbl", GEX_DT_DBL}};

/// One fetch-and-add of a type, as a client that has chosen it writes it.
inline gex_Event_t begin_add(gex_AD_t domain, gex_DT_t type, gex_Rank_t rank, void* target,
                             void* result) {
  switch (type) {
    case GEX_DT_I32:
      return gex_AD_OpNB_I32(domain, static_cast<std::int32_t*>(result), rank, target, GEX_OP_FADD,
                             1, 0, 0);
    case GEX_DT_U32:
      return gex_AD_OpNB_U32(domain, static_cast<std::uint32_t*>(result), rank, target, GEX_OP_FADD,
                             1, 0, 0);
    case GEX_DT_I64:
      return gex_AD_OpNB_I64(domain, static_cast<std::int64_t*>(result), rank, target, GEX_OP_FADD,
                             1, 0, 0);
    case GEX_DT_U64:
      return gex_AD_OpNB_U64(domain, static_cast<std::uint64_t*>(result), rank, target, GEX_OP_FADD,
                             1, 0, 0);
    case GEX_DT_FLT:
      return gex_AD_OpNB_FLT(domain, static_cast<float*>(result), rank, target, GEX_OP_FADD, 1, 0,
                             0);
    default:
      return gex_AD_OpNB_DBL(domain, static_cast<double*>(result), rank, target, GEX_OP_FADD, 1, 0,
                             0);
  }
}
/// The like, for gex_NBI_Wait.
inline void begin_add_implicitly(gex_AD_t domain, gex_DT_t type, gex_Rank_t rank, void* target,
                                 void* result) {
  switch (type) {
    case GEX_DT_I32:
      gex_AD_OpNBI_I32(domain, static_cast<std::int32_t*>(result), rank, target, GEX_OP_FADD, 1, 0,
                       0);
      break;
    case GEX_DT_U32:
      gex_AD_OpNBI_U32(domain, static_cast<std::uint32_t*>(result), rank, target, GEX_OP_FADD, 1, 0,
                       0);
      break;
    case GEX_DT_I64:
      gex_AD_OpNBI_I64(domain, static_cast<std::int64_t*>(result), rank, target, GEX_OP_FADD, 1, 0,
                       0);
      break;
    case GEX_DT_U64:
      gex_AD_OpNBI_U64(domain, static_cast<std::uint64_t*>(result), rank, target, GEX_OP_FADD, 1, 0,
                       0);
      break;
    case GEX_DT_FLT:
      gex_AD_OpNBI_FLT(domain, static_cast<float*>(result), rank, target, GEX_OP_FADD, 1, 0, 0);
      break;
    default:
      gex_AD_OpNBI_DBL(domain, static_cast<double*>(result), rank, target, GEX_OP_FADD, 1, 0, 0);
  }
}
