#pragma once
// Which rings are polled: a list for each lane and a bit for each lane that has any. Both grow
// while other threads poll.
//
// Templates over an atomics policy (shm/ring.h), so that an interleaving explorer runs the same
// text (tests/unit/am_lanes_relacy).

#include <cstdint>

namespace gex::am {

/// The rings of a lane that are polled.
template <class Atomics, class Ring, std::uint32_t max_rings>
class PolledRings {
 public:
  /// One thread at a time.
  void add(Ring& ring) noexcept {
    const std::uint32_t count = Atomics::load_relaxed(count_);
    Atomics::write(rings_[count], &ring);
    // Release: a thread that finds the ring among them finds it whole.
    Atomics::store_release(count_, count + 1);
  }

  /// How many there are, of which the caller may use each.
  std::uint32_t count() const noexcept {
    // Acquire: see `add`.
    return Atomics::load_acquire(count_);
  }
  Ring& operator[](std::uint32_t index) const noexcept { return *Atomics::read(rings_[index]); }

 private:
  typename Atomics::template Plain<Ring*> rings_[max_rings] = {};
  typename Atomics::Word count_{0};
};

/// The lanes of a process. Lane 0 is polled from the start.
template <class Atomics, class Lane, std::uint32_t max_lanes>
class PolledLanes {
 public:
  /// The lane, or null; one thread at a time, as `put` and `add`.
  Lane* find(std::uint32_t number) const noexcept { return Atomics::read(lanes_[number]); }
  void put(std::uint32_t number, Lane& lane) noexcept { Atomics::write(lanes_[number], &lane); }
  /// From now on a lane is polled that was put.
  void add(std::uint32_t number) noexcept {
    // Release: a thread that finds the lane's bit finds the lane.
    Atomics::fetch_or_release(bits_, 1U << number);
  }

  /// A bit for each lane that is polled, of which the caller may use each.
  std::uint32_t bits() const noexcept {
    // Acquire: see `add`.
    return Atomics::load_acquire(bits_);
  }
  Lane& operator[](std::uint32_t number) const noexcept { return *Atomics::read(lanes_[number]); }

 private:
  typename Atomics::Word bits_{1};
  typename Atomics::template Plain<Lane*> lanes_[max_lanes] = {};
};

}  // namespace gex::am
