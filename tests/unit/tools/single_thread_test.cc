// GASNETT_THREAD_SINGLE: the same names, plain memory accesses, locks that do nothing.
#define GASNETT_THREAD_SINGLE 1
#include <gasnet_tools.h>

#include <gtest/gtest.h>

#include <string>

namespace {

TEST(ToolsSingleThread, PlainAtomicsComputeTheSame) {
  gasnett_atomic64_t a = gasnett_atomic64_init(1);
  EXPECT_EQ(gasnett_atomic64_add(&a, 4, GASNETT_ATOMIC_MB_PRE), 5u);
  EXPECT_EQ(gasnett_atomic64_subtract(&a, 7, 0), UINT64_MAX - 1);
  EXPECT_EQ(gasnett_atomic64_swap(&a, 3, 0), UINT64_MAX - 1);
  EXPECT_FALSE(gasnett_atomic64_compare_and_swap(&a, 4, 9, 0));
  EXPECT_TRUE(gasnett_atomic64_compare_and_swap(&a, 3, 1, 0));
  EXPECT_TRUE(gasnett_atomic64_decrement_and_test(&a, 0));
  EXPECT_EQ(gasnett_atomic64_read(&a, 0), 0u);
}

TEST(ToolsSingleThread, TypesHaveTheSizeOfTheThreadedOnes) {
  EXPECT_EQ(sizeof(gasnett_atomic_t), 4u);
  EXPECT_EQ(sizeof(gasnett_mutex_t), sizeof(pthread_mutex_t) + sizeof(uintptr_t));
}

TEST(ToolsSingleThread, LocksAreAlwaysFree) {
  gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  gasnett_mutex_lock(&mutex);
  gasnett_mutex_lock(&mutex);
  EXPECT_EQ(gasnett_mutex_trylock(&mutex), 0);
}

TEST(ToolsSingleThread, WaitingOnAConditionIsAnError) {
  gasnett_mutex_t mutex = GASNETT_MUTEX_INITIALIZER;
  gasnett_cond_t condition = GASNETT_COND_INITIALIZER;
  EXPECT_EXIT(gasnett_cond_wait(&condition, &mutex), testing::ExitedWithCode(1),
              "compiled for one thread");
}

TEST(ToolsSingleThread, IsWhatTheConfigurationAsksFor) {
  EXPECT_NE(std::string(GASNETT_CONFIG_STRING).find(",seq,"), std::string::npos);
  EXPECT_EQ(GASNETT_MAX_THREADS, 1);
}

}  // namespace
