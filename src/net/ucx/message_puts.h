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
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "net/ucx/endpoints.h"
#include "net/ucx/segments.h"
#include "net/ucx/wire.h"
#include "net/ucx/worker.h"

namespace gex::net::ucx {

/// This object is notified of the stages of a put.
class PutOwner {
 public:
  /// The source may be reused.
  virtual void source_is_free(void* put) = 0;
  /// The bytes are at the peer. After `source_is_free`.
  virtual void is_there(void* put) = 0;

 protected:
  ~PutOwner() = default;
};

class MessagePuts {
 public:
  MessagePuts(const Host& host, Worker& worker, Endpoints& endpoints, Segments& segments,
              PutOwner& owner)
      : host_(host),
        worker_(worker),
        endpoints_(endpoints),
        segments_(segments),
        owner_(owner),
        peers_(host.size) {}
  MessagePuts(const MessagePuts&) = delete;
  MessagePuts& operator=(const MessagePuts&) = delete;

  /// Ready to receive.
  bool start(std::string& error);

  /// Returns true if puts to this peer are to be made of messages.
  bool serves(std::uint32_t peer);

  /// The source stays as it is until `source_is_free(put)`, which may be inside the call.
  void put(void* put, const Remote& remote, const void* local, std::size_t size);

  /// Acknowledges what has arrived since the last time. Cheap when that is nothing.
  void acknowledge() {
    if (!owed_.empty()) acknowledge_all();
  }

  /// Acknowledgements that UCX has.
  std::size_t under_way() const noexcept { return answers_under_way_; }
  /// Failures and what still arrives are not reported any more.
  void begin_to_leave() noexcept { leaving_ = true; }

 private:
  /// A put, until all its parts have been handed to UCX and are acknowledged.
  struct Put {
    void* name;
    std::uint32_t unsent = 0;          ///< parts that UCX still reads
    std::uint32_t unacknowledged = 0;  ///< parts
    bool all_parts_made = false;
  };
  /// These bytes of a put have not been handed to UCX.
  struct Rest {
    Put* put;
    const std::byte* source;
    std::size_t size;
    std::uint64_t address;
    std::uint64_t segment;
  };
  struct Part {
    MessagePuts* owner;
    Part* next_free;
    Put* put;
    std::uint32_t peer;
    std::uint32_t number;  ///< of its place
    bool is_sent;
    bool is_acknowledged;
    PutHeader header;  ///< UCX reads it until the part is sent
  };
  struct Peer {
    std::deque<Rest> rests;
    std::uint32_t parts = 0;  ///< under way
    enum class Way : std::uint8_t { unknown, messages, network } way = Way::unknown;
  };
  struct Answer {
    MessagePuts* owner;
    std::uint32_t peer;
    Stamp stamp;
    std::array<std::uint32_t, max_answered_parts> parts;
  };
  struct Owed {
    std::uint32_t peer;
    std::uint32_t part;
  };

  Part* take_part();
  void advance(std::uint32_t peer);
  void send_part(std::uint32_t peer, Rest& rest);
  void part_is_sent(Part& part);
  void part_is_acknowledged(Part& part);
  void give_back(Part& part);
  void acknowledge_all();
  void send_answer(std::uint32_t peer, const Owed* owed, std::size_t count);

  ucs_status_t take_put(const void* header, std::size_t header_size, const void* data,
                        std::size_t size);
  ucs_status_t take_answer(const void* header, std::size_t header_size, const void* data,
                           std::size_t size);
  void warn_of_stray();

  static void on_sent(void* request, ucs_status_t status, void* part);
  static void on_answered(void* request, ucs_status_t status, void* answer);

  const Host& host_;
  Worker& worker_;
  Endpoints& endpoints_;
  Segments& segments_;
  PutOwner& owner_;
  std::vector<Peer> peers_;
  std::deque<Part> parts_;  ///< which stay where they are, by number
  Part* free_parts_ = nullptr;
  std::vector<std::unique_ptr<Put>> puts_;
  std::vector<Put*> free_puts_;
  std::vector<Owed> owed_;
  std::vector<std::unique_ptr<Answer>> answers_;
  std::vector<Answer*> free_answers_;
  std::size_t answers_under_way_ = 0;
  bool leaving_ = false;
  bool warned_of_stray_ = false;
};

}  // namespace gex::net::ucx
