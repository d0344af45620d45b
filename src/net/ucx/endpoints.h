#pragma once
// A worker's endpoints: the connections with its peers, and with itself, made when they are first
// used.
//
// Thread rules: with the worker in use, but for `add_addresses`.

#include <gex/plugin/conduit.h>
#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/zeroed_table.h"
#include "net/ucx/worker.h"

namespace gex::net::ucx {

class Endpoints {
 public:
  Endpoints(const Host& host, Worker& worker) : host_(host), worker_(worker), peers_(host.size) {}
  Endpoints(const Endpoints&) = delete;
  Endpoints& operator=(const Endpoints&) = delete;

  /// The workers' addresses of all ranks, `stride` bytes apart; they stay where they are. Without
  /// them peers are reached that were connected by an address each.
  void set_addresses(const std::byte* addresses, std::size_t stride) {
    addresses_ = addresses;
    stride_ = stride;
  }

  /// Ends the job if no transport leads there.
  ucp_ep_h to(std::uint32_t peer) {
    ucp_ep_h const endpoint = peers_[peer].endpoint;
    return endpoint != nullptr ? endpoint : connect(peer, addresses_ + peer * stride_);
  }
  /// Connects one that is not connected with the worker of that address.
  void connect(std::uint32_t peer, const std::vector<std::byte>& address) {
    connect(peer, address.data());
  }
  /// Returns true if the peer's address is known.
  bool can_reach(std::uint32_t peer) const noexcept {
    return addresses_ != nullptr || peers_[peer].endpoint != nullptr;
  }

  /// Ends the job because an operation with the peer failed.
  [[noreturn]] void lost(std::uint32_t peer, const char* what, ucs_status_t status) const;

  // The process leaves: all that work are closed, after what is under way on them.
  void begin_to_close();
  /// Returns true if they are closed.
  bool advance_closing();
  /// Gives up those that are not.
  void end_closing();

  /// Returns true if all of the endpoint's transports are TCP; connects it if it is not.
  bool is_over_tcp_alone(std::uint32_t peer);

  /// The endpoint's transports as UCX prints them, "rc_mlx5/mlx5_0:1, tcp/eth0"; connects it if it
  /// is not.
  std::string lanes_of(std::uint32_t peer);

 private:
  struct Connection {
    ucp_ep_h endpoint = nullptr;
    ucs_status_t failure = UCS_OK;  ///< what UCX has reported of the connection
  };

  ucp_ep_h connect(std::uint32_t peer, const std::byte* address);
  static void failed(void* peer, ucp_ep_h endpoint, ucs_status_t status);

  const Host& host_;
  Worker& worker_;
  const std::byte* addresses_ = nullptr;
  std::size_t stride_ = 0;
  ZeroedTable<Connection> peers_;
  std::vector<std::uint32_t> connected_;
  std::vector<void*> closing_;  ///< requests
};

}  // namespace gex::net::ucx
