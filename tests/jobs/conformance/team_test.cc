// Teams: split, create, destroy, pairs, translations, and put and get through them.

#include <algorithm>
#include <climits>

#include "transfer.h"

namespace conformance::team_test {
namespace {

void barrier_over(gex_TM_t tm) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}

/// Splits without scratch.
gex_TM_t split(gex_TM_t parent, int color, int key) {
  gex_TM_t made = GEX_TM_INVALID;
  gex_TM_Split(&made, parent, color, key, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  return made;
}

/// Everything a team of these jobranks must answer, use included. Collective over the team.
void expect_team(gex_TM_t tm, const std::vector<gex_Rank_t>& jobranks) {
  ASSERT_NE(tm, GEX_TM_INVALID);
  ASSERT_EQ(gex_TM_QuerySize(tm), jobranks.size());
  ASSERT_LT(gex_TM_QueryRank(tm), jobranks.size());
  EXPECT_EQ(jobranks[gex_TM_QueryRank(tm)], rank());
  EXPECT_EQ(gex_TM_QueryClient(tm), client());
  EXPECT_EQ(gex_TM_QueryEP(tm), endpoint());
  EXPECT_EQ(gex_TM_QueryCData(tm), nullptr);
  for (gex_Rank_t r = 0; r < jobranks.size(); ++r) {
    EXPECT_EQ(gex_TM_TranslateRankToJobrank(tm, r), jobranks[r]);
    const gex_EP_Location_t location = gex_TM_TranslateRankToEP(tm, r, 0);
    EXPECT_EQ(location.gex_rank, jobranks[r]);
    EXPECT_EQ(location.gex_ep_index, 0);
    void* address = nullptr;
    uintptr_t bytes = 0;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(tm, r, &address, nullptr, &bytes, 0));
    EXPECT_EQ(address, segment_of(jobranks[r]));
    EXPECT_GE(bytes, segment_bytes);
  }
  for (gex_Rank_t jobrank = 0; jobrank < size(); ++jobrank) {
    const auto at = std::find(jobranks.begin(), jobranks.end(), jobrank);
    EXPECT_EQ(
        gex_TM_TranslateJobrankToRank(tm, jobrank),
        at == jobranks.end() ? GEX_RANK_INVALID : static_cast<gex_Rank_t>(at - jobranks.begin()));
  }
  // Transfers name their peers by the team's ranks.
  const auto after = static_cast<gex_Rank_t>((gex_TM_QueryRank(tm) + 1) % jobranks.size());
  const auto before =
      static_cast<gex_Rank_t>((gex_TM_QueryRank(tm) + jobranks.size() - 1) % jobranks.size());
  std::byte* place = segment_of(jobranks[after]) + 1000;
  const std::vector<std::byte> source = patterned(rank() + jobranks.size() * 64, 900);
  barrier_over(tm);
  for (const Put form : every_put) {
    std::memset(own_segment() + 1000, 0, 900);
    barrier_over(tm);
    put(form, tm, after, place, source.data(), source.size());
    barrier_over(tm);
    EXPECT_TRUE(holds(own_segment() + 1000, jobranks[before] + jobranks.size() * 64, 900))
        << name(form);
  }
  for (const Get form : every_get) {
    std::vector<std::byte> back(900);
    get(form, tm, back.data(), after, place, back.size());
    EXPECT_TRUE(same_bytes(back.data(), source.data(), back.size())) << name(form);
  }
  EXPECT_EQ(gex_RMA_GetBlockingVal(tm, after, place, 1, 0), std::to_integer<unsigned>(source[0]));
  barrier_over(tm);
}

/// Jobranks first, first + step, ... below the job's size.
std::vector<gex_Rank_t> every(gex_Rank_t step, gex_Rank_t first) {
  std::vector<gex_Rank_t> ranks;
  for (gex_Rank_t r = first; r < size(); r += step) ranks.push_back(r);
  return ranks;
}

TEST(Team, ThePrimordialOneIsTheJobInOrder) {
  EXPECT_EQ(gex_TM_QueryRank(team()), gex_System_QueryJobRank());
  EXPECT_EQ(gex_TM_QuerySize(team()), gex_System_QueryJobSize());
  EXPECT_EQ(gex_TM_QueryFlags(team()), 0U);
  expect_team(team(), every(1, 0));
}

TEST(Split, ByColorOrderedByKey) {
  for (const gex_Rank_t colors : {1U, 2U, 3U}) {
    std::vector<gex_Rank_t> mine = every(colors, rank() % colors);
    const gex_TM_t kept = split(team(), static_cast<int>(rank() % colors), 7);
    expect_team(kept, mine);
    std::reverse(mine.begin(), mine.end());
    const gex_TM_t turned =
        split(team(), static_cast<int>(rank() % colors), -static_cast<int>(rank()));
    expect_team(turned, mine);
    gex_TM_Destroy(kept, nullptr, 0);
    gex_TM_Destroy(turned, nullptr, 0);
  }
}

TEST(Split, TakesTheWholeRangeOfColorsAndKeys) {
  // Two colours at the ends of their range; keys whose difference does not fit an int.
  const bool even = rank() % 2 == 0;
  const int key = rank() % 4 < 2 ? INT_MAX : INT_MIN;
  const gex_TM_t tm = split(team(), even ? 0 : INT_MAX, key);
  std::vector<gex_Rank_t> wanted;
  for (const bool high : {false, true})
    for (const gex_Rank_t r : every(2, rank() % 2))
      if ((r % 4 < 2) == high) wanted.push_back(r);
  expect_team(tm, wanted);
  gex_TM_Destroy(tm, nullptr, 0);
}

TEST(Split, LeavesOutWhoPassesNull) {
  // Exclusion is the pointer; the excluded pass the others' colour.
  for (gex_Rank_t excluded = 0; excluded < size(); ++excluded) {
    gex_TM_t tm = GEX_TM_INVALID;
    gex_TM_Split(rank() == excluded ? nullptr : &tm, team(), 3, 0, nullptr, 0,
                 GEX_FLAG_TM_NO_SCRATCH);
    if (rank() != excluded) {
      std::vector<gex_Rank_t> wanted = every(1, 0);
      wanted.erase(wanted.begin() + excluded);
      expect_team(tm, wanted);
      gex_TM_Destroy(tm, nullptr, 0);
    } else {
      EXPECT_EQ(tm, GEX_TM_INVALID);
    }
    barrier();
  }
  // No rank at all.
  gex_TM_Split(nullptr, team(), 0, 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
}

TEST(Split, OfTeamsOfTeams) {
  gex_TM_t levels[6] = {team()};
  std::vector<gex_Rank_t> members = every(1, 0);
  int depth = 0;
  while (members.size() > 1 && depth < 5) {
    const gex_TM_t parent = levels[depth];
    const gex_Rank_t own = gex_TM_QueryRank(parent);
    // Halves, the upper one in reverse.
    const bool upper = own >= members.size() / 2;
    levels[++depth] = split(parent, upper ? 1 : 0, upper ? -static_cast<int>(own) : 0);
    std::vector<gex_Rank_t> half;
    if (upper) {
      half.assign(members.begin() + static_cast<std::ptrdiff_t>(members.size() / 2), members.end());
      std::reverse(half.begin(), half.end());
    } else {
      half.assign(members.begin(),
                  members.begin() + static_cast<std::ptrdiff_t>(members.size() / 2));
    }
    members = half;
    expect_team(levels[depth], members);
  }
  // A parent may go before its children.
  for (int level = 1; level <= depth; ++level) {
    if (level < depth) barrier_over(levels[level]);
    gex_TM_Destroy(levels[level], nullptr, 0);
  }
}

TEST(Split, RecommendsAScratchSizeToMembersOnly) {
  gex_TM_t tm = GEX_TM_INVALID;
  const bool member = rank() % 2 == 0;
  for (int round = 0; round < 2; ++round) {
    const std::size_t recommended = gex_TM_Split(member ? &tm : nullptr, team(), 0, 0, nullptr, 0,
                                                 GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
    EXPECT_EQ(tm, GEX_TM_INVALID) << "a query created a team";
    const std::vector<std::size_t> of_all = gather(recommended);
    for (gex_Rank_t peer = 0; peer < size(); ++peer) {
      if (peer % 2 == 0) {
        EXPECT_EQ(of_all[peer], GASNET_PAGESIZE);
      } else {
        EXPECT_EQ(of_all[peer], 0U);
      }
    }
  }
}

TEST(Split, ReturnsExactlyTheScratchItWasGiven) {
  for (const std::size_t bytes :
       {std::size_t{GASNET_PAGESIZE}, std::size_t{65536}, std::size_t{64}}) {
    gex_TM_t tm = GEX_TM_INVALID;
    void* scratch = own_segment() + 8192 + 4096 * rank();
    gex_TM_Split(&tm, team(), static_cast<int>(rank() % 2), 0, scratch, bytes, 0);
    EXPECT_EQ(gex_TM_QueryFlags(tm) & GEX_FLAG_TM_NO_SCRATCH, 0U);
    for (int i = 0; i < 20; ++i) barrier_over(tm);
    gex_Memvec_t returned{nullptr, 0};
    EXPECT_NE(gex_TM_Destroy(tm, &returned, 0), 0);
    EXPECT_EQ(returned.gex_addr, scratch);
    EXPECT_EQ(returned.gex_len, bytes);
  }
  // And nothing where nothing was given.
  const gex_TM_t tm = split(team(), 0, 0);
  EXPECT_EQ(gex_TM_QueryFlags(tm) & GEX_FLAG_TM_NO_SCRATCH, GEX_FLAG_TM_NO_SCRATCH);
  int untouched = 0;
  gex_Memvec_t returned{&untouched, 12345};
  EXPECT_EQ(gex_TM_Destroy(tm, &returned, 0), 0);
  EXPECT_EQ(returned.gex_addr, &untouched);
  EXPECT_EQ(returned.gex_len, 12345U);
}

TEST(Split, ScratchMayBeDroppedAtDestroy) {
  gex_TM_t tm = GEX_TM_INVALID;
  gex_TM_Split(&tm, team(), 0, 0, own_segment(), GASNET_PAGESIZE, 0);
  // Non-zero would report that it was written somewhere.
  EXPECT_EQ(gex_TM_Destroy(tm, nullptr, 0), 0);
}

// Create

TEST(Create, InTheOrderOfTheList) {
  // All ranks, backwards.
  std::vector<gex_EP_Location_t> list;
  std::vector<gex_Rank_t> jobranks;
  for (gex_Rank_t r = size(); r-- > 0;) {
    list.push_back({r, 0});
    jobranks.push_back(r);
  }
  gex_TM_t tm = GEX_TM_INVALID;
  gex_TM_Create(&tm, 1, team(), list.data(), list.size(), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  expect_team(tm, jobranks);
  gex_TM_Destroy(tm, nullptr, 0);
}

TEST(Create, SeveralTeamsInOneCall) {
  // Disjoint lists, one each; who is in none takes part with an empty one.
  const gex_Rank_t colour = rank() % 3;
  const std::vector<gex_Rank_t> jobranks = every(3, colour);
  std::vector<gex_EP_Location_t> list;
  for (const gex_Rank_t r : jobranks) list.push_back({r, 0});
  gex_TM_t tm = GEX_TM_INVALID;
  if (colour == 2)
    gex_TM_Create(nullptr, 0, team(), nullptr, 0, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  else
    gex_TM_Create(&tm, 1, team(), list.data(), list.size(), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  if (colour != 2) {
    expect_team(tm, jobranks);
    gex_TM_Destroy(tm, nullptr, 0);
  } else {
    EXPECT_EQ(tm, GEX_TM_INVALID);
  }
}

TEST(Create, RanksAreTheParentsOrTheJobs) {
  // A parent whose ranks are not jobranks.
  const gex_TM_t parent = split(team(), 0, -static_cast<int>(rank()));
  std::vector<gex_EP_Location_t> list;
  for (gex_Rank_t r = 0; r < size(); ++r) list.push_back({r, 0});
  gex_TM_t by_rank = GEX_TM_INVALID;
  gex_TM_t by_jobrank = GEX_TM_INVALID;
  gex_TM_Create(&by_rank, 1, parent, list.data(), list.size(), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  gex_TM_Create(&by_jobrank, 1, parent, list.data(), list.size(), nullptr, 0,
                GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_RANK_IS_JOBRANK);
  std::vector<gex_Rank_t> jobranks = every(1, 0);
  expect_team(by_jobrank, jobranks);
  std::reverse(jobranks.begin(), jobranks.end());
  expect_team(by_rank, jobranks);
  gex_TM_Destroy(by_rank, nullptr, 0);
  gex_TM_Destroy(by_jobrank, nullptr, 0);
  gex_TM_Destroy(parent, nullptr, 0);
}

TEST(Create, EveryFormOfScratchComesBack) {
  std::vector<gex_EP_Location_t> list;
  std::vector<gex_Addr_t> global;
  for (gex_Rank_t r = 0; r < size(); ++r) {
    list.push_back({r, 0});
    global.push_back(segment_of(r) + 4096 * (r + 1));
  }
  struct Form {
    gex_Flags_t flags;
    std::vector<gex_Addr_t> addresses;
    void* expected;
  };
  const auto offset = [](std::size_t bytes) { return reinterpret_cast<gex_Addr_t>(bytes); };
  std::vector<Form> forms = {
      {GEX_FLAG_TM_LOCAL_SCRATCH, {own_segment() + 12288}, own_segment() + 12288},
      {GEX_FLAG_TM_GLOBAL_SCRATCH, global, own_segment() + 4096 * (rank() + 1)},
      {GEX_FLAG_TM_SYMMETRIC_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET,
       {offset(8192)},
       own_segment() + 8192},
      {GEX_FLAG_TM_LOCAL_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET,
       {offset(4096 * rank())},
       own_segment() + 4096 * rank()},
  };
  std::vector<gex_Addr_t> global_offsets;
  for (gex_Rank_t r = 0; r < size(); ++r) global_offsets.push_back(offset(64 * r));
  forms.push_back({GEX_FLAG_TM_GLOBAL_SCRATCH | GEX_FLAG_SCRATCH_SEG_OFFSET, global_offsets,
                   own_segment() + 64 * rank()});
  // A symmetric address is one where all segments lie alike: alone, or by chance.
  const std::vector<std::byte*> starts = gather(own_segment());
  if (std::all_of(starts.begin(), starts.end(), [&](std::byte* at) { return at == starts[0]; }))
    forms.push_back({GEX_FLAG_TM_SYMMETRIC_SCRATCH, {own_segment() + 4096}, own_segment() + 4096});
  for (Form& form : forms) {
    gex_TM_t tm = GEX_TM_INVALID;
    gex_TM_Create(&tm, 1, team(), list.data(), list.size(), form.addresses.data(), 4096,
                  form.flags);
    barrier_over(tm);
    gex_Memvec_t returned{nullptr, 0};
    EXPECT_NE(gex_TM_Destroy(tm, &returned, 0), 0) << "flags " << form.flags;
    EXPECT_EQ(returned.gex_addr, form.expected) << "flags " << form.flags;
    EXPECT_EQ(returned.gex_len, 4096U);
  }
}

TEST(Create, RecommendsAScratchSizeToMembersOnly) {
  std::vector<gex_EP_Location_t> list;
  for (const gex_Rank_t r : every(2, 0)) list.push_back({r, 0});
  const bool member = rank() % 2 == 0;
  gex_TM_t tm = GEX_TM_INVALID;
  const std::size_t recommended = gex_TM_Create(
      member ? &tm : nullptr, member ? 1 : 0, team(), list.data(), member ? list.size() : 0,
      nullptr, 0, GEX_FLAG_TM_NO_SCRATCH | GEX_FLAG_TM_SCRATCH_SIZE_RECOMMENDED);
  EXPECT_EQ(tm, GEX_TM_INVALID);
  EXPECT_EQ(recommended, member ? std::size_t{GASNET_PAGESIZE} : 0);
}

// Life and death

TEST(Teams, HundredsOfCycles) {
  for (int cycle = 0; cycle < 200; ++cycle) {
    const gex_TM_t tm = split(team(), static_cast<int>((rank() + cycle) % 3),
                              cycle % 2 == 0 ? 0 : -static_cast<int>(rank()));
    // Every third rank, in one order or the other.
    const auto before = static_cast<gex_Rank_t>(rank() / 3);
    const gex_Rank_t members = before + 1 + (size() - 1 - rank()) / 3;
    ASSERT_EQ(gex_TM_QuerySize(tm), members);
    ASSERT_EQ(gex_TM_QueryRank(tm), cycle % 2 == 0 ? before : members - 1 - before);
    barrier_over(tm);
    gex_TM_Destroy(tm, nullptr, 0);
  }
}

TEST(Teams, HundredsOfCyclesWithoutQuiescence) {
  // GLOBALLY_QUIESCED: no rank has anything left to do there, so no rank need wait.
  for (int cycle = 0; cycle < 200; ++cycle) {
    gex_TM_t tm = GEX_TM_INVALID;
    gex_TM_Split(&tm, team(), 0, 0, own_segment(), 4096, 0);
    gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
    gex_Memvec_t returned{nullptr, 0};
    EXPECT_NE(gex_TM_Destroy(tm, &returned, GEX_FLAG_GLOBALLY_QUIESCED), 0);
    EXPECT_EQ(returned.gex_addr, own_segment());
  }
}

TEST(Teams, MoreAtOnceThanAnyFixedTableHolds) {
  constexpr std::size_t count = 70;
  for (int round = 0; round < 2; ++round) {
    std::vector<gex_TM_t> teams;
    for (std::size_t i = 0; i < count; ++i)
      teams.push_back(split(team(), static_cast<int>(rank() % (1 + i % 3)),
                            i % 2 == 0 ? 0 : -static_cast<int>(rank())));
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < i; ++j) ASSERT_NE(teams[i], teams[j]);
    std::vector<gex_Event_t> barriers;
    for (int repeat = 0; repeat < 3; ++repeat)
      for (const gex_TM_t tm : teams) barriers.push_back(gex_Coll_BarrierNB(tm, 0));
    std::reverse(barriers.begin(), barriers.end());
    gex_Event_WaitAll(barriers.data(), barriers.size(), 0);
    // Every team still is itself.
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<gex_Rank_t> wanted =
          every(static_cast<gex_Rank_t>(1 + i % 3), rank() % static_cast<gex_Rank_t>(1 + i % 3));
      if (i % 2 != 0) std::reverse(wanted.begin(), wanted.end());
      for (gex_Rank_t r = 0; r < wanted.size(); ++r)
        ASSERT_EQ(gex_TM_TranslateRankToJobrank(teams[i], r), wanted[r]);
    }
    // Destroyed in another order than they were made in, the same on every rank.
    for (std::size_t i = 0; i < count; ++i) gex_TM_Destroy(teams[i * 29 % count], nullptr, 0);
  }
}

TEST(Teams, ClientDataBelongsToOneTeam) {
  int a = 0;
  int b = 0;
  gex_TM_SetCData(team(), &a);
  const gex_TM_t tm = split(team(), 0, 0);
  EXPECT_EQ(gex_TM_QueryCData(tm), nullptr);
  gex_TM_SetCData(tm, &b);
  EXPECT_EQ(gex_TM_QueryCData(team()), &a);
  EXPECT_EQ(gex_TM_QueryCData(tm), &b);
  gex_TM_Destroy(tm, nullptr, 0);
  gex_TM_SetCData(team(), nullptr);
}

// TM-pairs

TEST(Pair, EqualExactlyWhenMadeFromEqualArguments) {
  const gex_TM_t pair = gex_TM_Pair(endpoint(), 0);
  EXPECT_EQ(pair, gex_TM_Pair(endpoint(), 0));
  EXPECT_NE(pair, GEX_TM_INVALID);
  EXPECT_NE(pair, team());
  std::vector<gex_TM_t> pairs;
  for (const gex_EP_Index_t index : {0, 1, 2, 255, 256, 32767, 65535})
    pairs.push_back(gex_TM_Pair(endpoint(), index));
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(pairs[i], pairs[j]);
  std::vector<gex_TM_t> teams;
  for (int i = 0; i < 20; ++i) teams.push_back(split(team(), 0, 0));
  for (const gex_TM_t tm : teams) {
    EXPECT_EQ(std::count(pairs.begin(), pairs.end(), tm), 0);
    gex_TM_Destroy(tm, nullptr, 0);
  }
}

TEST(Pair, NamesEndpointsByJobrankInTransfers) {
  const gex_TM_t pair = gex_TM_Pair(endpoint(), 0);
  for (const Put form : every_put) {
    const std::vector<std::byte> source =
        patterned(rank() * 10 + static_cast<unsigned>(form), 3000);
    std::memset(own_segment(), 0, 4096);
    barrier();
    put(form, pair, next(), segment_of(next()), source.data(), 3000);
    put(form, pair, next(), reinterpret_cast<void*>(std::uintptr_t{3008}), source.data(), 100,
        GEX_FLAG_PEER_SEG_OFFSET);
    barrier();
    EXPECT_TRUE(holds(own_segment(), previous() * 10 + static_cast<unsigned>(form), 3000));
    EXPECT_TRUE(holds(own_segment() + 3008, previous() * 10 + static_cast<unsigned>(form), 100));
    std::vector<std::byte> back(3000);
    for (const Get get_form : every_get) {
      std::fill(back.begin(), back.end(), std::byte{0});
      get(get_form, pair, back.data(), next(), segment_of(next()), 3000);
      EXPECT_TRUE(same_bytes(back.data(), source.data(), 3000));
    }
    barrier();
  }
  gex_RMA_PutBlockingVal(pair, next(), segment_of(next()) + 8, 0xABCD, 2, 0);
  EXPECT_EQ(gex_RMA_GetBlockingVal(pair, next(), segment_of(next()) + 8, 2, 0), 0xABCDU);
}

TEST(Pair, AnswersQueriesAndTranslations) {
  const gex_TM_t pair = gex_TM_Pair(endpoint(), 0);
  EXPECT_EQ(gex_TM_QueryEP(pair), endpoint());
  EXPECT_EQ(gex_TM_QueryClient(pair), client());
  for (gex_Rank_t peer = 0; peer < size(); ++peer) {
    EXPECT_EQ(gex_TM_TranslateRankToJobrank(pair, peer), peer);
    EXPECT_EQ(gex_TM_TranslateJobrankToRank(pair, peer), peer);
    const gex_EP_Location_t location = gex_TM_TranslateRankToEP(pair, peer, 0);
    EXPECT_EQ(location.gex_rank, peer);
    EXPECT_EQ(location.gex_ep_index, 0);
    void* address = nullptr;
    void* here = &address;
    uintptr_t bytes = 0;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair, peer, &address, &here, &bytes, 0));
    EXPECT_EQ(address, segment_of(peer));
    EXPECT_EQ(here != nullptr, in_neighborhood(peer));
    address = nullptr;
    EXPECT_EQ(gex_Segment_QueryBound(pair, peer, &address, nullptr, nullptr), 0);
    EXPECT_EQ(address, segment_of(peer));
  }
}

}  // namespace
}  // namespace conformance::team_test
