// Collectives of libgex, and the bare operations that they are compared with; compare.py runs them
// beside those of an MPI library.
//
//   gexrun -n 2 --bind core coll_gex

#include <gasnet_coll.h>
#include <gasnetex.h>

#include <cstdlib>
#include <vector>

#include "rows.h"

namespace {

/// Ends the job unless the call has succeeded.
void require(int status, const char* call) {
  if (status == GASNET_OK) return;
  std::fprintf(stderr, "coll_gex: %s: %s\n", call, gasnet_ErrorName(status));
  gasnet_exit(1);
}

class Gex {
 public:
  Gex(int* argc, char*** argv) {
    gex_Client_t client{};
    gex_EP_t endpoint{};
    require(gex_Client_Init(&client, &endpoint, &team_, "COLL", argc, argv, 0), "gex_Client_Init");
    gex_Segment_t segment{};
    require(gex_Segment_Attach(&segment, team_, segment_bytes), "gex_Segment_Attach");
    next_ = static_cast<std::byte*>(gex_Segment_QueryAddr(segment));
    for (gex_Rank_t rank = 0; rank < ranks(); ++rank) {
      void* here = nullptr;
      gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team_, rank, nullptr, &here, nullptr, 0));
      segments_.push_back(static_cast<std::byte*>(here));
    }
  }

  unsigned rank() const { return gex_TM_QueryRank(team_); }
  unsigned ranks() const { return gex_TM_QuerySize(team_); }
  void barrier() { gex_Event_Wait(gex_Coll_BarrierNB(team_, 0)); }
  void broadcast(void* data, std::size_t bytes) {
    gex_Event_Wait(gex_Coll_BroadcastNB(team_, 0, data, data, bytes, 0));
  }
  void sum(double* result, const double* operand, std::size_t count) {
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team_, result, operand, GEX_DT_DBL, sizeof(double), count,
                                          GEX_OP_ADD, nullptr, nullptr, 0));
  }
  void* allocate(std::size_t bytes) {
    if (!in_segments) return std::aligned_alloc(4096, bytes);
    std::byte* const place = next_;
    next_ += bytes;
    return place;
  }
  /// The segment of a rank, mapped here; null if it is not of this host.
  std::byte* segment_of(unsigned rank) const { return segments_[rank]; }

  bool in_segments = false;

 private:
  static constexpr std::size_t segment_bytes = 3 * coll_mpi::max_bytes;

  gex_TM_t team_{};
  std::byte* next_ = nullptr;
  std::vector<std::byte*> segments_;
};

/// What a broadcast and a sum cannot be faster than: nothing but the copies, by all ranks at once.
void measure_limits(Gex& gex, coll_mpi::Rows<Gex>& rows) {
  const unsigned me = gex.rank();
  const unsigned ranks = gex.ranks();
  for (unsigned rank = 0; rank < ranks; ++rank)
    if (gex.segment_of(rank) == nullptr) return;
  auto* const to = static_cast<std::byte*>(std::aligned_alloc(4096, coll_mpi::max_bytes));
  std::memset(to, 0, coll_mpi::max_bytes);
  std::memset(gex.segment_of(me), 0, 2 * coll_mpi::max_bytes);
  for (const std::size_t bytes : coll_mpi::sizes) {
    // Copying a few bytes takes no time that matters.
    if (bytes < 1024) continue;
    const unsigned count = coll_mpi::Rows<Gex>::repetitions(bytes);
    rows.measure("limit.broadcast." + std::to_string(bytes), count, [&] {
      if (me != 0) std::memcpy(to, gex.segment_of(0), bytes);
      asm volatile("" ::: "memory");
    });
    // Each rank adds the operands of all in its share of the elements, and copies the other shares.
    const std::size_t elements = bytes / sizeof(double);
    rows.measure("limit.sum." + std::to_string(bytes), count, [&] {
      for (unsigned owner = 0; owner < ranks; ++owner) {
        const std::size_t first = elements * owner / ranks;
        const std::size_t end = elements * (owner + 1) / ranks;
        auto* const result = reinterpret_cast<double*>(to);
        if (owner != me) {
          const std::byte* const from = gex.segment_of(owner) + coll_mpi::max_bytes;
          std::memcpy(result + first, from + first * sizeof(double),
                      (end - first) * sizeof(double));
          continue;
        }
        for (unsigned rank = 0; rank + 1 < ranks; ++rank) {
          const auto* const a = reinterpret_cast<const double*>(gex.segment_of(rank));
          const auto* const b =
              rank == 0 ? reinterpret_cast<const double*>(gex.segment_of(ranks - 1)) : result;
          for (std::size_t i = first; i < end; ++i) result[i] = a[i] + b[i];
        }
      }
      asm volatile("" ::: "memory");
    });
  }
  std::free(to);
}

}  // namespace

int main(int argc, char** argv) {
  const coll_mpi::Options options = coll_mpi::options_of(argc, argv);
  Gex gex(&argc, &argv);
  gex.in_segments = options.segment;
  {
    coll_mpi::Rows rows(gex, options);
    rows.measure_barrier();
    rows.measure_broadcasts();
    rows.measure_sums();
    measure_limits(gex, rows);
  }
  gex.barrier();
  gasnet_exit(0);
}
