#pragma once
// An endpoint: what it has under way to peers, and what has arrived from them.
//
// What a client posts becomes an Operation; its packets wait in a queue for each peer until the
// peer's inbox has room. Nothing moves on but in the client's calls: those that post send what has
// room, and reading the completion queue does the rest (`progress`). All one-sided operations are
// carried out by the target in its `progress`.
//
// Thread rules: with the domain's mutex held, but what libfabric calls.

#include <rdma/fi_atomic.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "completion_queue.h"
#include "domain.h"
#include "wire.h"

namespace gexsim {

class AddressVector;
class EventQueue;

/// A piece of memory here, and where it goes to or comes from.
struct Segment {
  std::byte* local = nullptr;
  std::uint64_t size = 0;
  std::uint64_t target = 0;
  std::uint64_t key = 0;
  Region* region = nullptr;  ///< of the local memory, where that must be registered
};

struct Operation {
  Kind kind = Kind::send;
  void* context = nullptr;
  std::uint64_t flags = 0;     ///< of its completion
  bool reports = true;         ///< has a completion
  bool awaits_answer = false;  ///< completes when the peer has answered
  bool is_delivered = false;   ///< completes when it is delivered, or claims so
  bool never_completes = false;
  std::vector<Segment> segments;
  std::vector<std::byte> copy;  ///< of what was injected
  std::uint64_t total = 0;
  bool is_fetched = false;    ///< a message that waits for its receiver
  std::uint64_t arrived = 0;  ///< bytes that have been read
  void* result = nullptr;     ///< of an atomic operation: where the former value goes
  std::size_t width = 0;      ///< and its bytes
  Packet atomic{};            ///< what the peer is to do
};

/// Packets to one peer, of one operation or answer.
struct Outgoing {
  Packet packet{};
  std::vector<Segment> segments;
  std::size_t at = 0;         ///< the segment that is sent
  std::uint64_t at_byte = 0;  ///< of it
  std::uint64_t sent = 0;     ///< bytes of all
  bool is_finished = false;
  std::uint64_t operation = 0;  ///< of this endpoint, or 0: it is an answer
};

class Endpoint : public fid_ep {
 public:
  Endpoint(Domain& domain, const fi_info& info, void* context);
  ~Endpoint();

  /// Gives the provider an operation; 0 or libfabric's error.
  ssize_t post(Operation&& operation, fi_addr_t to);
  /// Posts a receive buffer.
  ssize_t post_receive(void* start, std::size_t size, void* descriptor, void* context,
                       std::uint64_t flags);
  /// Returns true if local memory can be used with this descriptor; writes the region.
  bool find_local(void* descriptor, Segment& segment, std::uint64_t access);
  std::size_t inject_size() const { return inject_size_; }
  std::uint64_t default_flags() const { return default_flags_; }
  bool is_selective() const { return is_selective_; }

  /// Moves everything on.
  void progress();

  // connection.cc: of an endpoint that has one peer.
  Domain& domain() { return domain_; }
  int ask_for_connection(const Address& listener, const void* data, std::size_t size);
  int accept_connection(const void* data, std::size_t size);
  void disconnect();

 private:
  friend struct EndpointTable;
  using Clock = std::chrono::steady_clock;

  struct Peer {
    std::unique_ptr<Inbox> inbox;  ///< null: it has gone
    std::deque<Outgoing> queue;
    std::uint64_t known_at = 0;  ///< this endpoint's polls
    bool is_contacted = false;
    bool is_connected = false;
    bool has_shaken_hands = false;
    std::uint64_t contact_polls = 0;  ///< its polls at the first contact
    std::uint64_t handshake_polls = 0;
    bool has_begun_handshake = false;
    Clock::time_point contacted;
    std::uint64_t last_polls = 0;
    std::uint64_t since_poll = 0;  ///< packets sent since it polled last
  };

  struct Arrival {
    Packet packet;
    std::vector<std::byte> payload;
    std::uint64_t hold;  ///< polls that it still waits
  };

