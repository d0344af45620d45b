#pragma once
// Puts and gets made of MPI's messages, without a copy of what is large: MPI-3 has no test for the
// remote completion of its own puts, only calls that wait, and its windows want all ranks to take
// part.
//
//   put   a control message names the place. Small data is in it; large data follows as a message
//         of its own, straight from the source, for which the peer posts a receive straight into
//         its segment. The peer acknowledges all puts that it has found done in one poll together.
//   get   the initiator posts a receive for the data and asks for it; the peer sends it straight
//         from its segment. Small data is in the answer.
//
// Data has a communicator of its own; the tag is the number of the initiator's operation. A peer
// serves operations in its polls.
//
// Thread rules: with the network's lock held.

#include <gex/plugin/conduit.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "net/kit/message_transfers.h"
#include "net/kit/object_pool.h"
#include "net/kit/segments.h"
#include "net/mpi/library/session.h"

namespace gex::net::mpi {

/// The largest put or get.
inline constexpr std::size_t max_transfer = std::size_t{4} << 20;

/// The tag of control messages, beside the two channels.
inline constexpr int control_tag = 2;

/// A put or get under way.
struct Transfer : MessageTransfer {
  void* done;
  void* local_done;
  void* destination;  ///< of a get, or null
  std::size_t size;
};

class OneSided final : private TransferOwner<Transfer> {
 public:
  OneSided(const Host& host, const Session& session);
  OneSided(const OneSided&) = delete;
  OneSided& operator=(const OneSided&) = delete;

  /// False: there are too many.
  bool add_segment(const SegmentMemory& memory, void* key);
  void remove_segment(const void* key);

  SendResult put(const Remote& remote, const void* local, std::size_t size, void* done,
                 void* local_done);
  SendResult get(const Remote& remote, void* local, std::size_t size, void* done);

  /// A control message that has arrived.
  void handle_control(std::uint32_t source, std::span<const std::byte> message);
  /// Completes and acknowledges what MPI has completed. `looks_at_all`: asks for control messages
  /// that it has sent, too, which otherwise wait until there are several.
  void advance(bool looks_at_all) {
    if (!requests_.empty()) test_some();
    if (transfers_.owes()) acknowledge();
    if (sent_.size() >= max_sent || (looks_at_all && !sent_.empty())) complete_controls();
  }

  /// Nothing is under way that has begun here, nor what this process has to send.
  bool is_idle() const noexcept {
    return requests_.empty() && !transfers_.owes() && sent_.empty() && transfers_.under_way() == 0;
  }
  /// MPI is about to be finalized: gives up what is under way.
  void abandon();

 private:
  /// Data of this size is a part of the control message, which is then no larger than what Open
  /// MPI sends at once over shared memory.
  static constexpr std::size_t max_inline = 4000;
  static constexpr TransferRoom room{.a_peer = 64, .in_all = 8192};
  /// Control messages that are asked for together.
  static constexpr std::size_t max_sent = 16;

  enum class Kind : std::uint32_t {
    put_inline,  ///< with the data
    put,
    get,
    got,  ///< with the data
    done  ///< the numbers of puts
  };
  struct Header {
    Kind kind;
    std::uint32_t transfer;  ///< its number in the rank where it has begun
    std::uint32_t segment;
    std::uint32_t unused;
    std::uint64_t address;
    std::uint64_t size;
  };
  struct Control {
    Control* next;
    Header header;
    std::array<std::byte, max_inline> data;
  };
  enum class What : std::uint8_t { own_data, put_data, get_data };
  /// A request of MPI's has this purpose.
  struct Pending {
    What what;
    std::uint32_t peer;
    std::uint32_t transfer;  ///< its number where it has begun
  };

  static constexpr int data_tag(std::uint32_t transfer, bool is_get) noexcept {
    return static_cast<int>(2 * transfer + (is_get ? 1 : 0));
  }
  /// Null: as many are under way as may be.
  Transfer* begin(const Remote& remote, void* destination, std::size_t size, void* done,
                  void* local_done);
  /// Returns the transfer that a request of `What::own_data` belongs to.
  Transfer& own(const Pending& pending) const noexcept {
    return *transfers_.find(pending.peer, pending.transfer);
  }
  void source_is_free(Transfer& transfer) override;
  void is_over(Transfer& transfer) override;

  Control& new_control(Kind kind, std::uint32_t transfer);
  /// Returns a control message that names the place of this process's transfer.
  Control& new_control(Kind kind, const Transfer& transfer, const Remote& remote);
  void send(std::uint32_t peer, Control& control, std::size_t data_size);
  void pend(MPI_Request request, const Pending& pending);
  void test_some();
  void complete_controls();
  void completed(const Pending& pending);
  void acknowledge();
  std::byte* place_of(std::uint32_t source, const Header& header);
  [[noreturn]] void refuse(std::uint32_t source) const;
  void check(int code, const char* call) const;

  const Host& host_;
  const MPI_Comm messages_;
  const MPI_Comm data_;
  const MPI_Request complete_request_;
  Segments segments_{/*threaded=*/false};
  MessageTransfers<Transfer> transfers_;
  ObjectPool<Control> controls_;
  std::vector<MPI_Request> sent_;  ///< control messages
  std::vector<Control*> sent_controls_;
  std::vector<MPI_Request> requests_;
  std::vector<Pending> pending_;  ///< what the requests are for
  std::size_t next_request_ = 0;
};

}  // namespace gex::net::mpi
