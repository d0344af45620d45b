// Put and get: every form, size, alignment, kind of memory and flag.

#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "transfer.h"

namespace conformance::rma_test {
namespace {

constexpr std::byte guard{0xEE};

/// Sizes around every boundary a transfer could be cut or copied by.
std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all;
  for (std::size_t bytes = 0; bytes <= 17; ++bytes) all.push_back(bytes);
  for (std::size_t power = 32; power <= 65536; power *= 2)
    for (std::size_t bytes : {power - 1, power, power + 1}) all.push_back(bytes);
  return all;
}

/// Transfers laid out one after the other, with guards between: byte for byte what memory has to
/// hold afterwards.
struct Layout {
  struct Piece {
    std::size_t offset;
    std::size_t bytes;
    std::size_t source_alignment;
  };
  std::vector<Piece> pieces;
  std::size_t end = 0;

  Layout() {
    std::size_t at = 16;
    for (std::size_t bytes : sizes()) {
      // Every alignment of both ends where copies differ by it, a mixed few for the long ones.
      const std::size_t alignments = bytes <= 17 ? 8 : 1;
      for (std::size_t i = 0; i < alignments; ++i) {
        at = (at + 7) / 8 * 8 + (i + bytes) % 8;
        pieces.push_back({at, bytes, (i * 3 + bytes) % 8});
        at += bytes + 5;
      }
    }
    end = at + 16;
  }
};

class EveryPut : public testing::TestWithParam<Put> {};
class EveryGet : public testing::TestWithParam<Get> {};

template <typename Form>
std::string test_name(const testing::TestParamInfo<Form>& info) {
  std::string text = name(info.param);
  std::erase(text, ' ');
  return text;
}

TEST_P(EveryPut, OfEverySizeAndAlignmentWritesThoseBytesAndNoOthers) {
  const Layout layout;
  ASSERT_LE(layout.end, segment_bytes);
  std::memset(own_segment(), std::to_integer<int>(guard), layout.end);
  barrier();
  std::vector<std::byte> source(65536 + 64);
  for (const Layout::Piece& piece : layout.pieces) {
    std::byte* from = source.data() + piece.source_alignment;
    fill(from, rank() * 1000 + piece.offset, piece.bytes);
    put(GetParam(), team(), next(), segment_of(next()) + piece.offset, from, piece.bytes);
    // Complete: the source is ours again.
    std::memset(from, 0x11, piece.bytes);
  }
  barrier();
  std::vector<std::byte> expected(layout.end, guard);
  for (const Layout::Piece& piece : layout.pieces)
    fill(expected.data() + piece.offset, previous() * 1000 + piece.offset, piece.bytes);
  EXPECT_TRUE(same_bytes(own_segment(), expected.data(), layout.end));
}

TEST_P(EveryGet, OfEverySizeAndAlignmentReadsThoseBytesAndNoOthers) {
  const Layout layout;
  fill(own_segment(), rank(), layout.end);
  barrier();
  const std::vector<std::byte> theirs = patterned(next(), layout.end);
  std::vector<std::byte> local(65536 + 64);
  for (const Layout::Piece& piece : layout.pieces) {
    std::fill(local.begin(), local.end(), guard);
    std::byte* to = local.data() + 16 + piece.source_alignment;
    get(GetParam(), team(), to, next(), segment_of(next()) + piece.offset, piece.bytes);
    EXPECT_TRUE(same_bytes(to, theirs.data() + piece.offset, piece.bytes))
        << piece.bytes << " bytes";
    EXPECT_EQ(to[-1], guard) << piece.bytes << " bytes";
    EXPECT_EQ(to[piece.bytes], guard) << piece.bytes << " bytes";
  }
}

TEST_P(EveryPut, OfAMebibyteAndOfAlmostTheWholeSegment) {
  std::uint64_t seed = 10;
  for (const std::size_t bytes : {std::size_t{1} << 20, segment_bytes - 3}) {
    const std::vector<std::byte> source = patterned(seed + rank(), bytes);
    barrier();
    put(GetParam(), team(), next(), segment_of(next()) + 3, source.data(), bytes);
    barrier();
    EXPECT_TRUE(holds(own_segment() + 3, seed + previous(), bytes));
    seed += 100;
  }
}

TEST_P(EveryGet, OfAMebibyteAndOfAlmostTheWholeSegment) {
  fill(own_segment(), 77 + rank(), segment_bytes);
  barrier();
  for (const std::size_t bytes : {std::size_t{1} << 20, segment_bytes}) {
    std::vector<std::byte> local(bytes);
    get(GetParam(), team(), local.data(), next(), segment_of(next()), bytes);
    EXPECT_TRUE(holds(local.data(), 77 + next(), bytes));
  }
}

TEST_P(EveryPut, ToSelf) {
  std::memset(own_segment(), 0, 8192);
  const std::vector<std::byte> source = patterned(5, 5000);
  put(GetParam(), team(), rank(), own_segment() + 1, source.data(), source.size());
  EXPECT_TRUE(holds(own_segment() + 1, 5, source.size()));
  EXPECT_EQ(own_segment()[0], std::byte{0});
  EXPECT_EQ(own_segment()[5001], std::byte{0});
}

TEST_P(EveryGet, FromSelf) {
  fill(own_segment(), 6, 5000);
  std::vector<std::byte> local(5000);
  get(GetParam(), team(), local.data(), rank(), own_segment(), local.size());
  EXPECT_TRUE(holds(local.data(), 6, local.size()));
}

TEST_P(EveryPut, FromEveryKindOfLocalMemory) {
  static std::byte global[256];
  static const char constant[] = "a source that no rank may write to, in read-only memory";
  std::byte stack[256];
  fill(global, 1, sizeof global);
  fill(stack, 2, sizeof stack);
  fill(own_segment() + 4096, 3 + rank(), 256);
  std::byte* to = segment_of(next());
  put(GetParam(), team(), next(), to, global, sizeof global);
  put(GetParam(), team(), next(), to + 256, stack, sizeof stack);
  put(GetParam(), team(), next(), to + 512, own_segment() + 4096, 256);
  put(GetParam(), team(), next(), to + 768, constant, sizeof constant);
  barrier();
  EXPECT_TRUE(holds(own_segment(), 1, 256));
  EXPECT_TRUE(holds(own_segment() + 256, 2, 256));
  EXPECT_TRUE(holds(own_segment() + 512, 3 + previous(), 256));
  EXPECT_TRUE(same_bytes(own_segment() + 768, constant, sizeof constant));
}

TEST_P(EveryPut, OfNothingAtTheVeryEndOfTheSegment) {
  own_segment()[0] = std::byte{7};
  std::byte source{9};
  put(GetParam(), team(), next(), segment_of(next()) + segment_bytes, &source, 0);
  put(GetParam(), team(), next(), segment_of(next()), &source, 0);
  barrier();
  EXPECT_EQ(own_segment()[0], std::byte{7});
}

TEST_P(EveryGet, OfNothing) {
  std::byte local{3};
  get(GetParam(), team(), &local, next(), segment_of(next()), 0);
  get(GetParam(), team(), &local, next(), segment_of(next()) + segment_bytes, 0);
  EXPECT_EQ(local, std::byte{3});
}

/// A disposition flag of one side, and the address argument that goes with it.
struct Disposition {
  gex_Flags_t flag;
  bool offset;
  bool in_segment;  ///< asserts that the range lies in a segment
};
constexpr Disposition self_dispositions[] = {{0, false, false},
                                             {GEX_FLAG_SELF_SEG_UNKNOWN, false, false},
                                             {GEX_FLAG_SELF_SEG_UNKNOWN, false, true},
                                             {GEX_FLAG_SELF_SEG_SOME, false, true},
                                             {GEX_FLAG_SELF_SEG_BOUND, false, true},
                                             {GEX_FLAG_SELF_SEG_OFFSET, true, true}};
constexpr Disposition peer_dispositions[] = {{0, false, true},
                                             {GEX_FLAG_PEER_SEG_UNKNOWN, false, true},
                                             {GEX_FLAG_PEER_SEG_SOME, false, true},
                                             {GEX_FLAG_PEER_SEG_BOUND, false, true},
                                             {GEX_FLAG_PEER_SEG_OFFSET, true, true}};

/// Every pair of dispositions, with a place of its own at both ends. `transfer` gets the two
/// address arguments, the local range and the flags.
template <typename F>
void for_every_disposition(std::byte* heap, F transfer) {
  std::size_t at = 0;  // The first offset is 0: a null pointer that is no error.
  for (const Disposition& self : self_dispositions) {
    for (const Disposition& peer : peer_dispositions) {
      std::byte* local = (self.in_segment ? own_segment() + 65536 : heap) + at;
      void* local_argument =
          self.offset ? reinterpret_cast<void*>(std::uintptr_t{65536} + at) : local;
      void* peer_argument = peer.offset ? reinterpret_cast<void*>(at) : segment_of(next()) + at;
      transfer(at, local, local_argument, peer_argument, self.flag | peer.flag);
      at += 64;
    }
  }
}

TEST_P(EveryPut, WithEverySegmentDisposition) {
  std::vector<std::byte> heap(4096);
  std::memset(own_segment(), 0, 4096);
  barrier();
  std::size_t end = 0;
  for_every_disposition(heap.data(), [&](std::size_t at, std::byte* local, void* local_argument,
                                         void* peer_argument, gex_Flags_t flags) {
    fill(local, rank() * 64 + at, 61);
    put(GetParam(), team(), next(), peer_argument, local_argument, 61, flags);
    end = at + 64;
  });
  barrier();
  for (std::size_t at = 0; at < end; at += 64)
    EXPECT_TRUE(holds(own_segment() + at, previous() * 64 + at, 61)) << "at " << at;
}

TEST_P(EveryGet, WithEverySegmentDisposition) {
  std::vector<std::byte> heap(4096);
  for (std::size_t at = 0; at < 4096; at += 64) fill(own_segment() + at, rank() * 64 + at, 64);
  barrier();
  for_every_disposition(heap.data(), [&](std::size_t at, std::byte* local, void* local_argument,
                                         void* peer_argument, gex_Flags_t flags) {
    std::memset(local, 0, 64);
    get(GetParam(), team(), local_argument, next(), peer_argument, 61, flags);
    EXPECT_TRUE(holds(local, next() * 64 + at, 61)) << "flags " << flags;
    EXPECT_EQ(local[61], std::byte{0});
  });
}

TEST_P(EveryPut, WithLocalCompletionCopyFlags) {
  for (const gex_Flags_t flag : {GEX_FLAG_LC_COPY_YES, GEX_FLAG_LC_COPY_NO}) {
    const std::vector<std::byte> source = patterned(flag + rank(), 9000);
    barrier();
    put(GetParam(), team(), next(), segment_of(next()), source.data(), source.size(), flag);
    barrier();
    EXPECT_TRUE(holds(own_segment(), flag + previous(), source.size()));
  }
}

TEST_P(EveryPut, WithTrueAssertionsAboutThePeer) {
  const std::vector<std::byte> source = patterned(40 + rank(), 300);
  std::size_t at = 0;
  const auto put_with = [&](gex_Flags_t flags) {
    put(GetParam(), team(), next(), segment_of(next()) + at, source.data(), source.size(), flags);
    at += 512;
  };
  put_with(0);
  if (next() != rank()) put_with(GEX_FLAG_PEER_NEVER_SELF);
  if (!in_neighborhood(next())) {
    put_with(GEX_FLAG_PEER_NEVER_NBRHD);
    put_with(GEX_FLAG_PEER_NEVER_NBRHD | GEX_FLAG_PEER_NEVER_SELF);
  }
  const std::vector<std::size_t> ends = gather(at);
  for (std::size_t i = 0; i < ends[previous()]; i += 512)
    EXPECT_TRUE(holds(own_segment() + i, 40 + previous(), source.size()));
}

TEST_P(EveryGet, WithTrueAssertionsAboutThePeer) {
  fill(own_segment(), 50 + rank(), 300);
  barrier();
  const auto get_with = [&](gex_Flags_t flags) {
    std::byte local[300] = {};
    get(GetParam(), team(), local, next(), segment_of(next()), sizeof local, flags);
    EXPECT_TRUE(holds(local, 50 + next(), sizeof local));
  };
  get_with(0);
  if (next() != rank()) get_with(GEX_FLAG_PEER_NEVER_SELF);
  if (!in_neighborhood(next())) {
    get_with(GEX_FLAG_PEER_NEVER_NBRHD);
    get_with(GEX_FLAG_PEER_NEVER_NBRHD | GEX_FLAG_PEER_NEVER_SELF);
  }
}

INSTANTIATE_TEST_SUITE_P(Rma, EveryPut, testing::ValuesIn(every_put), test_name<Put>);
INSTANTIATE_TEST_SUITE_P(Rma, EveryGet, testing::ValuesIn(every_get), test_name<Get>);

// The whole of the segment, the part that the harness keeps for its exchanges included: nothing is
// under way there between two barriers.
TEST(Rma, TheWholeSegmentByPutAndGet) {
  void* address = nullptr;
  uintptr_t bytes = 0;
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team(), next(), &address, nullptr, &bytes, 0));
  ASSERT_GE(bytes, segment_bytes);
  const std::vector<std::byte> source = patterned(rank() + 300, bytes);
  barrier();
  ASSERT_EQ(gex_RMA_PutBlocking(team(), next(), address, source.data(), bytes, 0), 0);
  barrier();
  EXPECT_TRUE(holds(gex_Segment_QueryAddr(segment()), previous() + 300, bytes));
  std::vector<std::byte> back(bytes);
  ASSERT_EQ(gex_RMA_GetBlocking(team(), back.data(), next(), address, bytes, 0), 0);
  EXPECT_TRUE(same_bytes(back.data(), source.data(), bytes));
}

