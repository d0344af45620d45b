#pragma once
// The one-sided traffic of one transform: rput into the peers' landing areas, futures of their
// completion, and what both cost. The like of gex/communication.h.

#include <chrono>
#include <cstdint>
#include <upcxx/upcxx.hpp>
#include <utility>
#include <vector>

#include "../arrival.h"
#include "../job.h"
#include "../problem.h"
#include "../traffic.h"

namespace ft {

/// As in gex/communication.h: a transpose is `wait_for_peers`, any number of `put`, `complete`.
class Communication {
 public:
  /// No rank needs to expect what others put.
  static constexpr bool kIsTwoSided = false;

  /// The puts of a region, until they are complete.
  struct Pending {
    upcxx::future<> done = upcxx::make_future();
  };

  Communication(const Job& job, const Complex* landing)
      : job_(job), landing_offset_(reinterpret_cast<const std::byte*>(landing) - job.segment()) {}

  /// Starts sending `count` elements to place `offset` of `rank`'s landing area. `source` must stay
  /// as it is until the region that contains the put, or `complete`, is done.
  void put(std::size_t rank, std::size_t offset, const Complex* source, std::size_t count) {
    const auto target =
        upcxx::reinterpret_pointer_cast<Complex>(job_.segment_of(rank) + landing_offset_);
    const double start = now();
    upcxx::rput(source, target + static_cast<std::ptrdiff_t>(offset), count,
                upcxx::operation_cx::as_promise(is_in_region_ ? region_ : others_));
    starting_ += now() - start;
    ++messages_;
    bytes_ += count * sizeof(Complex);
  }

  /// The puts between these two calls are complete when what is returned has been waited for, or is
  /// done.
  void begin_region() {
    is_in_region_ = true;
    region_ = upcxx::promise<>();
  }
  Pending end_region() {
    is_in_region_ = false;
    return {region_.finalize()};
  }

  void wait(Pending& pending) {
    const double start = now();
    pending.done.wait();
    waiting_ += now() - start;
  }

  static bool is_done(Pending& pending) { return pending.done.is_ready(); }

  static void progress() { upcxx::progress(); }

  /// Waits for the puts outside of regions, then for every rank to arrive here.
  void complete() {
    const double start = now();
    std::exchange(others_, upcxx::promise<>()).finalize().wait();
    job_.barrier();
    waiting_ += now() - start;
  }

  /// Lets the peers write the own landing area again.
  void release_landing(const std::vector<Arrival>&) { peers_ready_ = {upcxx::barrier_async()}; }

  /// Waits until all have released theirs. Not within a region.
  void wait_for_peers() { wait(peers_ready_); }

  /// Job::gather, as part of what communication costs.
  void gather(const void* mine, void* all, std::size_t bytes) {
    const double start = now();
    job_.gather(mine, all, bytes);
    waiting_ += now() - start;
  }

  /// Seconds, of which only differences mean anything.
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  void reset() {
    messages_ = bytes_ = 0;
    starting_ = waiting_ = 0;
  }

  Traffic traffic() const { return {messages_, bytes_, starting_, waiting_}; }

 private:
  const Job& job_;
  const std::ptrdiff_t landing_offset_;
  bool is_in_region_ = false;
  upcxx::promise<> region_;
  upcxx::promise<> others_;
  Pending peers_ready_;
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
  double starting_ = 0;
  double waiting_ = 0;
};

}  // namespace ft
