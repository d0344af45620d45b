#include "job.h"

#include <gasnet_coll.h>

#include <cstdio>

namespace gexperf {

Job::Job(int* argc, char*** argv) {
  gex_Client_t client{};
  check(gex_Client_Init(&client, &endpoint_, &team_, "GEXPERF", argc, argv, 0), "gex_Client_Init");
  rank_ = gex_TM_QueryRank(team_);
  size_ = gex_TM_QuerySize(team_);
}

void Job::attach(std::size_t bytes, bool shared) {
  const std::size_t pages = (bytes + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE;
  gex_Segment_t segment{};
  check(gex_Segment_Attach(&segment, team_, pages * GASNET_PAGESIZE), "gex_Segment_Attach");
  for (gex_Rank_t rank = 0; rank < size_; ++rank) {
    void* owner = nullptr;
    void* local = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team_, rank, &owner, &local, nullptr, 0));
    if (local == nullptr && shared) {
      fail("the segment of rank " + std::to_string(rank) +
           " is not mapped here: gexperf measures ranks of one neighborhood");
    }
    at_owner_.push_back(static_cast<std::byte*>(owner));
    here_.push_back(static_cast<std::byte*>(local));
  }
}

std::uint64_t Job::from_root(std::uint64_t value) const {
  std::uint64_t agreed = 0;
  gex_Event_Wait(gex_Coll_BroadcastNB(team_, 0, &agreed, &value, sizeof value, 0));
  return agreed;
}

void Job::fail(const std::string& reason) const {
  std::fprintf(stderr, "gexperf: rank %u: %s\n", static_cast<unsigned>(rank_), reason.c_str());
  gasnet_exit(1);
}

void Job::check(int status, const char* call) const {
  if (status != GASNET_OK) fail(std::string(call) + ": " + gasnet_ErrorName(status));
}

}  // namespace gexperf