TEST(Rma, EveryRankToEveryRank) {
  constexpr std::size_t bytes = 700;
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    const std::vector<std::byte> source = patterned(rank() * 100 + peer, bytes);
    gex_RMA_PutNBI(team(), peer, segment_of(peer) + rank() * 1024, source.data(), bytes,
                   GEX_EVENT_NOW, 0);
  }
  gex_NBI_Wait(GEX_EC_PUT, 0);
  barrier();
  for (gex_Rank_t peer = 0; peer < size(); ++peer)
    EXPECT_TRUE(holds(own_segment() + peer * 1024, peer * 100 + rank(), bytes)) << "from " << peer;
  std::vector<std::byte> back(size() * bytes);
  for (gex_Rank_t peer = 0; peer < size(); ++peer)
    gex_RMA_GetNBI(team(), back.data() + peer * bytes, peer, segment_of(peer) + rank() * 1024,
                   bytes, 0);
  gex_NBI_Wait(GEX_EC_GET, 0);
  for (gex_Rank_t peer = 0; peer < size(); ++peer)
    EXPECT_TRUE(holds(back.data() + peer * bytes, rank() * 100 + peer, bytes)) << "to " << peer;
}

TEST(Rma, AGetInitiatedBeforeAPutCompletesSeesEitherValueWhole) {
  // Same initiator, same bytes, no order: old or new, no third value in an aligned word.
  auto* word = reinterpret_cast<std::uint64_t*>(own_segment());
  *word = 0x1111111111111111U;
  barrier();
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t before = round % 2 == 0 ? 0x1111111111111111U : 0x2222222222222222U;
    const std::uint64_t after = 0x3333333333333333U - before;
    std::uint64_t seen = 0;
    const gex_Event_t g = gex_RMA_GetNB(team(), &seen, next(), segment_of(next()), 8, 0);
    const gex_Event_t p =
        gex_RMA_PutNB(team(), next(), segment_of(next()), &after, 8, GEX_EVENT_NOW, 0);
    gex_Event_Wait(g);
    gex_Event_Wait(p);
    EXPECT_TRUE(seen == before || seen == after) << std::hex << seen;
  }
}

