#pragma once
// Puts and gets made of messages, at both ends.
//
// Where one has begun, it is over once the library has read, or written, the memory that it names
// (its messages are sent) and the peer has answered what it is to answer. A put may be cut into
// several messages, each of which is answered. An answer names the transfer by its number; what
// answers no transfer is found to do so.
//
// Where it arrives, answers to one peer are put together (owed_answers.h).
//
// ucx and mpi use it. udp does not, since the sequence numbers of its datagrams acknowledge a put.
//
//   Transfer* put = transfers.take(peer);          // null: no room
//   put->unsent = put->unanswered = 1;
//   transfers.message_sent(*put);                  // calls owner.source_is_free(*put)
//   transfers.handle_answers(peer, message);       // calls owner.is_over(*put)
//
// Thread rules: one thread at a time.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/assert.h"
#include "net/kit/owed_answers.h"
#include "net/kit/transfer_pool.h"

namespace gex::net {

/// The beginning of a transfer's record.
struct MessageTransfer {
  std::uint32_t peer;
  std::uint32_t number;
  std::uint32_t unsent;      ///< messages whose memory the library still reads or writes
  std::uint32_t unanswered;  ///< messages that the peer is yet to answer
};

/// This object is notified of the stages of transfers.
template <class Transfer>
class TransferOwner {
 public:
  /// The memory that it names may be reused: of a get, read.
  virtual void source_is_free(Transfer& transfer) = 0;
  /// The bytes are where they belong. After `source_is_free`, if any memory was in use.
  virtual void is_over(Transfer& transfer) = 0;

 protected:
  ~TransferOwner() = default;
};

/// `Transfer`: derived from MessageTransfer.
template <class Transfer>
class MessageTransfers : public TransferPool<Transfer> {
 public:
  MessageTransfers(std::size_t ranks, const TransferRoom& room, TransferOwner<Transfer>& owner)
      : TransferPool<Transfer>(ranks, room), owner_(owner) {}

  /// One of its messages has been sent, or received into its memory.
  void message_sent(Transfer& transfer) {
    GEX_ASSERT(transfer.unsent != 0);
    if (--transfer.unsent != 0) return;
    owner_.source_is_free(transfer);
    if (transfer.unanswered == 0) owner_.is_over(transfer);
  }
  /// The transfer of that number, which awaits an answer of the peer's; null: there is none.
  Transfer* awaiting(std::uint32_t peer, std::uint32_t number) const noexcept {
    Transfer* const transfer = this->find(peer, number);
    return transfer != nullptr && transfer->unanswered != 0 ? transfer : nullptr;
  }
  /// Requires that it awaits an answer.
  void answered(Transfer& transfer) {
    GEX_ASSERT(transfer.unanswered != 0);
    if (--transfer.unanswered == 0 && transfer.unsent == 0) owner_.is_over(transfer);
  }
  /// Takes a peer's answers, numbers of transfers; returns how many transfers awaited them.
  std::size_t handle_answers(std::uint32_t peer, std::span<const std::byte> numbers) {
    std::size_t taken = 0;
    for (; numbers.size() >= sizeof(std::uint32_t);
         numbers = numbers.subspan(sizeof(std::uint32_t))) {
      std::uint32_t number;
      std::memcpy(&number, numbers.data(), sizeof number);
      Transfer* const transfer = awaiting(peer, number);
      if (transfer == nullptr) continue;
      answered(*transfer);
      ++taken;
    }
    return taken;
  }

  /// A message of a peer's transfer has arrived, which is to be answered.
  void owe(std::uint32_t peer, std::uint32_t number) { owed_.add(peer, number); }
  bool owes() const noexcept { return !owed_.is_empty(); }
  /// See OwedAnswers::send_all.
  template <class Send>
  void send_answers(Send send) {
    owed_.send_all(send);
  }

 private:
  TransferOwner<Transfer>& owner_;
  OwedAnswers owed_;
};

}  // namespace gex::net
