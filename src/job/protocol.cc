#include "job/protocol.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/os_process.h"
#include "job/limits.h"

namespace gex::job {

namespace {

constexpr std::uint32_t by_exit_bit = 1;
constexpr std::uint32_t stays_open_bit = 2;

constexpr std::size_t control_space =
    CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int));

/// Reads a packet's control messages. Keeps at most one descriptor and closes further ones.
void receive_control(msghdr& message, Received& received) noexcept {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET) continue;
    if (part->cmsg_type == SCM_CREDENTIALS) {
      struct ucred credentials;
      std::memcpy(&credentials, CMSG_DATA(part), sizeof credentials);
      received.sender = credentials.pid;
    } else if (part->cmsg_type == SCM_RIGHTS) {
      const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int number;
        std::memcpy(&number, CMSG_DATA(part) + i * sizeof number, sizeof number);
        os::FileDescriptor passed(number);
        if (!received.descriptor) received.descriptor = std::move(passed);
      }
    }
  }
}

bool is_unix_packet_socket(int descriptor) noexcept {
  int type = 0;
  int domain = 0;
  socklen_t length = sizeof type;
  if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) != 0) return false;
  length = sizeof domain;
  if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) != 0) return false;
  return type == SOCK_SEQPACKET && domain == AF_UNIX;
}

/// Parses the next colon-separated decimal number of `text` and removes it.
template <typename Number>
bool consume_number(std::string_view& text, Number& number, bool last) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest == text.data()) return false;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  if (last) return text.empty();
  if (text.empty() || text.front() != ':') return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

void put_departure(FrameHeader& header, const Departure& departure) noexcept {
  header.code = departure.code;
  header.count =
      (departure.by_exit ? by_exit_bit : 0) | (departure.stays_open ? stays_open_bit : 0);
}

Departure departure_of(const FrameHeader& header) noexcept {
  return {os::exit_status(header.code), (header.count & by_exit_bit) != 0,
          (header.count & stays_open_bit) != 0};
}

Sent send_frame(int socket, const FrameHeader& header, std::span<const std::byte> payload,
                int descriptor, bool wait) noexcept {
  std::array<iovec, 2> pieces{};
  pieces[0].iov_base = const_cast<FrameHeader*>(&header);
  pieces[0].iov_len = sizeof header;
  pieces[1].iov_base = const_cast<std::byte*>(payload.data());
  pieces[1].iov_len = payload.size();
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = payload.empty() ? 1 : 2;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(part), &descriptor, sizeof descriptor);
  }
  const int flags = MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT);
  for (;;) {
    if (sendmsg(socket, &message, flags) >= 0) return Sent::whole;
    switch (errno) {
      case EINTR:
        break;
      case EAGAIN:
      case ENOBUFS:
      case ENOMEM:
        return Sent::would_block;
      case ETOOMANYREFS:
        return Sent::no_descriptors;
      default:
        return Sent::closed;
    }
  }
}

Received receive_frame(int socket, FrameBuffer& buffer, bool wait) noexcept {
  Received received;
  const std::span<std::byte> room = buffer.bytes();
  iovec piece{room.data(), room.size()};
  alignas(cmsghdr) std::array<char, control_space> control;
  msghdr message{};
  ssize_t got;
  do {
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
    // ECONNRESET: the peer ended with unread frames. It is returned once, before its last frames.
  } while (got < 0 && (errno == EINTR || errno == ECONNRESET));
  if (got < 0) {
    received.outcome = errno == EAGAIN ? Received::Outcome::would_block : Received::Outcome::closed;
    return received;
  }
  receive_control(message, received);
  if (got == 0) return received;
  const auto size = static_cast<std::size_t>(got);
  if (size < sizeof(FrameHeader) || size > sizeof(FrameHeader) + max_payload ||
      (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    received.outcome = Received::Outcome::malformed;
    // The buffer for it is large enough.
    received.lost_descriptor = (message.msg_flags & MSG_CTRUNC) != 0;
    return received;
  }
  std::memcpy(&received.header, room.data(), sizeof(FrameHeader));
  received.payload = room.subspan(sizeof(FrameHeader), size - sizeof(FrameHeader));
  received.outcome = Received::Outcome::frame;
  return received;
}

Received::Outcome receive_header(int socket, FrameHeader& header) noexcept {
  ssize_t got;
  do {
    got = recv(socket, &header, sizeof header, MSG_DONTWAIT);
    // ECONNRESET is returned once, before the peer's last frames.
  } while (got < 0 && (errno == EINTR || errno == ECONNRESET));
  if (got == sizeof header) return Received::Outcome::frame;
  if (got > 0) return Received::Outcome::malformed;
  return got < 0 && errno == EAGAIN ? Received::Outcome::would_block : Received::Outcome::closed;
}

std::string format_membership(const Membership& membership) {
  struct stat status {};
  fstat(membership.control, &status);
  return std::to_string(protocol_version) + ':' + std::to_string(membership.control) + ':' +
         std::to_string(membership.rank) + ':' + std::to_string(membership.size) + ':' +
         std::to_string(status.st_ino);
}

std::optional<Membership> parse_membership(std::string_view text, std::string& why) {
  Membership membership;
  std::uint32_t version = 0;
  if (!consume_number(text, version, false)) {
    why = "it is set by gexrun, not by hand";
    return std::nullopt;
  }
  if (version != protocol_version) {
    why = "it comes from a gexrun that speaks version " + std::to_string(version) +
          " of the control protocol, this program's libgex speaks version " +
          std::to_string(protocol_version);
    return std::nullopt;
  }
  std::uint64_t inode = 0;
  if (!consume_number(text, membership.control, false) ||
      !consume_number(text, membership.rank, false) ||
      !consume_number(text, membership.size, false) || !consume_number(text, inode, true) ||
      membership.control < 0 || membership.size == 0 || membership.size > max_ranks ||
      membership.rank >= membership.size) {
    why = "it is set by gexrun, not by hand";
    return std::nullopt;
  }
  struct stat status {};
  if (fstat(membership.control, &status) != 0) {
    why = "descriptor " + std::to_string(membership.control) +
          ", the connection to gexrun, is not open here: a wrapper around the program closed it";
    return std::nullopt;
  }
  if (!is_unix_packet_socket(membership.control) || status.st_ino != inode) {
    why = "descriptor " + std::to_string(membership.control) +
          " is not the connection to gexrun here: a wrapper around the program reused its number";
    return std::nullopt;
  }
  return membership;
}

int maker_of_control_socket(int descriptor) noexcept {
  if (!is_unix_packet_socket(descriptor)) return 0;
  struct ucred peer {};
  socklen_t length = sizeof peer;
  return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.pid : 0;
}

}  // namespace gex::job
