#pragma once
// How a thread that waits sleeps until the network has something for it.
//
// A conduit that has `prepare_wait` names the descriptors on which its messages show. One thread of
// the process at a time has the watch: it sleeps on those descriptors, and on a socket by which its
// rank's bell wakes it (shm/doorbell.h), since a neighbor or another thread may be who brings what
// it waits for. The other threads sleep on the bell's word. A thread that gives the watch up wakes
// them, so that one of them takes it.
//
// Over a conduit without that function a wait is a nap, which nothing ends early, and only where
// other programs take the core.

#include <array>
#include <cstdint>

#include "base/os_descriptor_sleep.h"

namespace gex {

/// Start-up only: once the neighborhood and the network are there.
void set_up_network_watch() noexcept;

/// The way in which a message of the network wakes a thread.
enum class NetworkWake {
  unneeded,        ///< none comes: all ranks are neighbors
  by_descriptors,  ///< the watch
  none,            ///< nothing does
};
NetworkWake network_wake() noexcept;

/// The watch, or that another thread has it, or that there is none; while the object exists.
class NetworkWatch {
 public:
  /// Takes the watch if it is free.
  NetworkWatch() noexcept;
  ~NetworkWatch();
  NetworkWatch(const NetworkWatch&) = delete;
  NetworkWatch& operator=(const NetworkWatch&) = delete;

  bool is_held() const noexcept { return is_held_; }
  /// Returns true if the caller may sleep, which has just polled and found nothing; `limit_ns`
  /// becomes less if it is to poll earlier. With the watch the network is armed; without it,
  /// another thread has it still.
  bool may_sleep(std::uint64_t& limit_ns) noexcept;
  /// Requires the watch, and that it may.
  void sleep(std::uint64_t limit_ns) noexcept;

 private:
  bool is_held_ = false;
  std::uint32_t count_ = 0;
  std::array<int, os::max_slept_on> descriptors_;
};

}  // namespace gex
