// The smallest complete conduit: mailboxes in a memory file that the ranks of one machine share.
//
// docs/writing-a-conduit.md walks through this file. It shows everything a conduit must do and
// nothing it may do; it is not fast. Of libgex it needs one header and links nothing:
//
//   GEX_CONDUIT=example GEX_CONDUIT_PATH=<folder of libgex-example.so> GASNET_SUPERNODE_MAXSIZE=1

#include <gex/plugin/conduit.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <vector>

namespace {

using namespace gex::net;

constexpr size_t max_message = 4096;
constexpr uint32_t letters = 4;     // of each channel from each rank to each rank
constexpr uint32_t max_ranks = 64;  // every poll looks at every letter

/// Who a letter belongs to. The sender moves it from empty over filling to full, the receiver from
/// full over reading to empty, so each step has one side that may take it, and a letter that one
/// thread fills or reads holds up no other.
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

const Host* host;
Mailbox* mailboxes;  // [receiver][sender]
size_t mapped_size;
std::atomic<uint32_t> next_letter;  // where the next poll begins, so that no letter is always last

Mailbox& mailbox(uint32_t receiver, uint32_t sender) {
  return mailboxes[size_t{receiver} * host->size + sender];
}

void warn(const char* what, int error) {
  char text[200];
  snprintf(text, sizeof text, "example: %s: %s", what, strerror(error));
  host->warn(text);
}

/// Whether every rank's part of the work succeeded. A rank that failed must not leave the others
/// waiting in the next collective call.
bool all_succeeded(bool mine) {
  const char one = mine ? 1 : 0;
  std::vector<char> answers(host->size);
  host->exchange(&one, 1, answers.data());
  for (const char answer : answers)
    if (answer != 1) return false;
  return true;
}

int attach(const Host* given, Limits* limits) {
  host = given;
  if (host->size > max_ranks) {
    // All ranks see the same reason; one says it.
    if (host->rank == 0) host->warn("example: for at most 64 ranks");
    return 1;
  }

  // Rank 0 makes the file, which has no name and so ends with the last process that has it. A
  // page of it exists once it is used.
  mapped_size = sizeof(Mailbox) * host->size * host->size;
  int file = -1;
  bool made = true;
  if (host->rank == 0) {
    file = memfd_create("gex-example", MFD_CLOEXEC);
    made = file >= 0 && ftruncate(file, static_cast<off_t>(mapped_size)) == 0;
    if (!made) warn("memory file", errno);
  }
  if (!all_succeeded(made)) {
    if (file >= 0) close(file);
    return 1;
  }
  file = host->share_descriptor(file, 0);
  void* memory = mmap(nullptr, mapped_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const bool mapped = memory != MAP_FAILED;
  if (!mapped) warn("mapping", errno);
  close(file);
  if (!all_succeeded(mapped)) {
    if (mapped) munmap(memory, mapped_size);
    return 1;
  }
  mailboxes = static_cast<Mailbox*>(memory);
  *limits = {.max_message = max_message, .reply_depth = letters};
  return 0;
}

SendResult send(Channel channel, uint32_t peer, const Piece* pieces, size_t count) {
  size_t size = 0;
  for (size_t i = 0; i < count; ++i) size += pieces[i].size;
  if (size > max_message) host->fatal("example: a message above the limit");
  for (Letter& letter : mailbox(peer, host->rank).letter[channel]) {
    uint32_t state = empty;
    // Acquire: our copy must not begin before the receiver has read the previous message.
    if (!letter.state.compare_exchange_strong(state, filling, std::memory_order_acquire)) continue;
    char* out = letter.message;
    for (size_t i = 0; i < count; out += pieces[i++].size)
      if (pieces[i].size != 0) memcpy(out, pieces[i].data, pieces[i].size);
    letter.size.store(static_cast<uint32_t>(size), std::memory_order_relaxed);
    // Release: who sees it full sees the message.
    letter.state.store(full, std::memory_order_release);
    return sent;
  }
  return would_block;
}

size_t poll(uint32_t channels, size_t most) {
  const uint32_t all = host->size * 2 * letters;
  uint32_t at = next_letter.load(std::memory_order_relaxed) % all;
  size_t delivered = 0;
  for (uint32_t looked = 0; looked < all && delivered < most; ++looked, at = (at + 1) % all) {
    const uint32_t sender = at / (2 * letters);
    const Channel channel = at / letters % 2 == 0 ? request_channel : reply_channel;
    Letter& letter = mailbox(host->rank, sender).letter[channel][at % letters];
    if ((channels >> channel & 1) == 0) continue;
    if (letter.state.load(std::memory_order_relaxed) != full) continue;
    uint32_t state = full;
    if (!letter.state.compare_exchange_strong(state, reading, std::memory_order_acquire)) continue;
    // What arrives is data, not trust, and is read once: a second look could see another value.
    const size_t size = letter.size.load(std::memory_order_relaxed);
    if (size > max_message) host->fatal("example: received a size above the limit");
    // No lock is held: the handler may send, and poll replies. The letter stays ours until it has
    // returned, as the message must not change before.
    host->deliver(sender, channel, letter.message, size);
    letter.state.store(empty, std::memory_order_release);
    ++delivered;
  }
  next_letter.store(at, std::memory_order_relaxed);
  return delivered;
}

/// What was sent stays in the memory of those that still have it mapped.
void detach() {
  munmap(mailboxes, mapped_size);
}

constexpr Conduit conduit = {
    .version = interface_version,
    .name = "example",
    .description = "mailboxes in shared memory: the smallest complete conduit",
    .capabilities = one_machine,
    .attach = attach,
    .send = send,
    .poll = poll,
    .detach = detach,
    .buffer = nullptr,
    .release = nullptr,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const Conduit* gex_conduit_v4(void) {
  return &conduit;
}
