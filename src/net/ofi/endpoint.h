#pragma once
// An endpoint of libfabric's with its completion queue, and by which addresses it reaches peers.
// One serves both channels; network.h describes how they are kept apart.
//
// The first endpoint of a process sends to the peers' first ones. A further one, of a lane
// (lanes.h), has no route to a peer until it is connected with one of the peer's endpoints.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/zeroed_table.h"
#include "net/ofi/domain.h"

namespace gex::net::ofi {

class Endpoint {
 public:
  /// Makes the object, which does nothing before `enable`. Reads the environment: only while no
  /// other thread runs.
  /// `wakes`: it is to have a wait descriptor, if the provider has any.
  Endpoint(const Domain& domain, bool wakes, std::string& error);

  /// Opens everything; after false `error` is set.
  bool enable(std::string& error);
  bool is_enabled() const noexcept { return completions_ != nullptr; }

  const fi_info& info() const noexcept { return domain_.info(); }
  RmaMeans rma() const noexcept { return domain_.rma(); }
  fid_domain* domain() const noexcept { return domain_.domain(); }
  fid_ep* endpoint() const noexcept { return endpoint_.get(); }
  fid_cq* completions() const noexcept { return completions_.get(); }
  std::string take_device_error() const { return domain_.take_device_error(); }

  /// Can be read when there are completions or something else for the provider to do, once
  /// `arm_wait` has returned true; -1: the provider has none.
  int wait_descriptor() const noexcept { return wait_descriptor_; }
  /// Returns true if a thread may sleep on it now: nothing has come that was not read.
  bool arm_wait() const noexcept;

  /// By what name peers reach it. Providers whose names are texts may have longer and shorter ones.
  std::vector<std::byte> name(std::string& error) const;
  /// Returns true if peers have opened the file of this endpoint once they have its name; else at
  /// the first contact.
  bool opens_files_early() const noexcept;
  /// Once all peers have opened it: its entry in a file system, which would outlive the process, is
  /// removed.
  void unlink_file() const;
  /// Ends all transfers. The buffers that the endpoint was given may go afterwards, not before.
  void close() noexcept { endpoint_.reset(); }

  // Where messages, and one-sided operations, to a rank go; FI_ADDR_NOTAVAIL: not over this
  // endpoint. Any thread.
  fi_addr_t message_route(std::uint32_t rank) const noexcept {
    return is_first_ ? domain_.address_of(rank) : routes_[rank].messages.get();
  }
  fi_addr_t transfer_route(std::uint32_t rank) const noexcept {
    return is_first_ ? domain_.address_of(rank) : routes_[rank].transfers.get();
  }
  /// There is a connection with this endpoint of the peer's. Messages take the way if the peer's is
  /// of a further lane too.
  void set_routes(std::uint32_t rank, fi_addr_t address) noexcept;
  /// The peer's first endpoint.
  const Place& scratch_place_of(std::uint32_t rank) const noexcept {
    return domain_.scratch_place_of(rank);
  }
  /// This is the first endpoint, and leads to the peers' first ones. Before any other thread uses
  /// it.
  void use_first_addresses() noexcept { is_first_ = true; }

 private:
  /// Makes the endpoint, in place of the one before.
  bool make(std::string& error);
  /// Enables it with a completion queue of this size; after false `error` is set.
  bool enable(std::size_t queue_size, std::string& error);

  struct Routes {
    AddressCell messages;
    AddressCell transfers;
  };

  const Domain& domain_;
  const bool wakes_;
  bool is_first_ = false;
  ZeroedTable<Routes> routes_;  ///< by rank, of a further endpoint
  int wait_descriptor_ = -1;    ///< the queue's
  // The endpoint goes first.
  Fid<fid_cq> completions_;
  Fid<fid_ep> endpoint_;
};

}  // namespace gex::net::ofi
