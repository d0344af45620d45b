// The conduit's table, of the part that is linked with one MPI.

#include <gex/plugin/all_ranks.h>
#include <gex/plugin/table.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "net/mpi/library/network.h"
#include "net/mpi/library/session.h"

namespace gex::net::mpi {

namespace {

/// This process's end of the network. A job of one rank sends nothing, and needs no MPI.
class Mpi {
 public:
  static std::unique_ptr<Mpi> attach(const Host& host, Limits& limits);

  SendResult send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces) {
    return network_ ? network_->send(channel, peer, pieces) : would_block;
  }
  std::size_t poll(std::uint32_t channels, std::size_t max) {
    return network_ ? network_->poll(channels, max) : 0;
  }
  void* buffer(Channel channel, std::uint32_t peer, std::size_t size) {
    return network_ ? network_->buffer(channel, peer, size) : nullptr;
  }
  void release(void* payload) {
    if (network_) network_->release(payload);
  }
  bool register_segment(const SegmentMemory& memory, void* key) {
    return network_ && network_->register_segment(memory, key);
  }
  void deregister_segment(const void* key) {
    if (network_) network_->deregister_segment(key);
  }
  SendResult put(const Remote& remote, const void* local, std::size_t size, void* done,
                 void* local_done) {
    return network_ ? network_->put(remote, local, size, done, local_done) : would_block;
  }
  SendResult get(const Remote& remote, void* local, std::size_t size, void* done) {
    return network_ ? network_->get(remote, local, size, done) : would_block;
  }
  void transport(std::uint32_t /*peer*/, const char** name, const char** reason) const {
    if (!session_) return;
    *name = session_->interface();
    *reason = session_->interface_reason();
  }
  void leave() {
    if (network_) network_->leave();
  }
  static constexpr const char* finalizer = "MPI_Finalize";
  static Finalization finalization(bool by_exit) { return mpi::finalization(by_exit); }
  static void finalize() { finalize_on_all_ranks(); }

 private:
  std::optional<Session> session_;
  std::optional<Network> network_;
};

std::unique_ptr<Mpi> Mpi::attach(const Host& host, Limits& limits) {
  auto made = std::make_unique<Mpi>();
  limits = {.max_message = max_message,
            .reply_depth = channel_depth,
            .max_transfer = max_transfer,
            .total_depth = total_channel_depth(host.size)};
  if (host.size == 1) return made;
  std::string error;
  // It has reported its failure.
  made->session_.emplace(host, error);
  if (!error.empty()) return nullptr;
  made->network_.emplace(host, *made->session_);
  made->network_->start(error);
  if (!succeeded_on_all_ranks(host, error)) return nullptr;
  return made;
}

constexpr Conduit table =
    table_of<Mpi>("mpi", "messages by MPI (" GEX_MPI_LIBRARY ")", registers_host_memory);

}  // namespace

}  // namespace gex::net::mpi

extern "C" [[gnu::visibility("default")]] const gex::net::Conduit* gex_conduit_v4() {
  return &gex::net::mpi::table;
}
