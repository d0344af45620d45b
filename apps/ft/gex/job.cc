#include "../job.h"

#include <cstdio>
#include <cstring>

namespace ft {

namespace {

void check(const Job& job, int status, const char* call) {
  if (status != GASNET_OK) job.fail(std::string(call) + ": " + gasnet_ErrorName(status));
}

/// The place in the segment of `rank` at which `cell` lies in this rank's.
void* at(const Job& job, gex_Rank_t rank, void* cell) {
  return job.segment_of(rank) + (static_cast<std::byte*>(cell) - job.segment());
}

}  // namespace

Job::Job(int* argc, char*** argv) {
  gex_Client_t client{};
  gex_EP_t endpoint{};
  check(*this, gex_Client_Init(&client, &endpoint, &team_, "FT", argc, argv, 0), "gex_Client_Init");
  rank_ = gex_System_QueryJobRank();
  size_ = gex_System_QueryJobSize();
}

std::size_t Job::largest_segment() const {
  return gasnet_getMaxGlobalSegmentSize();
}

void Job::attach(std::size_t bytes) {
  const std::size_t pages = (bytes + GASNET_PAGESIZE - 1) / GASNET_PAGESIZE;
  gex_Segment_t segment{};
  check(*this, gex_Segment_Attach(&segment, team_, pages * GASNET_PAGESIZE), "gex_Segment_Attach");
  for (gex_Rank_t rank = 0; rank < size_; ++rank) {
    void* address = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team_, rank, &address, nullptr, nullptr, 0));
    segments_.push_back(static_cast<std::byte*>(address));
  }
}

void Job::barrier() const {
  gex_Event_Wait(gex_Coll_BarrierNB(team_, 0));
}

void Job::share(void* cell, std::size_t bytes) const {
  for (gex_Rank_t rank = 1; is_root() && rank < size_; ++rank)
    gex_RMA_PutNBI(team_, rank, at(*this, rank, cell), cell, bytes, GEX_EVENT_DEFER, 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  barrier();
}

void Job::gather(const void* mine, void* all, std::size_t bytes) const {
  std::byte* const cell = static_cast<std::byte*>(all) + rank_ * bytes;
  if (is_root())
    std::memcpy(cell, mine, bytes);
  else
    gex_RMA_PutNBI(team_, 0, at(*this, 0, cell), mine, bytes, GEX_EVENT_DEFER, 0);
  gex_NBI_Wait(GEX_EC_PUT, 0);
  barrier();
}

void Job::exit(int status) const {
  gasnet_exit(status);
}

void Job::refuse(const std::string& reason) const {
  if (is_root()) std::fprintf(stderr, "%s: %s\n", kProgram, reason.c_str());
  // Without the barrier another rank's exit could end the job before the line is written.
  barrier();
  gasnet_exit(2);
}

void Job::fail(const std::string& reason) const {
  std::fprintf(stderr, "%s: rank %u: %s\n", kProgram, static_cast<unsigned>(rank_), reason.c_str());
  gasnet_exit(1);
}

}  // namespace ft
