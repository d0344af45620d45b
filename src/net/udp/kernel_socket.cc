#include "net/udp/kernel_socket.h"

#include <fcntl.h>
#include <linux/sock_diag.h>
#include <netinet/udp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/udp/path.h"
#include "net/udp/pieces.h"

namespace gex::net::udp {

namespace {

// As the kernel has them; the C library's headers may be older.
constexpr int udp_segment = 103;
constexpr int udp_gro = 104;

constexpr std::size_t vector_length = 64;
constexpr std::size_t max_ip_packet = 65535;
/// Each takes a descriptor.
constexpr std::size_t max_connected = 32;
constexpr std::uint32_t kernel_max_segments =
    64;  // UDP_MAX_SEGMENTS of the kernels that have fewer

constexpr int ecn_capable = 2;  // ECT(0)
constexpr int ecn_mask = 3;
constexpr int ecn_congested = 3;  // CE

constexpr std::size_t headers_of(int family) noexcept {
  return (family == AF_INET ? 20 : 40) + 8;
}

int option_of(int descriptor, int level, int name) noexcept {
  int value = 0;
  socklen_t length = sizeof value;
  return getsockopt(descriptor, level, name, &value, &length) == 0 ? value : 0;
}

bool set_option(int descriptor, int level, int name, int value) noexcept {
  return setsockopt(descriptor, level, name, &value, sizeof value) == 0;
}

/// As large as is wanted, whatever the system's limit, where this process may; else up to that.
void set_buffer(int descriptor, int forced, int limited, std::size_t wanted) noexcept {
  // The kernel doubles what it is given, for what it keeps beside the bytes.
  const int value = static_cast<int>(std::min<std::size_t>(wanted / 2, 1U << 29));
  if (option_of(descriptor, SOL_SOCKET, limited) / 2 >= value) return;
  if (!set_option(descriptor, SOL_SOCKET, forced, value))
    set_option(descriptor, SOL_SOCKET, limited, value);
}

/// Datagrams are cut by the sender and by no router. Those that fit the interface are sent,
/// whatever has been reported of the path: reports may be forged, and path_search.h finds out.
void let_none_be_cut(int descriptor, int family) noexcept {
  if (family == AF_INET)
    set_option(descriptor, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
  else
    set_option(descriptor, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
}

/// Whom a message is for, if the socket is not connected.
void set_destination(msghdr& header, const Outgoing& message) noexcept {
  if (message.route != 0) return;
  header.msg_name = const_cast<sockaddr*>(message.to->data());
  header.msg_namelen = message.to->length();
}

/// Room now, or never: all others are as good as a loss.
bool is_full(int error) noexcept {
  return error == EAGAIN || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

struct KernelSocket::Vectors {
  mmsghdr headers[vector_length];
  /// Room for the segment size of joined datagrams and for marks.
  struct alignas(cmsghdr) Control {
    std::byte bytes[CMSG_SPACE(sizeof(int)) * 2];
  } control[vector_length];
};

std::unique_ptr<KernelSocket> KernelSocket::open(const SocketOptions& options, std::string& error) {
  const int family = options.bind.family();
  if (options.mtu != 0 && options.mtu < least_mtu(family)) {
    error = "packets of " + std::to_string(options.mtu) + " bytes are too small for IPv" +
            (family == AF_INET ? "4" : "6") + ", which needs " + std::to_string(least_mtu(family));
    return nullptr;
  }
  const int descriptor = ::socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_UDP);
  if (descriptor < 0) {
    error = std::string("cannot open a UDP socket: ") + strerror(errno);
    return nullptr;
  }
  std::unique_ptr<KernelSocket> socket(new KernelSocket(descriptor));
  if (!socket->bind(options, error)) return nullptr;
  socket->mtu_ = options.mtu;
  socket->keeps_to_ports_ = options.last_port != 0;
  socket->interface_mtu_ = interface_mtu(socket->address_);
  socket->set_buffers(options);
  socket->probe(options);
  socket->outgoing_ = std::make_unique<Vectors>();
  socket->incoming_ = std::make_unique<Vectors>();
  return socket;
}

KernelSocket::KernelSocket(int descriptor) noexcept : descriptor_(descriptor) {
}

KernelSocket::~KernelSocket() {
  for (const int descriptor : connected_) close(descriptor);
  close(descriptor_);
}

/// Leaves the reason in errno.
bool KernelSocket::bind_to(const Address& address, unsigned port) {
  const Address wanted = address.with_port(static_cast<std::uint16_t>(port));
  if (::bind(descriptor_, wanted.data(), wanted.length()) != 0) return false;
  socklen_t length = Address::max_length;
  getsockname(descriptor_, address_.data(), &length);
  address_.set_length(length);
  return true;
}

bool KernelSocket::bind(const SocketOptions& options, std::string& error) {
  if (options.bind.family() == AF_INET6) set_option(descriptor_, IPPROTO_IPV6, IPV6_V6ONLY, 1);
  let_none_be_cut(descriptor_, options.bind.family());
  const unsigned first = options.bind.port();
  const unsigned last = std::max<unsigned>(first, options.last_port);
  if (first == 0 && options.preferred_port != 0 && bind_to(options.bind, options.preferred_port))
    return true;
  for (unsigned port = first; port <= last; ++port) {
    if (bind_to(options.bind, port)) return true;
    if (errno != EADDRINUSE && errno != EACCES) break;
  }
  error = "cannot bind to " + options.bind.host_text();
  if (first != 0) {
    error += first == last ? ", port " : ", ports ";
    error += std::to_string(first);
    if (first != last) error += " to " + std::to_string(last);
  }
  error += std::string(": ") + strerror(errno);
  if (first != 0) {
    error += std::string("; ") + options.ports_variable +
             " names them: each rank of a host takes one for each of its lanes (GEX_UDP_LANES)";
  }
  return false;
}

void KernelSocket::set_buffers(const SocketOptions& options) {
  set_buffer(descriptor_, SO_RCVBUFFORCE, SO_RCVBUF, options.receive_buffer);
  set_buffer(descriptor_, SO_SNDBUFFORCE, SO_SNDBUF, options.send_buffer);
  buffers_ = {.wanted_receive = options.receive_buffer,
              .receive = static_cast<std::size_t>(option_of(descriptor_, SOL_SOCKET, SO_RCVBUF)),
              .send = static_cast<std::size_t>(option_of(descriptor_, SOL_SOCKET, SO_SNDBUF))};
  // While datagrams wait, the kernel gives the room of those that were received back a quarter of
  // the buffer at a time (udp_rmem_release).
  limits_.receive_buffer = buffers_.receive / 4 * 3;
}

void KernelSocket::probe(const SocketOptions& options) {
  const bool v4 = address_.family() == AF_INET;
  // A segment size of 0 changes nothing, but is refused by kernels that cut nothing.
  cuts_ = options.cut_in_kernel && set_option(descriptor_, IPPROTO_UDP, udp_segment, 0);
  if (cuts_) {
    limits_.max_batch = max_ip_packet - headers_of(address_.family());
    limits_.max_segments = kernel_max_segments;
  }
  if (options.join && set_option(descriptor_, IPPROTO_UDP, udp_gro, 1)) {
    limits_.joins = true;
    limits_.max_joined = max_ip_packet;
  }
  limits_.names_senders = !options.connects || !address_.is_loopback();
  if (options.marks && !address_.is_loopback()) {
    marks_ = v4 ? set_option(descriptor_, IPPROTO_IP, IP_TOS, ecn_capable) &&
                      set_option(descriptor_, IPPROTO_IP, IP_RECVTOS, 1)
                : set_option(descriptor_, IPPROTO_IPV6, IPV6_TCLASS, ecn_capable) &&
                      set_option(descriptor_, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
  }
}

std::uint16_t KernelSocket::connect(const Address& to) {
  if (limits_.names_senders || keeps_to_ports_ || connected_.size() == max_connected) return 0;
  const int descriptor =
      ::socket(address_.family(), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_UDP);
  if (descriptor < 0) return 0;
  const Address from = address_.with_port(0);
  let_none_be_cut(descriptor, address_.family());
  set_buffer(descriptor, SO_SNDBUFFORCE, SO_SNDBUF, buffers_.send);
  if (::bind(descriptor, from.data(), from.length()) != 0 ||
      ::connect(descriptor, to.data(), to.length()) != 0) {
    close(descriptor);
    return 0;
  }
  connected_.push_back(descriptor);
  return static_cast<std::uint16_t>(connected_.size());
}

std::size_t KernelSocket::send(std::span<const Outgoing> all) {
  std::size_t done = 0;
  while (done < all.size()) {
    const std::span<const Outgoing> rest =
        all.subspan(done, std::min(all.size() - done, vector_length));
    const std::size_t taken = send_some(rest);
    done += taken;
    if (taken == rest.size()) continue;
    // The first of the rest was not taken, for the reason in errno.
    // A connected socket reports here that an earlier one has found no socket.
    if (errno == EINTR || errno == ECONNREFUSED) continue;
    if (is_full(errno)) break;
    const Outgoing& refused = all[done];
    if (refused.segment != 0 && (!cuts_ || errno == EIO || errno == EINVAL)) {
      // A kernel that has GSO may still not have it for this path: an interface that computes no
      // checksums.
      cuts_ = cuts_ && errno != EIO;
      if (!send_in_parts(refused)) break;
    } else {
      ++counts_.refused;
    }
    ++done;
  }
  return done;
}

std::size_t KernelSocket::send_some(std::span<const Outgoing> all) {
  const int descriptor = descriptor_for(all[0]);
  if (all.size() == 1 && all[0].segment == 0 && all[0].count == 1) {
    const Outgoing& one = all[0];
    const bool is_connected = one.route != 0;
    return ::sendto(descriptor, one.pieces[0].iov_base, one.pieces[0].iov_len, MSG_DONTWAIT,
                    is_connected ? nullptr : one.to->data(),
                    is_connected ? 0 : one.to->length()) >= 0
               ? 1
               : 0;
  }
  Vectors& vectors = *outgoing_;
  std::size_t count = 0;
  for (const Outgoing& message : all) {
    if ((message.segment != 0 && !cuts_) || descriptor_for(message) != descriptor) break;
    msghdr& header = vectors.headers[count].msg_hdr;
    header = {};
    set_destination(header, message);
    header.msg_iov = const_cast<iovec*>(message.pieces);
    header.msg_iovlen = message.count;
    if (message.segment != 0) {
      header.msg_control = vectors.control[count].bytes;
      header.msg_controllen = CMSG_SPACE(sizeof message.segment);
      cmsghdr& segment = *CMSG_FIRSTHDR(&header);
      segment.cmsg_level = IPPROTO_UDP;
      segment.cmsg_type = udp_segment;
      segment.cmsg_len = CMSG_LEN(sizeof message.segment);
      std::memcpy(CMSG_DATA(&segment), &message.segment, sizeof message.segment);
    }
    ++count;
  }
  if (count == 0) {
    errno = EINVAL;
    return 0;
  }
  const int sent =
      ::sendmmsg(descriptor, vectors.headers, static_cast<unsigned>(count), MSG_DONTWAIT);
  if (sent < 0) return 0;
  // Fewer than asked for: the call for the next one alone has the reason.
  if (static_cast<std::size_t>(sent) < all.size()) errno = EINTR;
  return static_cast<std::size_t>(sent);
}

bool KernelSocket::send_in_parts(const Outgoing& message) {
  std::size_t left = size_of({message.pieces, message.count});
  std::size_t piece = 0;
  std::size_t offset = 0;
  bool first = true;
  while (left > 0) {
    iovec part[max_pieces];
    std::uint32_t count = 0;
    std::size_t room = std::min<std::size_t>(left, message.segment);
    left -= room;
    while (room > 0) {
      const iovec& from = message.pieces[piece];
      const std::size_t size = std::min(room, from.iov_len - offset);
      if (size > 0) part[count++] = {static_cast<std::byte*>(from.iov_base) + offset, size};
      room -= size;
      offset += size;
      if (offset == from.iov_len) {
        ++piece;
        offset = 0;
      }
    }
    msghdr header{};
    set_destination(header, message);
    header.msg_iov = part;
    header.msg_iovlen = count;
    ssize_t sent = 0;
    do sent = ::sendmsg(descriptor_for(message), &header, MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    if (sent < 0) {
      if (is_full(errno) && first) return false;
      // Some have left: what finds no room now is lost.
      ++counts_.refused;
    }
    first = false;
  }
  return true;
}

std::size_t KernelSocket::receive_one(Incoming& place) {
  const bool is_named = limits_.names_senders;
  socklen_t length = Address::max_length;
  ssize_t bytes = 0;
  do {
    bytes = ::recvfrom(descriptor_, place.pieces[0].iov_base, place.pieces[0].iov_len,
                       MSG_DONTWAIT | MSG_TRUNC, is_named ? place.from.data() : nullptr,
                       is_named ? &length : nullptr);
  } while (bytes < 0 && errno == EINTR);
  // What is reported belongs to datagrams that were sent before: a loss.
  if (bytes < 0) return 0;
  place.from.set_length(length);
  place.cut = static_cast<std::size_t>(bytes) > place.pieces[0].iov_len;
  place.bytes = std::min<std::size_t>(static_cast<std::size_t>(bytes), place.pieces[0].iov_len);
  place.segment = 0;
  place.congested = false;
  return 1;
}

std::size_t KernelSocket::receive(std::span<Incoming> all) {
  // Most polls find nothing, and most others one datagram: this call takes less.
  if (all.size() == 1 && all[0].count == 1 && !marks_) return receive_one(all[0]);
  Vectors& vectors = *incoming_;
  const std::size_t count = std::min(all.size(), vector_length);
  for (std::size_t i = 0; i < count; ++i) {
    Incoming& place = all[i];
    msghdr& header = vectors.headers[i].msg_hdr;
    header.msg_name = limits_.names_senders ? place.from.data() : nullptr;
    header.msg_namelen = limits_.names_senders ? Address::max_length : 0;
    header.msg_iov = place.pieces;
    header.msg_iovlen = place.count;
    header.msg_control = vectors.control[i].bytes;
    header.msg_controllen = sizeof vectors.control[i].bytes;
    header.msg_flags = 0;
  }
  int received = 0;
  do {
    received = ::recvmmsg(descriptor_, vectors.headers, static_cast<unsigned>(count), MSG_DONTWAIT,
                          nullptr);
  } while (received < 0 && errno == EINTR);
  // Everything else that is reported belongs to datagrams that were sent before: a loss.
  if (received < 0) return 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(received); ++i) {
    Incoming& place = all[i];
    msghdr& header = vectors.headers[i].msg_hdr;
    place.from.set_length(header.msg_namelen);
    place.bytes = vectors.headers[i].msg_len;
    place.cut = (header.msg_flags & MSG_TRUNC) != 0;
    place.segment = 0;
    place.congested = false;
    read_control(header, place);
  }
  return static_cast<std::size_t>(received);
}

void KernelSocket::read_control(msghdr& header, Incoming& place) noexcept {
  for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
    if (item->cmsg_level == IPPROTO_UDP && item->cmsg_type == udp_gro) {
      int size = 0;
      std::memcpy(&size, CMSG_DATA(item), sizeof size);
      place.segment = static_cast<std::uint16_t>(size);
    } else if ((item->cmsg_level == IPPROTO_IP && item->cmsg_type == IP_TOS) ||
               (item->cmsg_level == IPPROTO_IPV6 && item->cmsg_type == IPV6_TCLASS)) {
      // One byte of IPv4, an integer of IPv6; the mark is in the lowest byte.
      int marks = 0;
      std::memcpy(&marks, CMSG_DATA(item),
                  std::min<std::size_t>(sizeof marks, item->cmsg_len - CMSG_LEN(0)));
      place.congested = (marks & ecn_mask) == ecn_congested;
    }
  }
}

SocketCounts KernelSocket::counts() const noexcept {
  SocketCounts counts = counts_;
  std::uint32_t memory[SK_MEMINFO_VARS] = {};
  socklen_t length = sizeof memory;
  if (getsockopt(descriptor_, SOL_SOCKET, SO_MEMINFO, memory, &length) == 0)
    counts.overflowed = memory[SK_MEMINFO_DROPS];
  return counts;
}

std::size_t KernelSocket::max_datagram(const Address& to) const {
  const std::size_t headers = headers_of(to.family());
  // More than the path's is refused by the system, datagram for datagram.
  std::size_t mtu = path_mtu(address_, to);
  if (mtu_ != 0) mtu = std::min(mtu, mtu_);
  return std::clamp(mtu, least_mtu(to.family()), max_ip_packet) - headers;
}

std::size_t KernelSocket::interface_datagram(const Address& to) const {
  const std::size_t headers = headers_of(to.family());
  std::size_t mtu = interface_mtu_ != 0 ? interface_mtu_ : path_mtu(address_, to);
  if (mtu_ != 0) mtu = std::min(mtu, mtu_);
  return std::clamp(mtu, least_mtu(to.family()), max_ip_packet) - headers;
}

std::size_t KernelSocket::charge(std::size_t bytes) const noexcept {
  return charge_of(bytes, address_.family(), address_.is_loopback());
}

std::size_t charge_of(std::size_t bytes, int family, bool local) noexcept {
  // Beside the bytes and their headers: room for a link's header, the kernel's record of what the
  // buffer shares, and of the datagram itself. The buffer is of a power of two, but that of the
  // smallest has a size of its own.
  constexpr std::size_t room_in_front = 32;
  constexpr std::size_t shared_record = 320;
  constexpr std::size_t record = 256;
  constexpr std::size_t small_buffer = 512;
  constexpr std::size_t least_buffer = 576;
  constexpr std::size_t largest_buffer = 16384;
  const std::size_t buffer = bytes + headers_of(family) + room_in_front + shared_record;
  // Larger ones lie in pages, with the buffer for their headers, and so do the bytes of a small one
  // that the kernel has cut from a batch.
  const std::size_t own = buffer <= small_buffer     ? least_buffer + bytes
                          : buffer <= largest_buffer ? std::bit_ceil(buffer)
                                                     : bytes + 4 * least_buffer;
  if (local) return own + record;
  // Drivers receive into whole pages.
  constexpr std::size_t page = 4096;
  return std::max(own, (buffer + page - 1) / page * page) + 2 * record;
}

}  // namespace gex::net::udp
