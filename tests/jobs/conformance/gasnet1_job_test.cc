// GASNet-1 in a program that was started by gex_Client_Init: identity, objects, messages, locks,
// no-interrupt sections. What gasnet_init and gasnet_attach do is a program's of its own.

#include <gasnet.h>

#include "message.h"
#include "transfer.h"

namespace conformance::gasnet1_job_test {
namespace {

Count requests;
Count replies;
gasnet_hsl_t lock = GASNET_HSL_INITIALIZER;
volatile gasnet_node_t source_of_request;

extern const Handlers handlers;

void on_request(gasnet_token_t token, gasnet_handlerarg_t expected) {
  gasnet_node_t source = GEX_RANK_INVALID;
  EXPECT_EQ(gasnet_AMGetMsgSource(token, &source), GASNET_OK);
  EXPECT_EQ(static_cast<gasnet_handlerarg_t>(source), expected);
  // What may be called here, and what is ignored here.
  gasnet_hold_interrupts();
  EXPECT_LT(gasnet_mynode(), gasnet_nodes());
  gex_EP_t here = GEX_EP_INVALID;
  gasnet_QueryGexObjects(nullptr, &here, nullptr, nullptr);
  EXPECT_EQ(here, endpoint());
  gasnet_hsl_lock(&lock);
  source_of_request = source;
  ++requests;
  gasnet_hsl_unlock(&lock);
  gasnet_resume_interrupts();
  gasnet_AMReplyShort2(token, handlers[1], expected, 7);
}
void on_reply(gasnet_token_t token, gasnet_handlerarg_t expected, gasnet_handlerarg_t seven) {
  gasnet_node_t source = GEX_RANK_INVALID;
  EXPECT_EQ(gasnet_AMGetMsgSource(token, &source), GASNET_OK);
  EXPECT_EQ(source, next());
  EXPECT_EQ(static_cast<gasnet_node_t>(expected), gasnet_mynode());
  EXPECT_EQ(seven, 7);
  ++replies;
}
const Handlers handlers({
    entry(on_request, short_request, 1, "gasnet1: request"),
    entry(on_reply, short_reply, 2, "gasnet1: reply"),
});

TEST(Gasnet1Job, IdentityAndObjects) {
  EXPECT_EQ(gasnet_mynode(), rank());
  EXPECT_EQ(gasnet_nodes(), size());
  EXPECT_EQ(gasneti_mynode, gasnet_mynode());
  gex_Client_t its_client = GEX_CLIENT_INVALID;
  gex_EP_t its_endpoint = GEX_EP_INVALID;
  gex_TM_t its_team = GEX_TM_INVALID;
  gex_Segment_t its_segment = GEX_SEGMENT_INVALID;
  gasnet_QueryGexObjects(&its_client, &its_endpoint, &its_team, &its_segment);
  EXPECT_EQ(its_client, client());
  EXPECT_EQ(its_endpoint, endpoint());
  EXPECT_EQ(its_team, team());
  EXPECT_EQ(its_segment, segment());
  gasnet_QueryGexObjects(nullptr, nullptr, nullptr, nullptr);
  EXPECT_EQ(GASNET_VERSION, GASNET_SPEC_VERSION_MAJOR);
  EXPECT_EQ(GASNET_SPEC_VERSION_MAJOR, 1);
  EXPECT_EQ(SIZEOF_GASNET_REGISTER_VALUE_T, sizeof(gasnet_register_value_t));
  EXPECT_STREQ(gasneti_gethostname(), gasnett_gethostname());
  const gasneti_tick_t before = gasneti_ticks_now();
  EXPECT_LE(gasneti_ticks_to_ns(0), gasneti_ticks_to_ns(gasneti_ticks_now() - before));
}

TEST(Gasnet1Job, LimitsHoldForAllRanks) {
  EXPECT_EQ(gasnet_AMMaxArgs(), 16U);
  EXPECT_GE(gasnet_AMMaxMedium(), 512U);
  EXPECT_GE(gasnet_AMMaxLongRequest(), 512U);
  EXPECT_GE(gasnet_AMMaxLongReply(), 512U);
  for (gasnet_node_t node = 0; node < gasnet_nodes(); ++node) {
    EXPECT_LE(gasnet_AMMaxMedium(), gex_AM_MaxRequestMedium(team(), node, GEX_EVENT_NOW, 0, 16));
    EXPECT_LE(gasnet_AMMaxMedium(), gex_AM_MaxReplyMedium(team(), node, GEX_EVENT_NOW, 0, 16));
    EXPECT_LE(gasnet_AMMaxLongRequest(), gex_AM_MaxRequestLong(team(), node, GEX_EVENT_NOW, 0, 16));
    EXPECT_LE(gasnet_AMMaxLongReply(), gex_AM_MaxReplyLong(team(), node, GEX_EVENT_NOW, 0, 16));
  }
}

TEST(Gasnet1Job, HandlersOfEitherInterfaceServeTheOther) {
  requests.reset();
  replies.reset();
  barrier();
  for (int i = 0; i < 50; ++i) {
    const auto expected = static_cast<gasnet_handlerarg_t>(rank());
    if (i % 2 == 0)
      ASSERT_EQ(gasnet_AMRequestShort1(next(), handlers[0], expected), GASNET_OK);
    else
      ASSERT_EQ(gex_AM_RequestShort1(team(), next(), handlers[0], 0, expected), 0);
  }
  GASNET_BLOCKUNTIL(replies.get() == 50);
  GASNET_BLOCKUNTIL(requests.get() == 50);
  EXPECT_EQ(source_of_request, previous());
}

TEST(Gasnet1Job, Locks) {
  gasnet_hsl_t dynamic;
  gasnet_hsl_init(&dynamic);
  gasnet_hsl_lock(&dynamic);
  gasnet_hsl_lock(&lock);
  gasnet_hsl_unlock(&lock);
  gasnet_hsl_unlock(&dynamic);
  EXPECT_EQ(gasnet_hsl_trylock(&dynamic), GASNET_OK);
  gasnet_hsl_unlock(&dynamic);
  gasnet_hsl_destroy(&dynamic);
}

TEST(Gasnet1Job, NoInterruptSections) {
  for (int i = 0; i < 3; ++i) {
    gasnet_hold_interrupts();
    EXPECT_EQ(gasnet_mynode(), rank());
    gasnet_hsl_lock(&lock);
    // Ignored while the lock is held: neither nested nor over.
    gasnet_hold_interrupts();
    gasnet_resume_interrupts();
    gasnet_hsl_unlock(&lock);
    gasnet_resume_interrupts();
    EXPECT_EQ(gasnet_AMPoll(), GASNET_OK);
  }
}

TEST(Gasnet1Job, NodeInfo) {
  std::vector<gasnet_nodeinfo_t> nodes(gasnet_nodes() + 1);
  nodes.back().host = 4321;
  ASSERT_EQ(gasnet_getNodeInfo(nodes.data(), static_cast<int>(gasnet_nodes())), GASNET_OK);
  EXPECT_EQ(nodes.back().host, 4321U);
  gex_RankInfo_t* host = nullptr;
  gex_Rank_t count = 0;
  gex_System_QueryHostInfo(&host, &count, nullptr);
  std::set<gasnet_node_t> here;
  for (gex_Rank_t i = 0; i < count; ++i) here.insert(host[i].gex_jobrank);
  for (gasnet_node_t node = 0; node < gasnet_nodes(); ++node) {
    EXPECT_EQ(nodes[node].host == nodes[gasnet_mynode()].host, here.contains(node));
    EXPECT_EQ(nodes[node].supernode == nodes[gasnet_mynode()].supernode, in_neighborhood(node));
    if (!in_neighborhood(node)) continue;
    // Their memory, through a plain pointer.
    gasnet_put_val(node, segment_of(node) + 8 * rank(), 5000 + node, 8);
    EXPECT_EQ(look_at<std::uint64_t>(segment_of(node) + nodes[node].offset + 8 * rank()),
              5000 + node);
  }
  EXPECT_EQ(gasnet_getNodeInfo(nullptr, 1), GASNET_ERR_BAD_ARG);
  EXPECT_EQ(gasnet_getNodeInfo(nodes.data(), -1), GASNET_ERR_BAD_ARG);
}

}  // namespace
}  // namespace conformance::gasnet1_job_test
