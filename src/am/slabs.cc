#include "am/slabs.h"

#include <algorithm>

#include "am/message.h"
#include "base/assert.h"

namespace gex::am {

static_assert(shm::max_slab_bytes == max_medium_payload);

void Slabs::set_up(const shm::Neighborhood& neighborhood, bool threaded, std::uint32_t lane) {
  neighborhood_ = &neighborhood;
  lane_ = lane;
  threaded_ = threaded;
  std::uint32_t next = 0;
  for (unsigned direction = 0; direction < 2; ++direction) {
    for (unsigned c = 0; c < 2; ++c) {
      const shm::SlabClass& slabs =
          direction == shm::requests ? shm::request_slabs[c] : shm::reply_slabs[c];
      Pool& pool = pools_[direction][c];
      pool.bytes = slabs.bytes;
      const bool shared = direction == shm::requests && neighborhood.size() > 2;
      pool.cap = shared ? slabs.count / 2 : slabs.count;
      pool.per_member.assign(neighborhood.size(), 0);
      pool.used.reserve(slabs.count);
      for (std::uint32_t i = 0; i < slabs.count; ++i)
        pool.free.push_back(next + slabs.count - 1 - i);
      next += slabs.count;
    }
  }
}

void Slabs::collect(Pool& pool) noexcept {
  std::erase_if(pool.used, [&](std::uint32_t slab) {
    std::atomic<std::uint32_t>& busy = busy_of(slab);
    if (!shm::is_buffer_free<shm::StdAtomics>(busy)) return false;
    order_through_peer_ends(&busy);
    GEX_ASSERT(pool.per_member[member_of_[slab]] != 0);
    --pool.per_member[member_of_[slab]];
    pool.free.push_back(slab);
    return true;
  });
}

std::uint32_t Slabs::acquire(shm::Direction direction, std::size_t bytes,
                             std::uint32_t member) noexcept {
  const OptionalGuard guard(lock_, threaded_);
  for (Pool& pool : pools_[direction]) {
    if (bytes > pool.bytes) continue;
    if (pool.free.empty() || pool.per_member[member] >= pool.cap) collect(pool);
    if (pool.free.empty() || pool.per_member[member] >= pool.cap) continue;
    const std::uint32_t slab = pool.free.back();
    pool.free.pop_back();
    GEX_ASSERT(shm::is_buffer_free<shm::StdAtomics>(busy_of(slab)));
    pool.used.push_back(slab);
    ++pool.per_member[member];
    member_of_[slab] = member;
    shm::take_buffer<shm::StdAtomics>(busy_of(slab));
    return slab;
  }
  return no_slab;
}

void Slabs::release(std::uint32_t slab) noexcept {
  GEX_ASSERT(!shm::is_buffer_free<shm::StdAtomics>(busy_of(slab)));
  shm::give_buffer_back<shm::StdAtomics>(busy_of(slab));
}

std::atomic<std::uint32_t>& Slabs::busy_of(std::uint32_t slab) const noexcept {
  return neighborhood_->slab_busy(lane_, neighborhood_->local_index(), slab);
}

std::byte* Slabs::address(std::uint32_t slab) const noexcept {
  return neighborhood_->slab(lane_, neighborhood_->local_index(), slab);
}

std::size_t Slabs::size(std::uint32_t slab) const noexcept {
  for (unsigned direction = 0; direction < 2; ++direction) {
    for (const shm::SlabClass& slabs :
         direction == shm::requests ? shm::request_slabs : shm::reply_slabs) {
      if (slab < slabs.count) return slabs.bytes;
      slab -= slabs.count;
    }
  }
  return 0;
}

}  // namespace gex::am
