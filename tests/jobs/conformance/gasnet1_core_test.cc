// Calls that gasnetex.h carries over from GASNet-1, barriers excepted (barrier_test.cc).

#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <thread>

#include "transfer.h"

extern "C" int gasnetc_AMPoll(void);

namespace conformance::gasnet1_core_test {
namespace {

volatile int handled = 0;
void count_request(gex_Token_t) {
  handled = handled + 1;
}
const Handlers handlers({{0, handler(count_request), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0,
                          nullptr, "count_request"}});

TEST(Gasnet1, ErrorsHaveNamesAndDescriptions) {
  EXPECT_STREQ(gasnet_ErrorName(GASNET_OK), "GASNET_OK");
  EXPECT_STREQ(gasnet_ErrorName(GASNET_ERR_NOT_INIT), "GASNET_ERR_NOT_INIT");
  EXPECT_STREQ(gasnet_ErrorName(GASNET_ERR_RESOURCE), "GASNET_ERR_RESOURCE");
  EXPECT_STREQ(gasnet_ErrorName(GASNET_ERR_BAD_ARG), "GASNET_ERR_BAD_ARG");
  EXPECT_STREQ(gasnet_ErrorName(GASNET_ERR_NOT_READY), "GASNET_ERR_NOT_READY");
  EXPECT_STREQ(gasnet_ErrorName(GASNET_ERR_BARRIER_MISMATCH), "GASNET_ERR_BARRIER_MISMATCH");
  std::set<std::string> descriptions;
  for (const int error : {GASNET_OK, GASNET_ERR_NOT_INIT, GASNET_ERR_RESOURCE, GASNET_ERR_BAD_ARG,
                          GASNET_ERR_NOT_READY, GASNET_ERR_BARRIER_MISMATCH}) {
    ASSERT_NE(gasnet_ErrorDesc(error), nullptr);
    descriptions.insert(gasnet_ErrorDesc(error));
  }
  EXPECT_EQ(descriptions.size(), 6U);
  EXPECT_EQ(descriptions.count(""), 0U);
  // Never null, whatever the number.
  for (const int error : {-1, 1, 9999, 10006, 123456}) {
    EXPECT_NE(gasnet_ErrorName(error), nullptr);
    EXPECT_NE(gasnet_ErrorDesc(error), nullptr);
  }
}

TEST(Gasnet1, PollRunsHandlers) {
  handled = 0;
  barrier();
  gex_AM_RequestShort(team(), next(), handlers[0], 0);
  const Patience patience;
  while (handled == 0 && !patience.over()) {
    EXPECT_EQ(gasnet_AMPoll(), GASNET_OK);
    std::this_thread::yield();
  }
  EXPECT_EQ(handled, 1);
}

TEST(Gasnet1, BlockUntilPollsAndReadsItsConditionAgain) {
  handled = 0;
  barrier();
  for (int i = 0; i < 10; ++i) gex_AM_RequestShort(team(), next(), handlers[0], 0);
  GASNET_BLOCKUNTIL(handled == 10);
  EXPECT_EQ(handled, 10);
  int readings = 0;
  GASNET_BLOCKUNTIL(++readings == 1);
  EXPECT_EQ(readings, 1) << "a condition that holds is read once";
  readings = 0;
  GASNET_BLOCKUNTIL(++readings >= 50);
  // A macro that may stand anywhere a statement may.
  if (readings == 0)
    GASNET_BLOCKUNTIL(true);
  else
    EXPECT_GE(readings, 50);
}

TEST(Gasnet1, SegmentInfoOfAllRanksAndOfSome) {
  std::vector<gasnet_seginfo_t> table(size() + 1);
  table[size()].size = 12345;
  ASSERT_EQ(gasnet_getSegmentInfo(table.data(), static_cast<int>(size())), GASNET_OK);
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    EXPECT_EQ(table[peer].addr, segment_of(peer));
    EXPECT_GE(table[peer].size, segment_bytes);
  }
  EXPECT_EQ(table[size()].size, 12345U);
  std::vector<gasnet_seginfo_t> first(2, gasnet_seginfo_t{nullptr, 777});
  ASSERT_EQ(gasnet_getSegmentInfo(first.data(), 1), GASNET_OK);
  EXPECT_EQ(first[0].addr, segment_of(0));
  EXPECT_EQ(first[1].size, 777U);
}

TEST(Gasnet1, WaitModes) {
  EXPECT_EQ(gasnet_set_waitmode(GASNET_WAIT_BLOCK), GASNET_OK);
  barrier();
  EXPECT_EQ(gasnet_set_waitmode(GASNET_WAIT_SPINBLOCK), GASNET_OK);
  barrier();
  EXPECT_EQ(gasnet_set_waitmode(GASNET_WAIT_SPIN), GASNET_OK);
  barrier();
  EXPECT_EQ(gasnet_set_waitmode(17), GASNET_ERR_BAD_ARG);
}

TEST(Gasnet1, EnvironmentOfTheJob) {
  EXPECT_EQ(gasnet_getenv("A_VARIABLE_THAT_NO_RANK_SETS"), nullptr);
  const char* path = gasnet_getenv("PATH");
  ASSERT_NE(path, nullptr);
  // Equal on every rank: the job's, not a process's.
  char start[64] = {};
  std::strncpy(start, path, sizeof start - 1);
  struct Text {
    char text[64];
  };
  Text own{};
  std::memcpy(own.text, start, sizeof start);
  for (const Text& each : gather(own)) EXPECT_STREQ(each.text, start);
}

TEST(Gasnet1, PollsByTheNameThatBuildScriptsLookFor) {
  const int before = handled;
  barrier();
  gex_AM_RequestShort0(team(), next(), handlers[0], 0);
  const Patience patience;
  while (handled == before && !patience.over()) gasnetc_AMPoll();
  EXPECT_EQ(handled, before + 1);
}

TEST(Gasnet1, Constants) {
  EXPECT_GE(GASNET_MAXNODES, 1024);
  EXPECT_EQ(GASNET_PAGESIZE, 4096);
  EXPECT_EQ(max_threads == 1, mode == Mode::seq);
  EXPECT_EQ(gasneti_mynode, rank());
  EXPECT_EQ(GASNETI_MAKEWORD(0x12345678, 0x9ABCDEF0), 0x123456789ABCDEF0U);
  EXPECT_EQ(GASNETI_HIWORD(0x123456789ABCDEF0U), 0x12345678U);
  EXPECT_EQ(GASNETI_LOWORD(0x123456789ABCDEF0U), 0x9ABCDEF0U);
}

TEST(Gasnet1, ConfigStringNamesReleaseSpecModeAndSegment) {
  const std::string text = config_string;
  EXPECT_EQ(text.find("RELEASE=2025.8.0,SPEC=0.19,CONDUIT="), 0U) << text;
  const char* const model = mode == Mode::seq       ? ",THREADMODEL=SEQ,"
                            : mode == Mode::parsync ? ",THREADMODEL=PARSYNC,"
                                                    : ",THREADMODEL=PAR,";
  EXPECT_NE(text.find(model), std::string::npos) << text;
  EXPECT_NE(text.find(",SEGMENT=FAST,PTR=64bit,CACHE_LINE_BYTES=64,"), std::string::npos) << text;
}

}  // namespace
}  // namespace conformance::gasnet1_core_test
