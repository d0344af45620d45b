// The layouts that compiled clients rely on, asserted in one place. A change here is a new
// GEX_ABI_VERSION_.

#include <gasnet_ratomic.h>

#include <cstddef>
#include <type_traits>

#include "core/objects.h"
#include "core/team.h"

namespace gex {
namespace {

static_assert(sizeof(gex_Proc_) == 512);
static_assert(offsetof(gex_Proc_, abi) == 0 && offsetof(gex_Proc_, mode) == 4 &&
              offsetof(gex_Proc_, jobrank) == 8 && offsetof(gex_Proc_, jobsize) == 12 &&
              offsetof(gex_Proc_, observed) == 16 && offsetof(gex_Proc_, gasnet1_team) == 32 &&
              offsetof(gex_Proc_, watched) == 40);
static_assert(offsetof(gex_Inbox_, ready) == 0 && offsetof(gex_Inbox_, fetch) == 8 &&
              offsetof(gex_Inbox_, arrival) == 16 && sizeof(gex_Inbox_) == 24);
static_assert(offsetof(gex_Watched_, inboxes) == 0 && offsetof(gex_Watched_, inbox_count) == 8 &&
              offsetof(gex_Watched_, deliveries_wanted) == 12 &&
              offsetof(gex_Watched_, polls_wanted) == 16 && offsetof(gex_Watched_, ending) == 24 &&
              sizeof(gex_Watched_) == 32);

static_assert(offsetof(gex_TeamPrefix_, rank) == 0 && offsetof(gex_TeamPrefix_, size) == 4 &&
              offsetof(gex_TeamPrefix_, client) == 8 && offsetof(gex_TeamPrefix_, endpoint) == 16 &&
              offsetof(gex_TeamPrefix_, client_data) == 24 &&
              offsetof(gex_TeamPrefix_, flags) == 32 && sizeof(gex_TeamPrefix_) == 64);
static_assert(GEX_NOT_MAPPED_ == GEX_FLAG_AM_PREPARE_LEAST_CLIENT,
              "the bit of a flag that is for messages only");
constexpr gex_Flags_t out_of_line = GEX_RMA_OUT_OF_LINE_ | GEX_AD_OUT_OF_LINE_;
static_assert((out_of_line & GEX_NOT_MAPPED_) == 0 && out_of_line < 4096,
              "flags and a displacement, a multiple of a page, are tested together");
static_assert(offsetof(gex_EndpointPrefix_, client) == 0 &&
              offsetof(gex_EndpointPrefix_, segment) == 8 && sizeof(gex_EndpointPrefix_) == 32);
static_assert(offsetof(gex_DomainPrefix_, displacement) == 0 &&
              offsetof(gex_DomainPrefix_, team) == 16 &&
              offsetof(gex_DomainPrefix_, client_data) == 24 &&
              offsetof(gex_DomainPrefix_, data_type) == 32 &&
              offsetof(gex_DomainPrefix_, operations) == 36 &&
              offsetof(gex_DomainPrefix_, flags) == 40 && sizeof(gex_DomainPrefix_) == 64 &&
              alignof(gex_DomainPrefix_) >= 2);
static_assert(alignof(Team) >= 4, "bits 0 and 1 of a handle are its kind");

static_assert(sizeof(gex_HSL_t) == 64);
static_assert(sizeof(gex_Rank_t) == 4 && sizeof(gex_Flags_t) == 4 && sizeof(gex_DT_t) == 4 &&
              sizeof(gex_OP_t) == 4 && sizeof(gex_EP_Capabilities_t) == 4 &&
              sizeof(gex_EP_Index_t) == 2 && sizeof(gex_AM_Arg_t) == 4);
static_assert(std::is_pointer_v<gex_Event_t> && std::is_pointer_v<gex_TM_t> &&
              std::is_pointer_v<gex_EP_t> && std::is_pointer_v<gex_Client_t> &&
              std::is_pointer_v<gex_Segment_t> && std::is_pointer_v<gex_MK_t> &&
              std::is_pointer_v<gex_AM_SrcDesc_t> && std::is_pointer_v<gex_Token_t>);

static_assert(GASNET_OK == 0 && GASNET_ERR_NOT_READY == 10004);
static_assert(GEX_FLAG_IMMEDIATE == 1U << 0 && GEX_FLAG_AM_PREPARE_LEAST_CLIENT == 1U << 11 &&
              GEX_FLAG_AM_PREPARE_LEAST_ALLOC == 1U << 12);
static_assert(GEX_DT_U64 == 1U << 3 && GEX_OP_ADD == 1U << 3 && GEX_EP_CAPABILITY_RMA == 1U << 0);

}  // namespace
}  // namespace gex