  struct Receive {
    std::byte* start;
    std::size_t size;
    std::size_t used = 0;
    void* context;
    bool is_for_many;
    Region* region = nullptr;
  };

  using FromPeer = std::pair<Address, std::uint64_t>;  ///< an operation of a peer's

  // initiator.cc
  Peer& peer_of(const Address& address);
  /// 0, or why the operation is refused now.
  ssize_t admit(Peer& peer, Kind kind);
  ssize_t connect(Peer& peer, Kind kind);
  void wait_for_polls(Peer& peer);
  void pump(Peer& peer);
  bool push(Peer& peer, Outgoing& outgoing);
  void sent_off(std::uint64_t number);
  void complete(std::uint64_t number, int error = 0);
  void handle_answer(const Packet& packet, const std::vector<std::byte>& payload);
  void fail_lost_peers();
  void add_unasked_completions();

  // target.cc
  void handle_arrivals();
  void take_in_send(Packet&& packet, std::vector<std::byte>&& payload);
  void arrive(Packet&& packet, std::vector<std::byte>&& payload);
  void serve();
  /// False: not now.
  bool serve(Arrival& arrival);
  bool deliver(Arrival& arrival);
  void release(Receive& receive, Completion& completion);
  void write(const Arrival& arrival);
  void read(const Arrival& arrival);
  void operate(const Arrival& arrival);
  void answer(const Packet& request, Packet&& packet, std::vector<Segment> segments = {});
  void acknowledge(const Packet& request, int error);

  void move_on();
  void handle_connection(const Packet& packet, std::vector<std::byte>&& payload);

  Domain& domain_;
  std::thread mover_;  ///< the provider's own, which calls `progress`
  std::atomic<bool> ends_{false};
  std::uint64_t order_;
  std::uint64_t max_order_;
  std::uint64_t default_flags_;
  std::size_t inject_size_;
  const bool is_for_one_;          ///< peer, with which it is connected
  std::optional<Address> remote_;  ///< that
  std::vector<std::byte> name_;    ///< under which its request comes
  std::unique_ptr<Inbox> inbox_;
  AddressVector* addresses_ = nullptr;
  CompletionQueue* transmit_queue_ = nullptr;
  CompletionQueue* receive_queue_ = nullptr;
  EventQueue* events_ = nullptr;
  bool is_selective_ = false;
  bool is_enabled_ = false;
  std::size_t min_multi_recv_ = 64;

  std::uint64_t next_number_ = 1;
  std::map<std::uint64_t, Operation> operations_;
  std::map<Address, Peer> peers_;
  std::uint64_t fetched_ = 0;  ///< messages that wait for their receivers
  std::uint64_t posts_ = 0;
  std::uint64_t refused_at_read_ = UINT64_MAX;
  std::uint64_t polls_ = 0;
  std::uint64_t unasked_ = 0;
  bool had_null_error_ = false;

  std::deque<Arrival> arrivals_;
  std::map<FromPeer, std::vector<std::byte>> incomplete_sends_;
  std::map<FromPeer, std::uint64_t> incomplete_bytes_;
  std::map<FromPeer, std::uint64_t> written_;
  struct Delayed {
    std::uint64_t polls;
    Packet request;
  };
  std::deque<Delayed> delayed_;  ///< acknowledgements
  std::deque<Receive> receives_;
  std::uint64_t messages_ = 0;
};

// atomic.cc

/// Returns true if the interface has this operation on this type; `is_compare`: it compares.
bool has_atomic(fi_datatype type, fi_op operation, bool is_compare);
/// Returns true if the operation is called so in knobs.
bool has_name(fi_op operation, std::string_view name);
/// Bytes of a type; 0: none that atomic operations are on.
std::size_t width_of(fi_datatype type);
/// Carries it out on memory; returns the former value.
std::uint64_t operate_on(std::byte* memory, fi_datatype type, fi_op operation,
                         std::uint64_t operand, std::uint64_t expected);

// operations.cc

extern fi_ops_msg message_table;
extern fi_ops_rma one_sided_table;
extern fi_ops_atomic atomic_table;
extern fi_ops_tagged tagged_table;

}  // namespace gexsim
