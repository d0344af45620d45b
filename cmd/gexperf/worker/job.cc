#include "job.h"

#include <cstdio>

namespace gexperf {

namespace {

/// The first line of rank 0's segment belongs to `from_root`; measurements use what is behind it.
constexpr std::size_t root_value_bytes = 4096;

}  // namespace

Job::Job(int* argc, char*** argv) {
  gex_Client_t client{};
  check(gex_Client_Init(&client, &endpoint_, &team_, "GEXPERF", argc, argv, 0), "gex_Client_Init");
  rank_ = gex_TM_QueryRank(team_);
  size_ = gex_TM_QuerySize(team_);
}

void Job::attach(std::size_t bytes) {
  const std::size_t pages = (bytes + root_value_bytes + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE;
  gex_Segment_t segment{};
  check(gex_Segment_Attach(&segment, team_, pages * GASNET_PAGESIZE), "gex_Segment_Attach");
  for (gex_Rank_t rank = 0; rank < size_; ++rank) {
    void* owner = nullptr;
    void* local = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team_, rank, &owner, &local, nullptr, 0));
    if (local == nullptr) {
      fail("the segment of rank " + std::to_string(rank) +
           " is not mapped here: gexperf measures ranks of one neighborhood");
    }
    at_owner_.push_back(static_cast<std::byte*>(owner) + root_value_bytes);
    here_.push_back(static_cast<std::byte*>(local) + root_value_bytes);
  }
}

std::uint64_t Job::from_root(std::uint64_t value) const {
  auto* const shared = reinterpret_cast<std::uint64_t*>(here_[0] - root_value_bytes);
  // The barriers order the accesses: the value is there when others read it, and read before the
  // next one overwrites it.
  if (rank_ == 0) __atomic_store_n(shared, value, __ATOMIC_RELAXED);
  barrier();
  const std::uint64_t agreed = __atomic_load_n(shared, __ATOMIC_RELAXED);
  barrier();
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
