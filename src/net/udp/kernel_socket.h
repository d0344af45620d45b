#pragma once
// `KernelSocket`: a UDP socket of the kernel's, with what Linux has for many datagrams a call:
// sendmmsg and recvmmsg, cutting in the kernel or the card (GSO), joining there (GRO), marks of
// congestion (ECN). Each is probed; what a kernel lacks is done without, or here.
//
// To a peer on the loopback it sends from a socket that is connected to the peer's (`connect`): the
// kernel need not look for the way each time, which is an eighth of what a short datagram takes.
// Such datagrams come from a port at which nothing is received, so their receiver asks for no
// senders' addresses, which takes time as well; on the loopback they do not change.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/udp/socket.h"

namespace gex::net::udp {

struct SocketOptions {
  Address bind;                 ///< where from and to; port 0: the kernel chooses one
  std::uint16_t last_port = 0;  ///< not 0: the first free one from the port of `bind` to this
  /// Not 0: where the kernel would choose, this one is tried first.
  std::uint16_t preferred_port = 0;
  const char* ports_variable = "GEX_UDP_PORTS";        ///< that names these, for messages
  std::size_t receive_buffer = std::size_t{16} << 20;  ///< wanted, in bytes as the kernel counts
  std::size_t send_buffer = std::size_t{4} << 20;
  bool cut_in_kernel = true;  ///< GSO
  bool join = true;           ///< GRO
  bool marks = true;          ///< ECN; never on the loopback
  std::size_t mtu = 0;        ///< not 0: of every path, in bytes of an IP packet
  bool connects = false;      ///< to peers, on the loopback, unless ports are named
};

class KernelSocket final : public Socket {
 public:
  /// Null after setting `error` to one line that names the cause.
  static std::unique_ptr<KernelSocket> open(const SocketOptions& options, std::string& error);
  ~KernelSocket() override;
  KernelSocket(const KernelSocket&) = delete;
  KernelSocket& operator=(const KernelSocket&) = delete;

  std::size_t send(std::span<const Outgoing> all) override;
  std::size_t receive(std::span<Incoming> all) override;
  std::uint16_t connect(const Address& to) override;
  const SocketLimits& limits() const noexcept override { return limits_; }
  std::size_t max_datagram(const Address& to) const override;
  std::size_t interface_datagram(const Address& to) const override;
  std::size_t charge(std::size_t bytes) const noexcept override;

  /// Where it is bound, with the port.
  const Address& address() const noexcept { return address_; }
  int descriptor() const noexcept override { return descriptor_; }

  /// The buffers that the system has granted, for the user: "receive buffer 8 MiB", and what to do
  /// about less.
  struct Buffers {
    std::size_t wanted_receive;
    std::size_t receive;  ///< in the kernel's bytes
    std::size_t send;
  };
  const Buffers& buffers() const noexcept { return buffers_; }

  SocketCounts counts() const noexcept override;

 private:
  explicit KernelSocket(int descriptor) noexcept;
  bool bind_to(const Address& address, unsigned port);
  bool bind(const SocketOptions& options, std::string& error);
  void set_buffers(const SocketOptions& options);
  void probe(const SocketOptions& options);
  std::size_t receive_one(Incoming& place);
  std::size_t send_some(std::span<const Outgoing> all);
  int descriptor_for(const Outgoing& message) const noexcept {
    return message.route == 0 ? descriptor_ : connected_[message.route - 1U];
  }
  bool send_in_parts(const Outgoing& message);
  void read_control(msghdr& header, Incoming& place) noexcept;

  struct Vectors;  ///< what the kernel reads of a call of sendmmsg or recvmmsg
  int descriptor_;
  std::vector<int> connected_;  ///< descriptors, by route
  Address address_;
  SocketLimits limits_;
  Buffers buffers_{};
  bool marks_ = false;
  bool cuts_ = false;              ///< GSO works, as far as is known
  bool keeps_to_ports_ = false;    ///< no socket may have a port of the kernel's choice
  std::size_t mtu_ = 0;            ///< that the user has set
  std::size_t interface_mtu_ = 0;  ///< when it was opened
  SocketCounts counts_;
  std::unique_ptr<Vectors> outgoing_;
  std::unique_ptr<Vectors> incoming_;
};

/// Returns what a kernel charges for a waiting datagram of `bytes` bytes; see Socket::charge.
/// `local`: it has not passed a network interface's driver, which has buffers of its own making.
std::size_t charge_of(std::size_t bytes, int family, bool local) noexcept;

}  // namespace gex::net::udp
