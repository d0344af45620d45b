// A network of one machine whose one-sided operations are process_vm_readv and process_vm_writev,
// for tests of what few networks have: keys longer than 16 bytes, transfers of pieces, puts that
// only a flush completes, and lanes. Messages are the example conduit's, which it loads.
//
// It ends the job if a key is not the one that its owner made, if two threads that are there go by
// one lane, or, with VM_LANES in the environment, if a thread puts or gets that has entered none.

#include <gex/plugin/all_ranks.h>
#include <gex/plugin/conduit.h>
#include <gex/plugin/table.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

using namespace gex::net;

constexpr size_t max_transfer = size_t{1} << 20;
constexpr uint32_t max_pieces = 8;

struct Key {
  uint64_t process;
  uint64_t address;
  uint64_t size;
  uint64_t cookie;
  uint64_t check[6];

  uint64_t word(size_t at) const {
    return (process * 31 + address + size * 7 + cookie) * (2 * at + 3);
  }
  void seal() {
    for (size_t at = 0; at < std::size(check); ++at) check[at] = word(at);
  }
  bool is_whole() const {
    for (size_t at = 0; at < std::size(check); ++at)
      if (check[at] != word(at)) return false;
    return true;
  }
};
static_assert(sizeof(Key) > 16 && sizeof(Key) % 8 == 0);

/// Taken by threads that are there.
std::array<std::atomic<bool>, 512> lanes;

struct Lane {
  uint32_t number = 0;
  bool entered = false;
  void leave() {
    if (entered) lanes[number].store(false);
    entered = false;
  }
  ~Lane();
};
thread_local Lane lane;
/// The thread is ending: destructors of others' may enter once more, and no rank sees them leave.
thread_local bool is_ending = false;
Lane::~Lane() {
  leave();
  is_ending = true;
}

class Vm {
 public:
  static std::unique_ptr<Vm> attach(const Host& host, Limits& limits);
  Vm(const Host& host, const Conduit& messages) : host_(host), messages_(messages) {}

  SendResult send(Channel channel, uint32_t peer, std::span<const Piece> pieces) {
    return messages_.send(channel, peer, pieces.data(), pieces.size());
  }
  size_t poll(uint32_t channels, size_t max) { return messages_.poll(channels, max); }
  void leave() { messages_.detach(); }

  bool register_segment(const SegmentMemory& memory, void* key) {
    if (memory.memory_class == cuda_memory) {
      host_.warn(("vm: shown " + std::to_string(memory.size) + " bytes of kind " +
                  std::to_string(memory.memory_class) + " of device " +
                  std::to_string(memory.device))
                     .c_str());
      return false;
    }
    if (memory.memory_class != host_memory)
      host_.fatal("vm: it was shown memory of a kind that it has not named");
    Key made{static_cast<uint64_t>(getpid()),
             reinterpret_cast<uint64_t>(memory.address),
             memory.size,
             host_.cookie,
             {}};
    made.seal();
    memcpy(key, &made, sizeof made);
    return true;
  }
  void deregister_segment(const void* key) { whole(key); }

  SendResult put(const Remote& remote, const void* local, size_t size, void* done,
                 void* local_done) {
    const RemotePiece to{remote.address, size};
    const LocalPiece from{const_cast<void*>(local), size};
    return put_pieces(remote, {&to, 1}, {&from, 1}, done, local_done);
  }
  SendResult get(const Remote& remote, void* local, size_t size, void* done) {
    const RemotePiece from{remote.address, size};
    const LocalPiece to{local, size};
    return get_pieces(remote, {&from, 1}, {&to, 1}, done);
  }
  SendResult put_pieces(const Remote& remote, std::span<const RemotePiece> to,
                        std::span<const LocalPiece> from, void* done, void* local_done) {
    if (done == nullptr && local_done != nullptr) host_.fatal("vm: a put of which half completes");
    move(process_vm_writev, remote, to, from);
    if (local_done != nullptr) host_.complete(local_done);
    if (done != nullptr) host_.complete(done);
    return sent;
  }
  SendResult get_pieces(const Remote& remote, std::span<const RemotePiece> from,
                        std::span<const LocalPiece> to, void* done) {
    move(process_vm_readv, remote, from, to);
    host_.complete(done);
    return sent;
  }
  /// Everything is there when a put has been accepted.
  SendResult flush(uint32_t, void* done) {
    host_.complete(done);
    return sent;
  }

  void enter_lane(uint32_t number) {
    if (number >= lanes.size()) host_.fatal("vm: a lane whose number is not small");
    if (is_ending) return;
    lane.leave();
    if (lanes[number].exchange(true)) host_.fatal("vm: two threads in one lane");
    lane.number = number;
    lane.entered = true;
  }

 private:
  using Call = ssize_t(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                       unsigned long);

  void check_lane() const {
    if (lanes_are_entered_ && !lane.entered) host_.fatal("vm: a thread has entered no lane");
  }
  const Key& whole(const void* key) const {
    const Key& read = *static_cast<const Key*>(key);
    if (!read.is_whole() || read.cookie != host_.cookie)
      host_.fatal("vm: not the key of a segment");
    return read;
  }
  void move(Call* call, const Remote& remote, std::span<const RemotePiece> remotes,
            std::span<const LocalPiece> locals) const {
    check_lane();
    const Key& key = whole(remote.key);
    std::vector<iovec> there, here;
    size_t size = 0;
    for (const RemotePiece& piece : remotes) {
      if (piece.address - key.address > key.size ||
          piece.size > key.size - (piece.address - key.address))
        host_.fatal("vm: bytes outside of a segment");
      there.push_back({reinterpret_cast<void*>(piece.address), piece.size});
      size += piece.size;
    }
    for (const LocalPiece& piece : locals) here.push_back({piece.data, piece.size});
    if (size > max_transfer || there.size() > max_pieces || here.size() > max_pieces)
      host_.fatal("vm: a transfer above its limits");
    const ssize_t moved = call(static_cast<pid_t>(key.process), here.data(), here.size(),
                               there.data(), there.size(), 0);
    if (moved != static_cast<ssize_t>(size))
      host_.fatal(("vm: " + std::string(strerror(errno))).c_str());
  }

  const Host& host_;
  const Conduit& messages_;
  const bool lanes_are_entered_ = getenv("VM_LANES") != nullptr;
};

std::unique_ptr<Vm> Vm::attach(const Host& host, Limits& limits) {
  void* const example = dlopen(GEX_EXAMPLE_CONDUIT, RTLD_NOW | RTLD_LOCAL);
  void* const entry = example != nullptr ? dlsym(example, entry_symbol) : nullptr;
  if (entry == nullptr) host.fatal("vm: the example conduit cannot be loaded");
  const Conduit& messages = *reinterpret_cast<Entry>(entry)();
  // Where only a process's parent may reach its memory unless it permits others.
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  if (messages.attach(&host, &limits) != 0) return nullptr;
  limits.max_transfer = max_transfer;
  limits.key_bytes = sizeof(Key);
  limits.max_pieces = max_pieces;
  return std::make_unique<Vm>(host, messages);
}

constexpr Conduit table =
    table_of<Vm>("vm", "mailboxes and process_vm_writev",
                 registers_host_memory | registers(cuda_memory) | one_machine);

}  // namespace

extern "C" __attribute__((visibility("default"))) const Conduit* gex_conduit_v4(void) {
  return &table;
}
