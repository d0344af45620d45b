// Non-contiguous puts and gets that the network carries itself are complete while the peer does
// nothing; packed into messages they would wait for it. A program of its own, for two ranks over a
// network whose puts and gets need no polls of the peer; its argument is the number of pieces.

#include <gasnet_coll.h>
#include <gasnet_vis.h>
#include <gasnetex.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "require.h"
#include "signs.h"

namespace {

constexpr std::size_t piece = 1000;
constexpr std::size_t there = 1500;  // from one piece to the next, at the peer
constexpr std::size_t here = 1300;

unsigned char byte_of(std::size_t n) {
  return static_cast<unsigned char>(n * 7 + n / 251 + 1);
}

/// The pieces, between which there is nothing.
std::vector<unsigned char> pattern(std::size_t pieces, std::size_t stride) {
  std::vector<unsigned char> bytes(pieces * stride);
  for (std::size_t i = 0; i < pieces; ++i)
    for (std::size_t j = 0; j < piece; ++j) bytes[i * stride + j] = byte_of(i * piece + j);
  return bytes;
}

/// All forms of put, each to an area of its own, and of get from the first of these.
constexpr std::size_t areas = 5;

void transfer(gex_TM_t team, unsigned char* peer, std::size_t pieces) {
  const std::size_t area = pieces * there;
  const std::ptrdiff_t there_stride[] = {there};
  const std::ptrdiff_t here_stride[] = {here};
  std::vector<unsigned char> source = pattern(pieces, here);
  std::vector<void*> from(pieces), to(pieces), in_halves(2 * pieces);
  std::vector<gex_Memvec_t> from_blocks(pieces), to_blocks(2 * pieces);
  const auto aim = [&](unsigned char* at) {
    for (std::size_t i = 0; i < pieces; ++i) {
      from[i] = source.data() + i * here;
      to[i] = at + i * there;
      from_blocks[i] = {from[i], piece};
      for (const std::size_t half : {0U, 1U}) {
        in_halves[2 * i + half] = at + i * there + half * (piece / 2);
        to_blocks[2 * i + half] = {in_halves[2 * i + half], piece / 2};
      }
    }
  };

  REQUIRE(gex_VIS_StridedPutBlocking(team, 1, peer, there_stride, source.data(), here_stride, piece,
                                     &pieces, 1, 0) == 0);
  const gex_Event_t strided =
      gex_VIS_StridedPutNB(team, 1, peer + area, there_stride, source.data(), here_stride, piece,
                           &pieces, 1, GEX_FLAG_ENABLE_LEAF_LC);
  gex_Event_Wait(gex_Event_QueryLeaf(strided, GEX_EC_LC));
  gex_Event_Wait(strided);
  aim(peer + 2 * area);
  REQUIRE(gex_VIS_IndexedPutNBI(team, 1, 2 * pieces, in_halves.data(), piece / 2, pieces,
                                from.data(), piece, GEX_FLAG_ENABLE_LEAF_LC) == 0);
  gex_NBI_Wait(GEX_EC_LC, 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  aim(peer + 3 * area);
  gex_Event_Wait(
      gex_VIS_VectorPutNB(team, 1, 2 * pieces, to_blocks.data(), pieces, from_blocks.data(), 0));
  aim(peer + 4 * area);
  gex_Event_t immediate = GEX_EVENT_NO_OP;
  do {
    gasnet_AMPoll();
    immediate = gex_VIS_IndexedPutNB(team, 1, pieces, to.data(), piece, pieces, from.data(), piece,
                                     GEX_FLAG_IMMEDIATE);
  } while (immediate == GEX_EVENT_NO_OP);
  gex_Event_Wait(immediate);

  const std::vector<unsigned char> sent = source;
  const auto came_back = [&] {
    const bool is_same = source == sent;
    std::memset(source.data(), 0, source.size());
    return is_same;
  };
  std::memset(source.data(), 0, source.size());
  aim(peer);
  REQUIRE(gex_VIS_StridedGetBlocking(team, source.data(), here_stride, 1, peer, there_stride, piece,
                                     &pieces, 1, 0) == 0);
  REQUIRE(came_back());
  REQUIRE(gex_VIS_VectorGetNBI(team, pieces, from_blocks.data(), 1, 2 * pieces, to_blocks.data(),
                               0) == 0);
  gex_NBI_Wait(GEX_EC_GET, 0);
  REQUIRE(came_back());
  gex_Event_Wait(gex_VIS_IndexedGetNB(team, pieces, from.data(), piece, 1, 2 * pieces,
                                      in_halves.data(), piece / 2, 0));
  REQUIRE(came_back());
}

}  // namespace

int main(int argc, char** argv) {
  Signs signs;
  gex_Client_t client;
  gex_EP_t endpoint;
  gex_TM_t team;
  REQUIRE(gex_Client_Init(&client, &endpoint, &team, "VIS_PIECES", &argc, &argv, 0) == GASNET_OK);
  REQUIRE(gex_TM_QuerySize(team) == 2);
  REQUIRE(argc == 2);
  const auto pieces = static_cast<std::size_t>(std::atol(argv[1]));
  const std::size_t area = pieces * there;
  gex_Segment_t segment;
  const std::size_t pages = (areas * area + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE;
  REQUIRE(gex_Segment_Attach(&segment, team, pages * GASNET_PAGESIZE) == GASNET_OK);
  void* peer = nullptr;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, 1, &peer, nullptr, nullptr, 0));
  signs.introduce(team);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));

  if (gex_TM_QueryRank(team) == 0) {
    // Until the other has left the barrier, in which it polls.
    signs.wait();
    transfer(team, static_cast<unsigned char*>(peer), pieces);
    signs.give(1);
  } else {
    signs.give(0);
    signs.wait();
    const std::vector<unsigned char> expected = pattern(pieces, there);
    for (std::size_t i = 0; i < areas; ++i)
      REQUIRE(std::memcmp(static_cast<unsigned char*>(peer) + i * area, expected.data(), area) ==
              0);
  }
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  gasnet_exit(0);
}
