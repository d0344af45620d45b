#pragma once
// How a rank that waits over emu sleeps until another rank has something for it.
//
// Each rank has a bell (shm/doorbell.h) in the network's memory, and a socket that a rank which
// rings makes readable while this one sleeps. A rank rings the bell of a peer to which it has sent
// a message, whose slot it has given back, or whose memory it has written: one load while that one
// is awake. A bell may stay asked for after a sleep, so that one ring makes a system call for
// nothing.
//
// Requires: `memory` is the network's, as of EmuNetwork, and outlives this object. One object in a
// process.
//
// Thread rules: any thread rings; `prepare` by one thread at a time.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/os_descriptor_sleep.h"
#include "net/emu/layout.h"
#include "shm/doorbell.h"

namespace gex::net::emu {

class Bells {
 public:
  Bells(std::uint32_t rank, const Layout& layout, std::span<std::byte> memory) noexcept;
  ~Bells();
  Bells(const Bells&) = delete;
  Bells& operator=(const Bells&) = delete;

  /// The rank sees the caller's earlier stores for it, if it sleeps as soon as it is awake.
  void ring(std::uint32_t rank) noexcept { bell(rank).ring(); }

  /// As `Conduit::prepare_wait`.
  std::int32_t prepare(std::span<int> descriptors) noexcept;

 private:
  struct Policy : shm::StdBell {
    static void wake_elsewhere(std::uint32_t place) noexcept {
      if (socket != nullptr) socket->wake(place);
    }
    /// By which this process wakes others.
    static inline constinit const os::WakeSocket* socket = nullptr;
  };
  using Bell = shm::BasicDoorbell<Policy>;
  static_assert(sizeof(Bell) <= 2 * cache_line);

  Bell& bell(std::uint32_t rank) const noexcept {
    return *reinterpret_cast<Bell*>(memory_.data() + layout_.bell(rank));
  }

  Layout layout_;
  std::span<std::byte> memory_;
  std::uint32_t rank_;
  os::WakeSocket socket_;
};

}  // namespace gex::net::emu