// Source buffers: each kind of local completion, the source overwritten at the earliest moment that
// it allows, many under way at once.

constexpr std::size_t reuse_sizes[] = {1, 8, 64, 300, 5000, 70000};
constexpr std::size_t reuse_stride = 70016;
constexpr unsigned reuse_rounds = 8;

std::byte* reuse_target(unsigned round, unsigned i) {
  return segment_of(next()) + (round * std::size(reuse_sizes) + i) * reuse_stride;
}
static_assert(reuse_rounds * std::size(reuse_sizes) * reuse_stride <= segment_bytes);

void expect_reused_sources_arrived() {
  barrier();
  for (unsigned round = 0; round < reuse_rounds; ++round)
    for (unsigned i = 0; i < std::size(reuse_sizes); ++i)
      EXPECT_TRUE(holds(own_segment() + (round * std::size(reuse_sizes) + i) * reuse_stride,
                        previous() * 100 + round, reuse_sizes[i]))
          << reuse_sizes[i] << " bytes, round " << round;
}

TEST(SourceBuffer, IsOursAfterTheCallWithEventNow) {
  std::vector<std::byte> source(reuse_stride);
  std::vector<gex_Event_t> events;
  for (unsigned round = 0; round < reuse_rounds; ++round) {
    for (unsigned i = 0; i < std::size(reuse_sizes); ++i) {
      fill(source.data(), rank() * 100 + round, reuse_sizes[i]);
      if (round % 2 == 0)
        events.push_back(gex_RMA_PutNB(team(), next(), reuse_target(round, i), source.data(),
                                       reuse_sizes[i], GEX_EVENT_NOW, 0));
      else
        gex_RMA_PutNBI(team(), next(), reuse_target(round, i), source.data(), reuse_sizes[i],
                       GEX_EVENT_NOW, 0);
      std::memset(source.data(), 0xA5, reuse_sizes[i]);
    }
  }
  gex_Event_WaitAll(events.data(), events.size(), 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  expect_reused_sources_arrived();
}

TEST(SourceBuffer, IsOursAfterTheLeaf) {
  std::vector<std::byte> source(reuse_stride);
  std::vector<gex_Event_t> roots;
  for (unsigned round = 0; round < reuse_rounds; ++round) {
    for (unsigned i = 0; i < std::size(reuse_sizes); ++i) {
      fill(source.data(), rank() * 100 + round, reuse_sizes[i]);
      gex_Event_t leaf = GEX_EVENT_NO_OP;
      roots.push_back(gex_RMA_PutNB(team(), next(), reuse_target(round, i), source.data(),
                                    reuse_sizes[i], &leaf, 0));
      if (round % 2 == 0)
        gex_Event_Wait(leaf);
      else
        WAIT_UNTIL(gex_Event_Test(leaf) == GASNET_OK);
      std::memset(source.data(), 0xA5, reuse_sizes[i]);
    }
  }
  gex_Event_WaitAll(roots.data(), roots.size(), 0);
  expect_reused_sources_arrived();
}

TEST(SourceBuffer, IsOursAfterTheGroup) {
  std::vector<std::byte> source(reuse_stride * std::size(reuse_sizes));
  for (unsigned round = 0; round < reuse_rounds; ++round) {
    for (unsigned i = 0; i < std::size(reuse_sizes); ++i) {
      std::byte* from = source.data() + i * reuse_stride;
      fill(from, rank() * 100 + round, reuse_sizes[i]);
      gex_RMA_PutNBI(team(), next(), reuse_target(round, i), from, reuse_sizes[i], GEX_EVENT_GROUP,
                     0);
    }
    gex_NBI_Wait(GEX_EC_LC, 0);
    std::memset(source.data(), 0xA5, source.size());
  }
  gex_NBI_Wait(GEX_EC_PUT, 0);
  expect_reused_sources_arrived();
}

/// Memory of the system's own, again and again at one address.
class Remapped {
 public:
  explicit Remapped(std::size_t bytes) : bytes_(bytes), memory_(map(nullptr, 0)) {}
  ~Remapped() { munmap(memory_, bytes_); }
  Remapped(const Remapped&) = delete;
  Remapped& operator=(const Remapped&) = delete;

  std::byte* data() const { return memory_; }
  /// Other, empty memory takes its place.
  void renew() {
    munmap(memory_, bytes_);
    ASSERT_EQ(map(memory_, MAP_FIXED_NOREPLACE), memory_);
  }

 private:
  std::byte* map(void* place, int flags) const {
    void* made =
        mmap(place, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return made == MAP_FAILED ? nullptr : static_cast<std::byte*>(made);
  }

  std::size_t bytes_;
  std::byte* memory_;
};

// While the puts from it are still under way to their peer: what a network has remembered of the
// memory at an address must not outlive it.
TEST(SourceBuffer, MayBeUnmappedAndMappedAnewOnceItIsOurs) {
  Remapped source(reuse_stride);
  ASSERT_NE(source.data(), nullptr);
  std::vector<gex_Event_t> roots;
  for (unsigned round = 0; round < reuse_rounds; ++round) {
    for (unsigned i = 0; i < std::size(reuse_sizes); ++i) {
      fill(source.data(), rank() * 100 + round, reuse_sizes[i]);
      gex_Event_t leaf = GEX_EVENT_NO_OP;
      roots.push_back(gex_RMA_PutNB(team(), next(), reuse_target(round, i), source.data(),
                                    reuse_sizes[i], &leaf, 0));
      gex_Event_Wait(leaf);
      source.renew();
    }
  }
  gex_Event_WaitAll(roots.data(), roots.size(), 0);
  expect_reused_sources_arrived();
}

TEST(SourceBuffer, MayBeMemoryThatCannotBeWritten) {
  constexpr std::size_t bytes = 70000;
  Remapped source(bytes);
  ASSERT_NE(source.data(), nullptr);
  fill(source.data(), rank() + 300, bytes);
  ASSERT_EQ(mprotect(source.data(), bytes, PROT_READ), 0);
  gex_RMA_PutBlocking(team(), next(), segment_of(next()), source.data(), bytes, 0);
  barrier();
  EXPECT_TRUE(holds(own_segment(), previous() + 300, bytes));
  barrier();
}

TEST(Rma, TheDestinationOfAGetMayBeMappedAnewForTheNext) {
  constexpr std::size_t bytes = 70000;
  Remapped destination(bytes);
  ASSERT_NE(destination.data(), nullptr);
  fill(own_segment(), rank() + 400, bytes);
  barrier();
  for (int round = 0; round < 10; ++round) {
    gex_Event_Wait(gex_RMA_GetNB(team(), destination.data(), next(), segment_of(next()), bytes, 0));
    EXPECT_TRUE(holds(destination.data(), next() + 400, bytes)) << "round " << round;
    destination.renew();
  }
}

TEST(SourceBuffer, MayBeReadUntilTheRootWithEventDefer) {
  constexpr std::size_t pieces = std::size(reuse_sizes) * reuse_rounds;
  std::vector<std::byte> source(reuse_stride * pieces);
  std::vector<gex_Event_t> roots;
  for (unsigned round = 0; round < reuse_rounds; ++round) {
    for (unsigned i = 0; i < std::size(reuse_sizes); ++i) {
      std::byte* from = source.data() + (round * std::size(reuse_sizes) + i) * reuse_stride;
      fill(from, rank() * 100 + round, reuse_sizes[i]);
      if (round % 2 == 0)
        roots.push_back(gex_RMA_PutNB(team(), next(), reuse_target(round, i), from, reuse_sizes[i],
                                      GEX_EVENT_DEFER, 0));
      else
        gex_RMA_PutNBI(team(), next(), reuse_target(round, i), from, reuse_sizes[i],
                       GEX_EVENT_DEFER, 0);
    }
  }
  gex_Event_WaitAll(roots.data(), roots.size(), 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  std::memset(source.data(), 0xA5, source.size());
  expect_reused_sources_arrived();
}

// Many outstanding.

TEST(Outstanding, ThousandsOfPutsSynchronisedInAnyOrder) {
  constexpr std::size_t count = 6000;
  std::vector<gex_Event_t> events(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t value = (std::uint64_t{rank()} << 32) + i;
    events[i] =
        gex_RMA_PutNB(team(), next(), segment_of(next()) + 8 * i, &value, 8, GEX_EVENT_NOW, 0);
  }
  // A third backwards, a third in steps, the rest together.
  for (std::size_t i = count; i-- > 2 * count / 3;) gex_Event_Wait(events[i]);
  for (std::size_t step = 0; step < 7; ++step)
    for (std::size_t i = count / 3 + step; i < 2 * count / 3; i += 7) gex_Event_Wait(events[i]);
  gex_Event_WaitAll(events.data(), count / 3, 0);
  barrier();
  const auto* words = reinterpret_cast<const std::uint64_t*>(own_segment());
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(words[i], (std::uint64_t{previous()} << 32) + i);
}

TEST(Outstanding, ThousandsOfGets) {
  constexpr std::size_t count = 6000;
  auto* words = reinterpret_cast<std::uint64_t*>(own_segment());
  for (std::size_t i = 0; i < count; ++i) words[i] = (std::uint64_t{rank()} << 40) + i;
  barrier();
  std::vector<std::uint64_t> local(count);
  std::vector<gex_Event_t> events(count);
  for (std::size_t i = 0; i < count; ++i)
    events[i] = gex_RMA_GetNB(team(), &local[i], next(), segment_of(next()) + 8 * i, 8, 0);
  gex_Event_WaitAll(events.data(), count, 0);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(local[i], (std::uint64_t{next()} << 40) + i);
}

TEST(Outstanding, ThousandsOfImplicitTransfersToAndFromAllRanks) {
  constexpr std::size_t each = 3000;
  constexpr std::size_t puts_at = 1 << 20;
  auto* words = reinterpret_cast<std::uint64_t*>(own_segment());
  for (std::size_t i = 0; i < each; ++i) words[i] = rank() * each + i;
  barrier();
  std::vector<std::uint64_t> local(each);
  for (std::size_t i = 0; i < each; ++i) {
    const auto peer = static_cast<gex_Rank_t>((rank() + i) % size());
    gex_RMA_GetNBI(team(), &local[i], peer, segment_of(peer) + 8 * i, 8, 0);
    const std::uint64_t value = ~i;
    // Each word of a rank is written by one peer.
    gex_RMA_PutNBI(team(), peer, segment_of(peer) + puts_at + 8 * i, &value, 8, GEX_EVENT_NOW, 0);
  }
  gex_NBI_Wait(GEX_EC_ALL, 0);
  for (std::size_t i = 0; i < each; ++i) ASSERT_EQ(local[i], (rank() + i) % size() * each + i);
  barrier();
  for (std::size_t i = 0; i < each; ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, own_segment() + puts_at + 8 * i, 8);
    ASSERT_EQ(value, ~i);
  }
}

TEST(Flags, AnEmptyRangeIsInEverySegment) {
  gex_Event_t event = gex_RMA_PutNB(team(), next(), segment_of(next()), nullptr, 0, GEX_EVENT_NOW,
                                    GEX_FLAG_SELF_SEG_BOUND);
  gex_Event_Wait(event);
  EXPECT_EQ(gex_RMA_GetBlocking(team(), &event, next(), segment_of(next()), 0,
                                GEX_FLAG_SELF_SEG_BOUND | GEX_FLAG_PEER_SEG_BOUND),
            0);
}

// GEX_FLAG_LC_COPY_YES: the source may be reused on return, whatever the network does with it.

TEST(LocalCopy, TheSourceMayBeReusedOnReturn) {
  constexpr std::size_t max = 60000;
  std::size_t at = 0;
  for (const std::size_t size : {std::size_t{1}, std::size_t{9000}, max}) {
    barrier();
    const std::vector<std::byte> pattern = patterned(size + rank(), size);
    std::vector<std::byte> source = pattern;
    std::byte* to = segment_of(next()) + at;
    gex_Event_t local = GEX_EVENT_NO_OP;
    const gex_Event_t whole =
        gex_RMA_PutNB(team(), next(), to, source.data(), size, &local, GEX_FLAG_LC_COPY_YES);
    std::memset(source.data(), 0, size);
    EXPECT_EQ(local, GEX_EVENT_INVALID);
    gex_Event_Wait(whole);

    source = pattern;
    gex_RMA_PutNBI(team(), next(), to + max, source.data(), size, GEX_EVENT_GROUP,
                   GEX_FLAG_LC_COPY_YES);
    EXPECT_EQ(gex_NBI_Test(GEX_EC_LC, 0), GASNET_OK);
    std::memset(source.data(), 0, size);
    gex_NBI_Wait(GEX_EC_PUT, 0);
    barrier();
    EXPECT_TRUE(holds(own_segment() + at, size + previous(), size));
    EXPECT_TRUE(holds(own_segment() + at + max, size + previous(), size));
    at += 2 * max;
  }
}

// More than is copied at a time: what is not waits for its source.
TEST(LocalCopy, OfMoreThanIsCopiedAtATime) {
  constexpr std::size_t size = std::size_t{1} << 20;
  constexpr std::size_t places = 3;
  constexpr std::size_t count = 20;
  std::vector<std::vector<std::byte>> sources;
  for (std::size_t i = 0; i < count; ++i) sources.push_back(patterned(i % places + rank(), size));
  std::vector<gex_Event_t> whole(count), local(count, GEX_EVENT_INVALID);
  for (std::size_t i = 0; i < count; ++i) {
    whole[i] = gex_RMA_PutNB(team(), next(), segment_of(next()) + i % places * size,
                             sources[i].data(), size, &local[i], GEX_FLAG_LC_COPY_YES);
    if (local[i] == GEX_EVENT_INVALID) std::memset(sources[i].data(), 0, size);
  }
  for (std::size_t i = 0; i < count; ++i) {
    gex_Event_Wait(local[i]);
    std::memset(sources[i].data(), 0, size);
  }
  gex_Event_WaitAll(whole.data(), count, 0);
  barrier();
  for (std::size_t place = 0; place < places; ++place)
    EXPECT_TRUE(holds(own_segment() + place * size, place + previous(), size));
  barrier();
}

// GEX_FLAG_IMMEDIATE: either all of it is under way, or nothing happened.

TEST(Immediate, PutsAndGetsAreDoneOrRefusedWhole) {
  constexpr std::size_t count = 1000;
  std::memset(own_segment(), 0, count * 8);
  barrier();
  std::vector<gex_Event_t> events;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t value = i + 1;
    std::byte* to = segment_of(next()) + 8 * i;
    gex_Event_t event = GEX_EVENT_NO_OP;
    retry([&] {
      event = gex_RMA_PutNB(team(), next(), to, &value, 8, GEX_EVENT_NOW, GEX_FLAG_IMMEDIATE);
      return event != GEX_EVENT_NO_OP;
    });
    if (event != GEX_EVENT_INVALID) events.push_back(event);
  }
  gex_Event_WaitAll(events.data(), events.size(), 0);
  barrier();
  const auto* words = reinterpret_cast<const std::uint64_t*>(own_segment());
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(words[i], i + 1);
  std::vector<std::uint64_t> local(count);
  for (std::size_t i = 0; i < count; ++i)
    retry([&] {
      return gex_RMA_GetNBI(team(), &local[i], next(), segment_of(next()) + 8 * i, 8,
                            GEX_FLAG_IMMEDIATE) == 0;
    });
  gex_NBI_Wait(GEX_EC_GET, 0);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(local[i], i + 1);
}

TEST(Immediate, BlockingAndImplicitForms) {
  std::memset(own_segment(), 0, 65536);
  barrier();
  const std::vector<std::byte> source = patterned(rank() + 9, 20000);
  retry([&] {
    return gex_RMA_PutBlocking(team(), next(), segment_of(next()), source.data(), 20000,
                               GEX_FLAG_IMMEDIATE) == 0;
  });
  retry([&] {
    return gex_RMA_PutNBI(team(), next(), segment_of(next()) + 20000, source.data(), 20000,
                          GEX_EVENT_DEFER, GEX_FLAG_IMMEDIATE) == 0;
  });
  retry([&] {
    return gex_RMA_PutBlockingVal(team(), next(), segment_of(next()) + 40000, 0x1234, 2,
                                  GEX_FLAG_IMMEDIATE) == 0;
  });
  retry([&] {
    return gex_RMA_PutNBIVal(team(), next(), segment_of(next()) + 40002, 0x5678, 2,
                             GEX_FLAG_IMMEDIATE) == 0;
  });
  gex_NBI_Wait(GEX_EC_PUT, 0);
  gex_Event_t event = GEX_EVENT_NO_OP;
  retry([&] {
    event =
        gex_RMA_PutNBVal(team(), next(), segment_of(next()) + 40004, 0x9abc, 2, GEX_FLAG_IMMEDIATE);
    return event != GEX_EVENT_NO_OP;
  });
  gex_Event_Wait(event);
  barrier();
  EXPECT_TRUE(holds(own_segment(), previous() + 9, 20000));
  EXPECT_TRUE(holds(own_segment() + 20000, previous() + 9, 20000));
  std::uint16_t values[3];
  std::memcpy(values, own_segment() + 40000, sizeof values);
  EXPECT_EQ(values[0], 0x1234);
  EXPECT_EQ(values[1], 0x5678);
  EXPECT_EQ(values[2], 0x9abc);
  std::vector<std::byte> local(20000);
  retry([&] {
    return gex_RMA_GetBlocking(team(), local.data(), next(), segment_of(next()), 20000,
                               GEX_FLAG_IMMEDIATE) == 0;
  });
  EXPECT_TRUE(same_bytes(local.data(), source.data(), 20000));
}

}  // namespace
}  // namespace conformance::rma_test
