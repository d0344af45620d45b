#pragma once
// Slabs: where payload too large for a slot travels, owned by the sender, read in place. Each lane
// has its own.
//
// Requests and replies have pools of their own, so that requests to a rank that does not poll
// cannot block replies. Of the request slabs one destination gets at most half (when there are
// several), so it cannot block requests to others either. The receiver
// clears the slab's busy word when its handler has returned; the owner collects them when it needs
// one.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/spin_lock.h"
#include "base/tsan.h"
#include "shm/neighborhood.h"

namespace gex::am {

class Slabs {
 public:
  /// Start-up only.
  void set_up(const shm::Neighborhood& neighborhood, bool threaded, std::uint32_t lane);

  /// A free slab of at least `bytes` for a message to `member` (local index), or no_slab.
  std::uint32_t acquire(shm::Direction direction, std::size_t bytes, std::uint32_t member) noexcept;

  /// Marks the payload as written; its message is sent next.
  void hand_over(std::uint32_t slab) const noexcept { order_through_peer_begins(&busy_of(slab)); }

  /// Gives back one whose message was not sent.
  void release(std::uint32_t slab) noexcept;

  std::byte* address(std::uint32_t slab) const noexcept;
  std::size_t size(std::uint32_t slab) const noexcept;

 private:
  struct Pool {
    std::vector<std::uint32_t> free;
    std::vector<std::uint32_t> used;
    std::vector<std::uint32_t> per_member;
    std::uint32_t bytes = 0;
    std::uint32_t cap = 0;
  };
  void collect(Pool& pool) noexcept;
  std::atomic<std::uint32_t>& busy_of(std::uint32_t slab) const noexcept;

  const shm::Neighborhood* neighborhood_ = nullptr;
  bool threaded_ = false;
  std::uint32_t lane_ = 0;
  SpinLock lock_;
  Pool pools_[2][2];  ///< direction, class
  std::uint32_t member_of_[shm::slab_count]{};
};

}  // namespace gex::am
