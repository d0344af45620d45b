/* What inline code in clients may read of the library's state: the constants of the process and
 * the public prefixes of its objects. src/core/layout.cc asserts every offset; a change here is a
 * new GEX_ABI_VERSION_, from the first release on.
 */
#ifndef GEX_LAYOUT_H_
#if __INCLUDE_LEVEL__ && !defined(GEX_SHOW_WARNINGS_)
#pragma GCC system_header
#endif
#define GEX_LAYOUT_H_

#include <gasnet_fwd.h>
#include <gex/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Per-process constants, fixed once gex_Client_Init has returned. Non-PIE clients copy this
 * object (copy relocation), so its size is reserved for good. */
struct gex_Proc_ {
  uint32_t abi;       /* GEX_ABI_VERSION_ of the library */
  uint32_t mode;      /* GEX_MODE_..._ of the job's clients */
  gex_Rank_t jobrank; /* of this process */
  gex_Rank_t jobsize; /* 0 before the first gex_Client_Init */
  uint32_t observed;  /* GEX_OBSERVED_...; not 0: calls take their out-of-line forms */
  uint32_t reserved32[3];
  struct _gex_TM* gasnet1_team; /* primordial team of the client that uses GASNet-1, or null */
  const struct gex_Watched_* watched; /* null: every poll is a call */
  uint64_t reserved[58];
};
extern GEX_EXPORT_ struct gex_Proc_ gex_proc_;

/** Why calls are observed. */
#define GEX_OBSERVED_CHECKS_ 1u /* each checks its arguments and where it is made */
#define GEX_OBSERVED_TRACE_ 2u  /* each is recorded */
/** Handlers are counted, because the job's progress is watched. Transfers stay inline. */
#define GEX_OBSERVED_PROGRESS_ 4u

/** Where messages of one kind arrive. Read by any thread, written by the one that takes them. */
struct gex_Inbox_ {
  const uint64_t* ready; /* the word by which the next message will show */
  const void* fetch;     /* what to have in the cache by then */
  uint32_t arrival;      /* the lower half of that word once it is there */
  uint32_t reserved;
};

/** What an idle poll reads. */
struct gex_Watched_ {
  const struct gex_Inbox_* inboxes;
  uint32_t inbox_count;
  uint32_t deliveries_wanted; /* those with work for polls that no inbox shows: messages */
  uint32_t polls_wanted;      /* and anything else */
  uint32_t reserved;
  const uint64_t* ending; /* not 0 once some rank has ended the job */
};

/** The displacement of what is not mapped here; real ones are multiples of a page, so a low bit
 * distinguishes them. gex/rma.h tests it together with flags, so it is one that no flag of a put or
 * get has. */
#define GEX_NOT_MAPPED_ ((intptr_t)1 << 11)

/** Public prefix of a team member. Its displacements follow it, see GEX_TEAM_DISPLACEMENT_. */
struct gex_TeamPrefix_ {
  gex_Rank_t rank;
  gex_Rank_t size;
  struct _gex_Client* client;
  struct _gex_EP* endpoint;
  const void* client_data;
  gex_Flags_t flags;
  uint32_t reserved32;
  uint64_t reserved[3];
};

/** Public prefix of an endpoint. */
struct gex_EndpointPrefix_ {
  struct _gex_Client* client;
  struct _gex_Segment* segment;
  const void* client_data;
  gex_Flags_t flags;
  gex_EP_Index_t index;
  uint16_t reserved;
};

/** Public prefix of an atomic domain. Its displacements follow it, see GEX_DOMAIN_DISPLACEMENT_. */
struct gex_DomainPrefix_ {
  /* The displacements once more: by rank of the domain's team, and by jobrank. */
  const intptr_t* displacement[2];
  struct _gex_TM* team;
  const void* client_data;
  gex_DT_t data_type;
  gex_OP_t operations;
  gex_Flags_t flags;
  uint32_t reserved32;
  uint64_t reserved[2];
};

/** A gex_TM_t is a team member's address with bit 0 set, when inline code may read its prefix; the
 * address alone, when every call goes out of line to be checked; or, with bit 1 set, a TM-pair,
 * which is a value. GEX_TM_INVALID has neither bit: one test keeps inline code away from all that
 * it cannot read. */
#define GEX_IS_READABLE_TEAM_(tm) (((uintptr_t)(tm)) & 1u)
#define GEX_IS_PAIR_(tm) (((uintptr_t)(tm)) & 2u)
#define GEX_TEAM_PREFIX_(tm) ((const struct gex_TeamPrefix_*)(const void*)((const char*)(tm)-1))

/** For each rank of the team: what to add to an address in its bound segment to reach the same byte
 * in this process, or GEX_NOT_MAPPED_. Rewritten by Attach and Publish. The array lies behind the
 * prefix, not behind a pointer: the address of a put's store waits for one load, as in a client
 * that keeps a table of pointers. */
#define GEX_TEAM_DISPLACEMENT_(tm) \
  ((const intptr_t*)(const void*)((const char*)(tm)-1 + sizeof(struct gex_TeamPrefix_)))

/** A gex_AD_t is a domain's address with bit 0 set, when inline code may read its prefix; the
 * address alone, when every call goes out of line, to be checked or to a network. GEX_AD_INVALID
 * has no bit set. */
#define GEX_IS_READABLE_DOMAIN_(ad) (((uintptr_t)(ad)) & 1u)
#define GEX_DOMAIN_PREFIX_(ad) ((const struct gex_DomainPrefix_*)(const void*)((const char*)(ad)-1))

/** Two for each rank: the displacement of that rank of the domain's team, and that of the member
 * with that jobrank. As in GEX_TEAM_DISPLACEMENT_, the target's address waits for one load: some
 * processors load nothing while a locked instruction is under way, so that each load that waits for
 * another would be added to the time of operations that follow one another. */
#define GEX_DOMAIN_DISPLACEMENT_(ad) \
  ((const intptr_t*)(const void*)((const char*)(ad)-1 + sizeof(struct gex_DomainPrefix_)))

#ifdef __cplusplus
}
#endif
#endif
