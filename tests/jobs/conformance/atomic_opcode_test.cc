// Atomic operations whose opcode is no constant, as the layers above have them: each
// with every combination of flags; and domains whose team's segments come and go.

#include "atomic_calls.h"

namespace conformance::atomic_opcode_test {
namespace {

using atomic_arithmetic::bits_of;
using atomic_arithmetic::is_fetching;
using atomic_arithmetic::operation_count;

/// The opcode, which the compiler cannot follow.
gex_OP_t hidden(gex_OP_t op) {
  const volatile gex_OP_t unknown = op;
  return unknown;
}

constexpr gex_Flags_t choices[] = {GEX_FLAG_IMMEDIATE,       GEX_FLAG_AD_ACQ,
                                   GEX_FLAG_AD_REL,          GEX_FLAG_RANK_IS_JOBRANK,
                                   GEX_FLAG_SELF_SEG_OFFSET, GEX_FLAG_PEER_SEG_OFFSET};

/// All combinations that may be given for that target.
std::vector<gex_Flags_t> combinations(gex_Rank_t target) {
  std::vector<gex_Flags_t> localities = {0};
  if (in_neighborhood(target)) localities.push_back(GEX_FLAG_AD_MY_NBRHD);
  if (target == rank()) localities.push_back(GEX_FLAG_AD_MY_RANK);
  std::vector<gex_Flags_t> all;
  for (const gex_Flags_t locality : localities) {
    for (unsigned chosen = 0; chosen < 1U << std::size(choices); ++chosen) {
      gex_Flags_t flags = locality;
      for (unsigned i = 0; i < std::size(choices); ++i)
        if ((chosen >> i & 1) != 0) flags |= choices[i];
      all.push_back(flags);
    }
  }
  return all;
}

template <class T>
class AtomicOpcode : public testing::Test {};
TYPED_TEST_SUITE(AtomicOpcode, AtomicTypes);

// The ranks share the combinations out among themselves: many ranks have few processors.
TYPED_TEST(AtomicOpcode, UnknownToTheCompilerTakesEveryCombinationOfFlags) {
  using T = TypeParam;
  const gex_AD_t ad = create_all<T>();
  atomic_arithmetic::Values<T> values(rank() * 100 + Functions<T>::dt);
  // Where this rank alone operates; and where results go, by pointer or offset.
  const std::size_t place = 4096 + rank() * 64;
  const std::size_t result_place = 65536;
  T& result = *reinterpret_cast<T*>(own_segment() + result_place);
  for (const gex_Rank_t target : {next(), rank()}) {
    const std::vector<gex_Flags_t> all_flags = combinations(target);
    T expected = values();
    once<T>(ad, target, segment_of(target) + place, GEX_OP_SET, expected);
    unsigned turn = 0;
    for (unsigned number = 0; number < operation_count; ++number) {
      const gex_OP_t op = gex_OP_t{1} << number;
      if ((op & atomic_arithmetic::operations<T>()) == 0) continue;
      for (const gex_Flags_t flags : all_flags) {
        if (++turn % size() != rank()) continue;
        const T op1 = values.number() % 2 == 0 ? values() : expected;
        const T op2 = values();
        result = T{99};
        Call<T> call{ad, &result, target, segment_of(target) + place, hidden(op), op1, op2, flags};
        if ((flags & GEX_FLAG_SELF_SEG_OFFSET) != 0)
          call.result = reinterpret_cast<T*>(result_place);
        if ((flags & GEX_FLAG_PEER_SEG_OFFSET) != 0) call.at = reinterpret_cast<void*>(place);
        // Explicit and implicit in turn.
        perform(call, turn / size() % 2 == 0 ? 1 : 3);
        ASSERT_EQ(bits_of(result), bits_of(is_fetching(op) ? expected : T{99}))
            << "operation " << op << ", flags " << flags << ", rank " << target;
        expected = atomic_arithmetic::after(op, expected, op1, op2);
      }
      ASSERT_EQ(bits_of(once<T>(ad, target, segment_of(target) + place, GEX_OP_GET)),
                bits_of(expected))
          << "operation " << op << ", rank " << target;
    }
  }
  barrier();
  gex_AD_Destroy(ad);
}

TYPED_TEST(AtomicOpcode, OperationsThatFetchNothingNeedNoPlaceForIt) {
  using T = TypeParam;
  const gex_AD_t ad = create_all<T>();
  std::byte* at = segment_of(next()) + 8 * rank();
  for (unsigned number = 0; number < operation_count; ++number) {
    const gex_OP_t op = gex_OP_t{1} << number;
    if ((op & atomic_arithmetic::operations<T>()) == 0 || is_fetching(op)) continue;
    once<T>(ad, next(), at, GEX_OP_SET, T{5});
    perform(Call<T>{ad, nullptr, next(), at, hidden(op), T{5}, T{7}, 0}, 1);
    EXPECT_EQ(bits_of(once<T>(ad, next(), at, GEX_OP_GET)),
              bits_of(atomic_arithmetic::after(op, T{5}, T{5}, T{7})))
        << "operation " << op;
  }
  barrier();
  gex_AD_Destroy(ad);
}

using Word = std::uint64_t;

/// An endpoint of this rank beside the primordial one, the same index on every rank.
gex_EP_t another_endpoint() {
  static const gex_EP_t made = [] {
    gex_EP_t endpoint = GEX_EP_INVALID;
    gex_EP_Create(&endpoint, client(), GEX_EP_CAPABILITY_ALL, 0);
    return endpoint;
  }();
  return made;
}

// What inline code reads of a domain follows the segments of its team, however many domains there
// are, and whichever of them have ended.
TEST(AtomicDomain, FollowsSegmentsThatArePublishedLater) {
  const gex_EP_t made = another_endpoint();
  gex_EP_t array[1] = {made};
  // Ranks turned around, so that a jobrank is not the rank of the team.
  std::vector<gex_EP_Location_t> list;
  for (gex_Rank_t r = size(); r-- > 0;) list.push_back({r, gex_EP_QueryIndex(made)});
  gex_TM_t tm = GEX_TM_INVALID;
  gex_TM_Create(&tm, 1, team(), list.data(), list.size(), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  const gex_Rank_t member = size() - 1 - next();
  constexpr gex_OP_t ops = GEX_OP_FADD | GEX_OP_SET;
  const gex_AD_t early = create(tm, GEX_DT_U64, ops);
  const gex_AD_t brief = create(tm, GEX_DT_U64, ops);
  Word round = 0;
  for (const bool of_client : {false, true, false}) {
    alignas(4096) static std::byte memory[8192];
    gex_Segment_t segment = GEX_SEGMENT_INVALID;
    ASSERT_EQ(gex_Segment_Create(&segment, client(), of_client ? memory : nullptr, sizeof memory,
                                 GEX_MK_HOST, 0),
              GASNET_OK);
    ASSERT_EQ(gex_EP_BindSegment(made, segment, 0), GASNET_OK);
    ASSERT_EQ(gex_EP_PublishBoundSegment(team(), array, 1, 0), GASNET_OK);
    if (++round == 2) gex_AD_Destroy(brief);
    auto* const own = static_cast<Word*>(gex_Segment_QueryAddr(segment));
    // A different place in each round, and what stood in it before.
    own[round] = 100 * round + rank();
    const std::vector<Word*> words = gather(own + round);
    const auto add_twice = [&](gex_AD_t ad) {
      for (const gex_Flags_t flags : {gex_Flags_t{0}, gex_Flags_t{GEX_FLAG_RANK_IS_JOBRANK}}) {
        // Each process has one endpoint in the team, which its jobrank names.
        const gex_Rank_t target = flags == 0 ? member : next();
        Word old = 0;
        const gex_OP_t op = hidden(GEX_OP_FADD);
        gex_Event_Wait(
            gex_AD_OpNB_U64(ad, &old, target, words[next()], op, Word{1} << 32, 0, flags));
        EXPECT_EQ(old & 0xffffffff, 100 * round + next());
      }
    };
    if (GEX_IS_READABLE_DOMAIN_(early)) {
      EXPECT_EQ(GEX_DOMAIN_DISPLACEMENT_(early)[2 * member], GEX_TEAM_DISPLACEMENT_(tm)[member]);
    }
    add_twice(early);
    const gex_AD_t late = create(tm, GEX_DT_U64, ops);
    add_twice(late);
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
    EXPECT_EQ(own[round], (Word{4} << 32) + 100 * round + rank());
    gex_AD_Destroy(late);
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
    ASSERT_EQ(gex_EP_BindSegment(made, GEX_SEGMENT_INVALID, 0), GASNET_OK);
    ASSERT_EQ(gex_EP_PublishBoundSegment(team(), array, 1, 0), GASNET_OK);
    gex_Segment_Destroy(segment, 0);
  }
  gex_AD_Destroy(early);
  gex_TM_Destroy(tm, nullptr, 0);
}

// Clients compiled against the first headers read them through two pointers.
TEST(AtomicDomain, HasItsDisplacementsTwice) {
  const gex_AD_t ad = create_all<Word>();
  // A network's or a checking library's domain is read by no inline code.
  if (GEX_IS_READABLE_DOMAIN_(ad)) {
    for (gex_Rank_t peer = 0; peer < size(); ++peer) {
      for (const unsigned by_jobrank : {0U, 1U}) {
        const intptr_t displacement = GEX_DOMAIN_DISPLACEMENT_(ad)[2 * peer + by_jobrank];
        EXPECT_EQ(displacement, GEX_DOMAIN_PREFIX_(ad)->displacement[by_jobrank][peer]);
        EXPECT_EQ((displacement & GEX_NOT_MAPPED_) == 0, in_neighborhood(peer));
      }
    }
  }
  barrier();
  gex_AD_Destroy(ad);
}

}  // namespace
}  // namespace conformance::atomic_opcode_test
