#pragma once
// The buffers that messages are sent from.
//
// A message that the provider does not take over inside the call is copied into one of these, or
// was built in it, and stays there until the provider has let go of it. All have room for the
// largest message; memory is used once a buffer is, and registered some buffers at a time where
// that is needed.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "net/ofi/operation.h"
#include "net/ofi/registration.h"
#include "net/ofi/wire.h"

namespace gex::net::ofi {

/// Stands in front of a buffer's bytes.
struct alignas(64) SendBuffer : Operation {
  Kind kind;
  std::uint32_t peer;
  std::byte* start;  ///< where the message begins on the wire
  std::size_t size;  ///< on the wire
  void* descriptor;  ///< of its registration, for libfabric

  std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  /// Where a payload is built in place; header and stamp are later put in front of it.
  std::byte* payload() noexcept { return bytes() + sizeof(Stamp) + header_room; }
};

class SendPool {
 public:
  /// Where memory must be registered, some is at once; ends the job if it cannot be.
  SendPool(const Host& host, std::size_t count, Registrar& registrar, bool threaded);
  SendPool(const SendPool&) = delete;
  SendPool& operator=(const SendPool&) = delete;
  ~SendPool();

  /// A free buffer, or null: all are in use, and no more memory can be had or registered.
  SendBuffer* take();
  void give_back(SendBuffer* buffer);

  /// Buffers that are not free. Only while no other call is in progress.
  std::size_t taken() const noexcept { return ready_ - free_.size(); }

  /// The buffer whose payload begins there, or null.
  SendBuffer* built_at(const void* payload) const noexcept;

 private:
  SendBuffer* at(std::size_t index) const noexcept;
  /// Makes the next buffers that were never used ready. The mutex is held.
  void grow();

  const Host& host_;
  std::size_t count_;
  Registrar& registrar_;
  bool threaded_;
  std::byte* memory_ = nullptr;
  std::mutex mutex_;
  std::size_t ready_ = 0;  ///< buffers that have been made ready
  std::vector<SendBuffer*> free_;
  std::vector<Region> regions_;
};

}  // namespace gex::net::ofi
