#pragma once
// A ring in the memory that processes share, for the interleaving explorer.

#include <cstdint>

#include "shm/ring.h"

// After what is tested: it takes the names of the standard's memory orders.
#include "relacy_atomics.h"

namespace gex::interleavings {

template <class Atomics, std::uint32_t cells>
struct ExploredRing {
  shm::RingControl<Atomics> control;
  typename Atomics::Ready ready[cells];

  void reset() {
    Atomics::store_relaxed(control.released, 0);
    Atomics::store_relaxed(control.unanswered, 0);
    Atomics::store_relaxed(control.tail, 0);
    for (auto& word : ready) Atomics::store_relaxed(word, 0);
  }
};

}  // namespace gex::interleavings
