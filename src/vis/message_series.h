#pragma once
// The messages of one transfer, one after the other.
//
// They are built in place and wait for room, polling. Those of an immediate transfer neither wait
// nor poll: the first may be refused, and the transfer with it; of the others, those that find no
// room are deferred: copied, and sent by polls. Messages whose payload comes from a device are
// deferred as well, until it has come.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "am/internal.h"
#include "core/completion.h"
#include "core/memory.h"
#include "rma/staging_buffer.h"
#include "vis/noncontiguous_transfer.h"

namespace gex::vis {

class MessageSeries {
 public:
  /// Upper bound of the padded arguments of a message.
  static constexpr unsigned max_args = 12;

  /// All are the same internal message, and have that many arguments.
  MessageSeries(const NoncontiguousTransfer& transfer, const am::Internal& internal,
                unsigned arg_count) noexcept;
  /// Queues the deferred messages for polls.
  ~MessageSeries();
  MessageSeries(const MessageSeries&) = delete;
  MessageSeries& operator=(const MessageSeries&) = delete;

  /// Memory for the next message's payload, aligned to 16; null if it was refused.
  std::byte* begin(std::size_t max_bytes) noexcept;
  /// Sends it; false if it was refused. `args` is padded to whole chunks of 16 bytes, aligned
  /// to 16.
  bool send(std::size_t bytes, const gex_AM_Arg_t* args) noexcept;

  /// A buffer for the next message's payload that copies of `kind` fill, which complete in the
  /// buffer. Waits, unless the transfer is immediate, while `max_staged_ahead` messages are
  /// pending; none is refused.
  rma::StagingBuffer& begin_staged(const MemoryKind& kind) noexcept;
  /// Queues it; it is sent once the copies are done. `local_done`, unless that is null, is
  /// completed once the payload is in the buffer.
  void queue_staged(std::size_t bytes, const gex_AM_Arg_t* args,
                    CompletionTarget local_done) noexcept;

 private:
  struct DeferredMessages;

  DeferredMessages& deferred() noexcept;
  std::byte* begin_deferred(std::size_t max_bytes) noexcept;

  const NoncontiguousTransfer& transfer_;
  am::Route route_;    ///< of those that are built in place
  gex_Flags_t flags_;  ///< of Prepare and Commit
  const am::Internal& internal_;
  unsigned arg_count_;
  bool is_first_ = true;
  gex_AM_SrcDesc_t message_ = nullptr;  ///< the one that is built in place
  std::unique_ptr<DeferredMessages>
      deferred_;  ///< null until one was deferred; then all others are
};

}  // namespace gex::vis
