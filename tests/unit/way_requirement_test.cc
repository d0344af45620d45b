// GEX_REQUIRE: what its entries accept.

#include "way/requirement.h"

#include <gtest/gtest.h>

#include "core/memory_class.h"

namespace gex {
namespace {

const MemoryClassInfo cuda_class{.memory_class = net::cuda_memory,
                                 .name = "CUDA",
                                 .entry = "cuda",
                                 .sharing = nullptr,
                                 .describe_unknown = nullptr,
                                 .unpin = nullptr};

TEST(Requirement, NothingIsRequiredByNothing) {
  EXPECT_TRUE(Requirement().empty());
  EXPECT_TRUE(Requirement(" , ,").empty());
  EXPECT_FALSE(Requirement("shm").empty());
}

TEST(Requirement, SharedMemoryHasTwoNames) {
  EXPECT_TRUE(Requirement("shm").accepts_shared_memory());
  EXPECT_TRUE(Requirement("ofi, smp").accepts_shared_memory());
  EXPECT_FALSE(Requirement("ofi:shm").accepts_shared_memory());
}

TEST(Requirement, ANetworkWithoutAWayIsAcceptedWithAny) {
  const Requirement required("shm, ofi");
  EXPECT_TRUE(required.accepts("ofi", ""));
  EXPECT_TRUE(required.accepts("ofi", "tcp;ofi_rxm"));
  EXPECT_FALSE(required.accepts("of", ""));
  EXPECT_FALSE(required.accepts("emu", ""));
}

TEST(Requirement, AWayIsAllOfTheNameOrWordsOfIt) {
  const Requirement required("ofi:verbs");
  EXPECT_TRUE(required.accepts("ofi", "verbs"));
  EXPECT_TRUE(required.accepts("ofi", "verbs;ofi_rxm"));
  EXPECT_TRUE(required.accepts("ofi", "tcp or verbs"));
  EXPECT_FALSE(required.accepts("ofi", "tcp;ofi_rxm"));
  EXPECT_FALSE(required.accepts("ofi", "verbs2"));
  EXPECT_FALSE(required.accepts("ofi", ""));
  EXPECT_FALSE(required.accepts("ucx", "verbs"));
  EXPECT_TRUE(Requirement("ofi:tcp;ofi_rxm").accepts("ofi", "tcp;ofi_rxm"));
  EXPECT_TRUE(Requirement("ucx:rc_mlx5/mlx5_0:1").accepts("ucx", "rc_mlx5/mlx5_0:1"));
  const Requirement layered("ofi:verbs;ofi_rxm");
  EXPECT_TRUE(layered.accepts("ofi", "verbs;ofi_rxm/mlx5_0"));
  EXPECT_TRUE(layered.accepts("ofi", "tcp or verbs;ofi_rxm"));
  EXPECT_FALSE(layered.accepts("ofi", "verbs;ofi_rxm2"));
  EXPECT_FALSE(layered.accepts("ofi", "xverbs;ofi_rxm"));
  EXPECT_TRUE(Requirement("ofi:mlx5_0").accepts("ofi", "verbs;ofi_rxm/mlx5_0"));
}

TEST(Requirement, OneOfTheEntriesIsEnough) {
  const Requirement required("ofi:cxi,ofi:verbs");
  EXPECT_TRUE(required.accepts("ofi", "cxi"));
  EXPECT_TRUE(required.accepts("ofi", "verbs;ofi_rxm"));
  EXPECT_FALSE(required.accepts("ofi", "tcp"));
}

TEST(Requirement, TheFirstUnknownNetworkIsNamed) {
  const Requirement required("shm,ofi:verbs,ofx:verbs,nosuch");
  EXPECT_EQ(required.first_unknown({"emu", "ofi"}), "ofx");
  EXPECT_EQ(required.first_unknown({"emu", "ofi", "ofx", "nosuch"}), "");
  EXPECT_EQ(Requirement("shm,smp").first_unknown({}), "");
}

TEST(Requirement, KindsOfMemoryAreNoNetworks) {
  EXPECT_EQ(Requirement("cuda:ipc").first_unknown({}), "cuda");
  register_memory_class(cuda_class);
  const Requirement required("cuda:ipc,cuda:native");
  EXPECT_FALSE(required.is_about_pairs());
  EXPECT_TRUE(Requirement("cuda:ipc,shm").is_about_pairs());
  EXPECT_TRUE(required.names("cuda"));
  EXPECT_FALSE(required.names("ofi"));
  EXPECT_EQ(required.first_unknown({}), "");
  EXPECT_TRUE(required.accepts("cuda", "ipc descriptor"));
  EXPECT_TRUE(required.accepts("cuda", "native ofi"));
  EXPECT_FALSE(required.accepts("cuda", "messages"));
}

}  // namespace
}  // namespace gex
