// The smallest complete conduit: mailboxes in a memory file that the ranks of one machine share.
//
// docs/writing-a-conduit.md states what a conduit must do, and this file does that and
// nothing that it may do; it is not fast. Of libgex it needs headers and links nothing:
//
//   GEX_CONDUIT=example GEX_CONDUIT_PATH=<folder of libgex-example.so> GASNET_SUPERNODE_MAXSIZE=1

#include <gex/plugin/all_ranks.h>
#include <gex/plugin/conduit.h>
#include <gex/plugin/table.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <span>
#include <string>

namespace {

using namespace gex::net;

constexpr size_t max_message = 4096;
constexpr uint32_t letters = 4;     // of each channel from each rank to each rank
constexpr uint32_t max_ranks = 64;  // every poll looks at every letter

/// The side that a letter belongs to. The sender moves it from empty over filling to full, the
/// receiver from full over reading to empty, so each step has one side that may take it, and a
/// letter that one thread fills or reads holds up no other.
enum State : uint32_t { empty, filling, full, reading };

struct alignas(64) Letter {
  std::atomic<uint32_t> state;
  std::atomic<uint32_t> size;
  alignas(16) char message[max_message];
};

/// All letters of one sender to one receiver. A file of zeroes is a network of empty letters.
struct Mailbox {
  Letter letter[2][letters];
};

/// This process's end of the network.
class Example {
 public:
  static std::unique_ptr<Example> attach(const Host& host, Limits& limits);
  Example(const Host& host, Mailbox* mailboxes) : host_(host), mailboxes_(mailboxes) {}
  /// Messages that were sent stay in the memory of those that still have it mapped.
  ~Example() { munmap(mailboxes_, size_of(host_)); }

  SendResult send(Channel channel, uint32_t peer, std::span<const Piece> pieces);
  size_t poll(uint32_t channels, size_t max);

 private:
  static size_t size_of(const Host& host) { return sizeof(Mailbox) * host.size * host.size; }
  Mailbox& mailbox(uint32_t receiver, uint32_t sender) {
    return mailboxes_[size_t{receiver} * host_.size + sender];
  }

  const Host& host_;
  Mailbox* mailboxes_;                    // [receiver][sender]
  std::atomic<uint32_t> next_letter_{0};  // where the next poll begins, so that none is always last
};

std::unique_ptr<Example> Example::attach(const Host& host, Limits& limits) {
  if (host.size > max_ranks) {
    // All ranks see the same reason; one reports it.
    if (host.rank == 0) host.warn("example: for at most 64 ranks");
    return nullptr;
  }

  // Rank 0 makes the file, which has no name and so ends with the last process that has it. A
  // page of it exists once it is used.
  const size_t size = size_of(host);
  std::string error;
  int file = -1;
  if (host.rank == 0) {
    file = memfd_create("gex-example", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0)
      error = std::string("example: memory file: ") + strerror(errno);
  }
  // A rank that failed must not leave the others waiting in the next collective call.
  if (!succeeded_on_all_ranks(host, error)) {
    if (file >= 0) close(file);
    return nullptr;
  }
  file = host.share_descriptor(file, 0);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const bool mapped = memory != MAP_FAILED;
  if (!mapped) error = std::string("example: mapping: ") + strerror(errno);
  close(file);
  if (!succeeded_on_all_ranks(host, error)) {
    if (mapped) munmap(memory, size);
    return nullptr;
  }
  limits = {.max_message = max_message, .reply_depth = letters};
  return std::make_unique<Example>(host, static_cast<Mailbox*>(memory));
}

SendResult Example::send(Channel channel, uint32_t peer, std::span<const Piece> pieces) {
  size_t size = 0;
  for (const Piece& piece : pieces) size += piece.size;
  if (size > max_message) host_.fatal("example: a message above the limit");
  for (Letter& letter : mailbox(peer, host_.rank).letter[channel]) {
    uint32_t state = empty;
    // Acquire: our copy must not begin before the receiver has read the previous message.
    if (!letter.state.compare_exchange_strong(state, filling, std::memory_order_acquire)) continue;
    char* out = letter.message;
    for (const Piece& piece : pieces) {
      if (piece.size != 0) memcpy(out, piece.data, piece.size);
      out += piece.size;
    }
    letter.size.store(static_cast<uint32_t>(size), std::memory_order_relaxed);
    // Release: who sees it full sees the message.
    letter.state.store(full, std::memory_order_release);
    return sent;
  }
  return would_block;
}

size_t Example::poll(uint32_t channels, size_t max) {
  const uint32_t all = host_.size * 2 * letters;
  uint32_t at = next_letter_.load(std::memory_order_relaxed) % all;
  size_t delivered = 0;
  for (uint32_t looked = 0; looked < all && delivered < max; ++looked, at = (at + 1) % all) {
    const uint32_t sender = at / (2 * letters);
    const Channel channel = at / letters % 2 == 0 ? request_channel : reply_channel;
    Letter& letter = mailbox(host_.rank, sender).letter[channel][at % letters];
    if ((channels >> channel & 1) == 0) continue;
    if (letter.state.load(std::memory_order_relaxed) != full) continue;
    uint32_t state = full;
    if (!letter.state.compare_exchange_strong(state, reading, std::memory_order_acquire)) continue;
    // What arrives is data, not trust, and is read once: a second look could see another value.
    const size_t size = letter.size.load(std::memory_order_relaxed);
    if (size > max_message) host_.fatal("example: received a size above the limit");
    // No lock is held: the handler may send, and poll replies. The letter stays ours until it has
    // returned, as the message must not change before.
    host_.deliver(sender, channel, letter.message, size);
    letter.state.store(empty, std::memory_order_release);
    ++delivered;
  }
  next_letter_.store(at, std::memory_order_relaxed);
  return delivered;
}

constexpr Conduit table = table_of<Example>(
    "example", "mailboxes in shared memory: the smallest complete conduit", one_machine);

}  // namespace

extern "C" __attribute__((visibility("default"))) const Conduit* gex_conduit_v4(void) {
  return &table;
}
