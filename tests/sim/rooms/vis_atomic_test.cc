// The carrier of non-contiguous transfers and atomic operations: the network or messages.

#include <gasnet_ratomic.h>

#include <cstdint>
#include <vector>

#include "atomic/domain.h"
#include "conformance.h"
#include "core/process.h"
#include "observe/restricted.h"
#include "rma/native.h"
#include "rma/rma.h"
#include "vis/native.h"

namespace gex {
namespace {

using conformance::next;
using conformance::own_segment;
using conformance::segment_of;

bool suits_network(std::size_t blocks, std::size_t each) {
  std::vector<void*> remote;
  std::vector<void*> local;
  const std::size_t stride = 2 * each;
  for (std::size_t i = 0; i < blocks; ++i) {
    remote.push_back(segment_of(next()) + i * stride);
    local.push_back(own_segment() + i * stride);
  }
  const std::size_t operations =
      vis::min_native_operations(vis::count_pieces(vis::BlockList(remote.data(), blocks, each),
                                                   vis::BlockList(local.data(), blocks, each)),
                                 blocks * each);
  return vis::suits_network(operations, blocks * each, /*message_bytes=*/32 * 1024);
}

TEST(VisWay, IsTheNetworksWhereThatTakesNoMoreOperationsThanMessages) {
  if (process().conduit == nullptr) return;  // sim.rooms.emu has one
  EXPECT_TRUE(suits_network(4, 256 * 1024)) << "few large blocks";
  EXPECT_FALSE(suits_network(100'000, 4))
      << "many small blocks, of which a message takes thousands";
}

TEST(DomainWay, IsTheNetworksUnlessMembersNearByAreToBeFast) {
  const auto is_for_network = [](gex_Flags_t flags) {
    gex_AD_t domain = GEX_AD_INVALID;
    gex_AD_Create(&domain, conformance::team(), GEX_DT_U64, GEX_OP_FADD | GEX_OP_GET, flags);
    const bool answer = atomic::Domain::from(domain).is_for_network();
    gex_AD_Destroy(domain);
    return answer;
  };
  EXPECT_EQ(is_for_network(0), process().conduit != nullptr);
  EXPECT_FALSE(is_for_network(GEX_FLAG_AD_FAVOR_MY_NBRHD));
  conformance::barrier();
}

}  // namespace
}  // namespace gex
