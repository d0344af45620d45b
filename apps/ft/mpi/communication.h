#pragma once
// The two-sided traffic of one transform, as section 6.2 of the paper has it: receives that are
// posted well before the sends, non-blocking sends, their completion, and what all that costs. The
// like of gex/communication.h.

#include <mpi.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "../arrival.h"
#include "../job.h"
#include "../problem.h"
#include "../traffic.h"

namespace ft {

/// All messages have one tag: those of a peer arrive in the order in which it sends them, and
/// receives are posted in that order.
class Communication {
 public:
  /// A rank posts receives for what others will send.
  static constexpr bool kIsTwoSided = true;

  /// The sends of a region, until they are complete.
  using Pending = std::vector<MPI_Request>;

  Communication(const Job& job, Complex* landing) : job_(job), landing_(landing) {}

  /// Starts sending `count` elements to place `offset` of `rank`'s landing area. `source` must stay
  /// as it is until the region that contains the send, or `complete`, is done.
  void put(std::size_t rank, std::size_t offset, const Complex* source, std::size_t count) {
    const double start = now();
    if (rank == job_.rank()) {
      std::memcpy(landing_ + offset, source, count * sizeof(Complex));
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(source, static_cast<int>(count), MPI_C_DOUBLE_COMPLEX, static_cast<int>(rank), kTag,
                MPI_COMM_WORLD, &request);
      (is_in_region_ ? of_region_ : sends_).push_back(request);
    }
    starting_ += now() - start;
    ++messages_;
    bytes_ += count * sizeof(Complex);
  }

  /// One block of `count` elements to every rank, by the library's own collective.
  void all_to_all(const Complex* source, std::size_t count) {
    const double start = now();
    MPI_Alltoall(source, static_cast<int>(count), MPI_C_DOUBLE_COMPLEX, landing_,
                 static_cast<int>(count), MPI_C_DOUBLE_COMPLEX, MPI_COMM_WORLD);
    waiting_ += now() - start;
    messages_ += job_.size();
    bytes_ += job_.size() * count * sizeof(Complex);
  }

  /// The sends between these two calls are complete when what is returned has been waited for, or
  /// is done.
  void begin_region() {
    is_in_region_ = true;
    of_region_.clear();
  }
  Pending end_region() {
    is_in_region_ = false;
    return std::move(of_region_);
  }

  void wait(Pending& pending) {
    const double start = now();
    MPI_Waitall(static_cast<int>(pending.size()), pending.data(), MPI_STATUSES_IGNORE);
    pending.clear();
    waiting_ += now() - start;
  }

  static bool is_done(Pending& pending) {
    int done = 1;
    MPI_Testall(static_cast<int>(pending.size()), pending.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) pending.clear();
    return done != 0;
  }

  /// Large messages go on only where ranks call MPI.
  static void progress() {
    int is_there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
  }

  /// Waits for the sends outside of regions, and for all that was expected.
  void complete() {
    wait(sends_);
    wait(receives_);
  }

  /// Posts receives for the next transpose.
  void release_landing(const std::vector<Arrival>& arrivals) {
    const double start = now();
    for (const Arrival& arrival : arrivals) {
      receives_.push_back(MPI_REQUEST_NULL);
      MPI_Irecv(landing_ + arrival.offset, static_cast<int>(arrival.count), MPI_C_DOUBLE_COMPLEX,
                static_cast<int>(arrival.from), kTag, MPI_COMM_WORLD, &receives_.back());
    }
    starting_ += now() - start;
  }

  /// A message that arrives before its receive is posted waits in the library.
  void wait_for_peers() {}

  /// Job::gather, as part of what communication costs.
  void gather(const void* mine, void* all, std::size_t bytes) {
    const double start = now();
    job_.gather(mine, all, bytes);
    waiting_ += now() - start;
  }

  /// Seconds, of which only differences mean anything.
  static double now() { return MPI_Wtime(); }

  void reset() {
    messages_ = bytes_ = 0;
    starting_ = waiting_ = 0;
  }

  Traffic traffic() const { return {messages_, bytes_, starting_, waiting_}; }

 private:
  static constexpr int kTag = 0;

  const Job& job_;
  Complex* const landing_;
  bool is_in_region_ = false;
  Pending of_region_;
  Pending sends_;
  Pending receives_;
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
  double starting_ = 0;
  double waiting_ = 0;
};

}  // namespace ft
