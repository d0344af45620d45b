#pragma once
// The memory into which messages arrive: large buffers that each take many messages
// (FI_MULTI_RECV), or, over connections of the provider's own making, one for each message. Such a
// provider puts together messages of many peers in the same buffer at the same time, and that it
// releases the buffer (FI_MULTI_RECV in a completion) does not mean that its last byte is written.
//
// A buffer is posted again when the provider has released it and the last of its messages has been
// handled. Messages that are not wanted yet, requests while only replies are polled, keep their
// buffer. Then more buffers are made, so that something is always posted and a request never keeps
// a reply out; when they come back they are given up. How many there can be follows from the
// requests that am/ lets peers have outstanding.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#include "net/ofi/operation.h"
#include "net/ofi/registration.h"

namespace gex::net::ofi {

class ReceiveBuffers {
 public:
  struct Buffer : OperationContext {
    /// Its messages that have not been handled, and one while the provider has it.
    std::atomic<std::uint32_t> uses{0};
    /// A receive has failed, and the provider may or may not have released the buffer with it, or
    /// it is full and was not released yet. It is not counted as posted, and not used again until
    /// the provider releases it.
    bool is_doubtful = false;
    std::byte* memory = nullptr;
    std::size_t memory_size = 0;
    Region region;
    std::list<Buffer>::iterator self;
    Buffer() = default;
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer();
  };

  /// Memory that is posted to begin with, whatever the provider.
  static constexpr std::size_t max_at_first = std::size_t{2} << 20;

  ReceiveBuffers(const Endpoint& endpoint, Registrar& registrar, bool threaded);

  /// Posts the first buffers.
  bool start(std::string& error);

  /// A message lies in the buffer, which stays until `release` has been called once for it.
  static void hold(Buffer& buffer) noexcept;
  /// A message has been handled. Any thread.
  void release(Buffer& buffer);

  // One thread at a time.

  /// Where the message of a completion lies; null if it is not about a message.
  const std::byte* message_in(const Buffer& buffer, const fi_cq_data_entry& entry) const noexcept;
  /// A receive has completed, or failed; `last`: the provider releases a buffer for
  /// many. Messages that are wanted have been held before.
  void completed(Buffer& buffer, bool last);
  /// Returns true if no other message fits behind this one.
  bool is_full(const Buffer& buffer, const fi_cq_data_entry& entry) const noexcept;
  /// A receive has failed; `last` as above.
  void failed(Buffer& buffer, bool last);
  /// The provider has, or should have, released the buffer, and may report that later, or never:
  /// others take its place.
  void doubt(Buffer& buffer);
  /// Returns true if the provider has kept so many full ones that it will release none.
  bool are_kept() const noexcept { return doubtful_ > max_doubtful; }
  /// Posts what could not be posted before, and makes more buffers when too few are posted.
  void replenish();

 private:
  bool add(std::string& error);
  void post(Buffer& buffer);
  void give_up(Buffer& buffer);

  static constexpr std::uint32_t max_doubtful = 1024;

  const Endpoint& endpoint_;
  Registrar& registrar_;
  std::uint32_t doubtful_ = 0;  ///< buffers
  const bool large_;            ///< buffers for many messages
  const std::size_t buffer_size_;
  bool threaded_;
  std::atomic<std::uint32_t> posted_{0};
  std::mutex mutex_;  ///< of what follows
  std::list<Buffer> buffers_;
  std::vector<Buffer*> refused_;  ///< to be posted again
  std::atomic<bool> any_refused_{false};
};

}  // namespace gex::net::ofi
