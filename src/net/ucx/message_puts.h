#pragma once
// Puts made of active messages of the conduit's own, to peers to which UCX has none but made of
// messages either: over TCP and over shared memory.
//
// UCX's own costs more there. Over TCP each flush, which shows that a put's bytes are at the peer,
// is a message and an answer of its own beside those of the put. Here the receiver puts the bytes
// in place inside UCX's callback, and acknowledges after it: all that has arrived in one poll from
// a peer in one message.
//
// A put is cut into parts that UCX sends as one message each, straight from the source. So many
// parts of all puts to a peer are under way at a time; UCX itself has no bound.
//
// Thread rules: with the worker in use.

#include <gex/plugin/conduit.h>
#include <ucp/api/ucp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/zeroed_table.h"
#include "net/kit/message_transfers.h"
#include "net/kit/object_pool.h"
#include "net/kit/stray_warning.h"
#include "net/ucx/endpoints.h"
#include "net/ucx/segments.h"
#include "net/ucx/transfer.h"
#include "net/ucx/wire.h"
#include "net/ucx/worker.h"

namespace gex::net::ucx {

class MessagePuts {
 public:
  /// `transfers`: all of the worker's, which a put of messages is among.
  MessagePuts(const Host& host, Worker& worker, Endpoints& endpoints, Segments& segments,
              MessageTransfers<Transfer>& transfers)
      : host_(host),
        worker_(worker),
        endpoints_(endpoints),
        segments_(segments),
        transfers_(transfers),
        peers_(host.size),
        strays_(host, "ucx") {}
  MessagePuts(const MessagePuts&) = delete;
  MessagePuts& operator=(const MessagePuts&) = delete;

  /// Ready to receive.
  bool start(std::string& error);

  /// Returns true if puts to this peer are to be made of messages.
  bool serves(std::uint32_t peer);

  /// The source stays as it is until `source_is_free(put)`, which may be inside the call.
  void put(Transfer& put, const Remote& remote, const void* local, std::size_t size);

  /// Acknowledges what has arrived since the last time. Cheap when that is nothing.
  void acknowledge() {
    if (transfers_.owes()) acknowledge_all();
  }

  /// Acknowledgements that UCX has.
  std::size_t under_way() const noexcept { return answers_.taken(); }
  /// Failures and what still arrives are not reported any more.
  void begin_to_leave() noexcept { leaving_ = true; }

 private:
  /// These bytes of a put have not been handed to UCX.
  struct Rest {
    Rest* next;
    Transfer* put;
    const std::byte* source;
    std::size_t size;
    std::uint64_t address;
    std::uint64_t segment;
  };
  /// A message with bytes of a put, while UCX reads them.
  struct Part {
    Part* next;
    MessagePuts* owner;
    Transfer* put;
    PutHeader header;
  };
  struct PeerPuts {
    Rest* first = nullptr;
    Rest* last = nullptr;
    std::uint32_t parts = 0;  ///< not acknowledged
    enum class Way : std::uint8_t { unknown, messages, network } way = Way::unknown;
  };
  struct Answer {
    Answer* next;
    MessagePuts* owner;
    std::uint32_t peer;
    Stamp stamp;
    std::array<std::uint32_t, OwedAnswers::max_together> puts;
  };

  void advance(std::uint32_t peer);
  void send_part(const Rest& part);
  /// `arrives`: it will be acknowledged.
  void part_is_sent(Part& part, bool arrives);
  void acknowledge_all();
  void send_answer(std::uint32_t peer, std::span<const std::uint32_t> puts);
  void drop_stray() {
    if (!leaving_) strays_.dropped();
  }

  ucs_status_t handle_put(const void* header, std::size_t header_size, const void* data,
                          std::size_t size);
  ucs_status_t handle_answer(const void* header, std::size_t header_size, const void* data,
                             std::size_t size);

  static void on_sent(void* request, ucs_status_t status, void* part);
  static void on_answered(void* request, ucs_status_t status, void* answer);

  const Host& host_;
  Worker& worker_;
  Endpoints& endpoints_;
  Segments& segments_;
  MessageTransfers<Transfer>& transfers_;
  ZeroedTable<PeerPuts> peers_;
  ObjectPool<Rest> rests_;
  ObjectPool<Part> parts_;
  ObjectPool<Answer> answers_;
  StrayWarning strays_;
  bool leaving_ = false;
};

}  // namespace gex::net::ucx
