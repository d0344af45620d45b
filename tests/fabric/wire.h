#pragma once
// How packets go from one endpoint to another: into the receiver's inbox, a ring of bytes in memory
// that both have mapped. Nothing of it outlives the processes.
//
// Thread rules: `Inbox` any thread of any process; the owner alone takes packets out.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <pthread.h>
#include <sys/uio.h>

namespace gexsim {

/// Where an endpoint's inbox is: a file of its process. Of 16 bytes in every format of addresses.
struct Address {
  std::uint32_t process = 0;
  std::uint16_t file = 0;
  std::uint16_t fabric = 0;  ///< endpoints of different fabrics do not reach one another
  std::uint32_t key = 0;     ///< distinguishes those that had the same numbers before
  auto operator<=>(const Address&) const = default;
};

enum class Kind : std::uint8_t {
  send,
  write,
  read,
  atomic,
  // Answers.
  acknowledgement,
  read_data,
  atomic_result,
  // Messages of connections.
  connect,
  accept,
  reject,
  shutdown,
};
constexpr bool is_answer(Kind kind) {
  return kind >= Kind::acknowledgement && kind <= Kind::atomic_result;
}
constexpr bool is_of_connection(Kind kind) {
  return kind >= Kind::connect;
}

/// The head of a packet; the payload follows.
struct Packet {
  Kind kind;
  bool wants_acknowledgement;
  std::uint16_t datatype;
  std::uint16_t atomic_operation;
  std::uint16_t compares;
  std::int32_t error;  ///< of an answer: 0, or libfabric's number
  std::uint32_t payload;
  Address source;
  std::uint64_t operation;  ///< of the endpoint that initiated it
  std::uint64_t order;      ///< FI_ORDER_... that the initiator has been granted
  std::uint64_t max_order;  ///< bytes of the largest write that this holds for
  std::uint64_t target;     ///< the place in the peer's memory, as the initiator names it
  std::uint64_t key;
  std::uint64_t offset;  ///< of the payload in all of the operation
  std::uint64_t total;   ///< bytes of the operation
  std::uint64_t operand;
  std::uint64_t expected;
};

class Inbox {
 public:
  /// Null: no memory.
  static std::unique_ptr<Inbox> create(std::size_t capacity, std::uint16_t fabric);
  /// Opens the inbox of a peer; null if it has gone, or lies on another fabric.
  static std::unique_ptr<Inbox> open(const Address& address, std::uint16_t own_fabric);
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  const Address& address() const { return address_; }

  /// False: no room now.
  bool put(const Packet& packet, const std::byte* payload);
  /// False: nothing is there.
  bool take(Packet& packet, std::vector<std::byte>& payload);

  /// How often the owner has polled.
  std::uint64_t polls() const { return shared_->polls.load(std::memory_order_acquire); }
  void count_poll() { shared_->polls.fetch_add(1, std::memory_order_acq_rel); }

  /// The owner receives and sends no more.
  void close() { shared_->closed.store(1, std::memory_order_release); }
  /// Returns true if it has closed the endpoint, or its process has ended.
  bool is_closed() const;

 private:
  struct Shared {
    std::uint32_t key;
    std::uint16_t fabric;
    std::atomic<std::uint32_t> closed;
    std::atomic<std::uint64_t> polls;
    pthread_mutex_t mutex;
    std::uint64_t capacity;
    std::uint64_t head;  ///< bytes taken
    std::uint64_t tail;  ///< bytes put
  };
  class Guard;

  Inbox(const Address& address, Shared* shared, std::size_t mapped, int file)
      : address_(address), shared_(shared), mapped_(mapped), file_(file) {}
  /// Behind the head.
  std::byte* ring() const { return reinterpret_cast<std::byte*>(shared_ + 1); }
  void copy_in(std::uint64_t at, const void* from, std::size_t size);
  void copy_out(std::uint64_t at, void* to, std::size_t size) const;

  Address address_;
  Shared* shared_;
  std::size_t mapped_;
  int file_;  ///< of the owner; -1 elsewhere
};

}  // namespace gexsim
