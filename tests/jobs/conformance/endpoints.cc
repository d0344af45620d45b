#include "endpoints.h"

#include <algorithm>
#include <cstdlib>

namespace conformance {

namespace {

/// Where the rank's endpoint of that index has its segment.
std::byte* address_of(gex_Rank_t rank, gex_EP_Index_t index) {
  void* address = nullptr;
  uintptr_t bytes = 0;
  const gex_TM_t pair = gex_TM_Pair(endpoint(), index);
  gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair, rank, &address, nullptr, &bytes, 0));
  EXPECT_NE(bytes, 0U);
  return static_cast<std::byte*>(address);
}

/// Memory of the client's, not even aligned to a word.
void* client_memory() {
  static std::vector<std::byte> memory(created_bytes + 64);
  return memory.data() + (65 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
}

std::array<Ends, every_source.size()> make_all() {
  std::array<Ends, every_source.size()> all;
  for (const From from : every_source) {
    Ends& made = all[static_cast<std::size_t>(from)];
    if (from == From::attached) {
      made.endpoint = endpoint();
      made.segment = segment();
    } else {
      EXPECT_EQ(gex_EP_Create(&made.endpoint, client(), GEX_EP_CAPABILITY_ALL, 0), GASNET_OK);
      void* memory = from == From::client ? client_memory() : nullptr;
      EXPECT_EQ(gex_Segment_Create(&made.segment, client(), memory, created_bytes, GEX_MK_HOST, 0),
                GASNET_OK);
      EXPECT_EQ(gex_EP_BindSegment(made.endpoint, made.segment, 0), GASNET_OK);
    }
    made.index = gex_EP_QueryIndex(made.endpoint);
  }
  std::vector<gex_EP_t> created;
  for (const Ends& made : all)
    if (made.endpoint != endpoint()) created.push_back(made.endpoint);
  EXPECT_EQ(gex_EP_PublishBoundSegment(team(), created.data(), created.size(), 0), GASNET_OK);
  for (Ends& made : all)
    for (gex_Rank_t r = 0; r < size(); ++r) made.segments.push_back(address_of(r, made.index));
  return all;
}

}  // namespace

const char* name(From from) {
  switch (from) {
    case From::attached:
      return "attached";
    case From::library:
      return "the library's";
    case From::client:
      return "the client's";
  }
  return "?";
}

const Ends& ends(From from) {
  static const std::array<Ends, every_source.size()> all = make_all();
  return all[static_cast<std::size_t>(from)];
}

TeamOf::TeamOf(From from) {
  std::vector<gex_EP_Location_t> members;
  for (gex_Rank_t r = size(); r-- > 0;) members.push_back({r, ends(from).index});
  gex_TM_Create(&tm_, 1, team(), members.data(), members.size(), nullptr, 0,
                GEX_FLAG_TM_NO_SCRATCH);
}

TeamOf::~TeamOf() {
  gex_TM_Destroy(tm_, nullptr, 0);
}

AllRanks::AllRanks(bool with_scratch) {
  std::vector<gex_EP_Location_t> members;
  std::vector<gex_Addr_t> scratch;
  for (const From from : every_source) {
    for (gex_Rank_t r = 0; r < size(); ++r) members.push_back({r, ends(from).index});
    scratch.push_back(scratch_of(from));
  }
  gex_TM_Create(tms_.data(), tms_.size(), team(), members.data(), members.size(), scratch.data(),
                with_scratch ? scratch_bytes : 0,
                with_scratch ? GEX_FLAG_TM_LOCAL_SCRATCH : GEX_FLAG_TM_NO_SCRATCH);
}

AllRanks::~AllRanks() {
  if (tms_[0] == GEX_TM_INVALID) return;
  barrier();
  for (const gex_TM_t tm : tms_) gex_TM_Destroy(tm, nullptr, GEX_FLAG_GLOBALLY_QUIESCED);
}

}  // namespace conformance
