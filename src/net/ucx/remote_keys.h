#pragma once
// Peers' segments as UCX names them on a worker's endpoints: each key is unpacked when the first
// operation needs it, and kept.
//
// Thread rules: with the worker in use.

#include <gex/plugin/conduit.h>
#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/zeroed_table.h"
#include "net/ucx/endpoints.h"

namespace gex::net::ucx {

class RemoteKeys {
 public:
  RemoteKeys(const Host& host, Endpoints& endpoints)
      : host_(host), endpoints_(endpoints), peers_(host.size) {}
  RemoteKeys(const RemoteKeys&) = delete;
  RemoteKeys& operator=(const RemoteKeys&) = delete;

  /// How long the keys of this job are.
  void set_key_bytes(std::size_t key_bytes) noexcept { key_bytes_ = key_bytes; }

  /// The key of `remote`, whose peer is in this job. `is_idle`: no operation to that peer is under
  /// way, so that keys of which it has had too many may be forgotten.
  ucp_rkey_h find(const Remote& remote, bool is_idle);
  void forget_all();

 private:
  struct Known {
    std::uint64_t number;
    ucp_rkey_h key;
  };
  using OfPeer = std::vector<Known>;  ///< the last one used first

  OfPeer& of(std::uint32_t peer);

  ucp_rkey_h unpack(const Remote& remote, std::uint64_t number);
  static void forget(OfPeer& known);

  const Host& host_;
  Endpoints& endpoints_;
  std::size_t key_bytes_ = 0;
  std::deque<OfPeer> contacted_;
  ZeroedTable<OfPeer*> peers_;  ///< null: none of its segments has been used
};

}  // namespace gex::net::ucx
