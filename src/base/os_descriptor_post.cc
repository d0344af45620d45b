#include "base/os_descriptor_post.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/os_abstract_name.h"

namespace gex::os {

namespace {

/// Room for one descriptor and the sender's credentials.
union Control {
  cmsghdr aligned;
  char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(ucred))];
};

FileDescriptor datagram_socket() noexcept {
  return FileDescriptor(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

}  // namespace

bool DescriptorPost::open(std::string_view name) noexcept {
  FileDescriptor made = datagram_socket();
  const int on = 1;
  if (!made || setsockopt(made.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
      bind_abstract(made.get(), name) != 0)
    return false;
  socket_ = std::move(made);
  return true;
}

DescriptorPost::Sent DescriptorPost::send(std::string_view name, std::uint64_t number,
                                          int descriptor) noexcept {
  const FileDescriptor out = datagram_socket();
  if (!out || connect_abstract(out.get(), name) != 0) return Sent::failed;
  iovec data{&number, sizeof number};
  Control control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = CMSG_SPACE(sizeof descriptor);
  cmsghdr* const part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(part), &descriptor, sizeof descriptor);
  if (sendmsg(out.get(), &message, MSG_NOSIGNAL) >= 0) return Sent::sent;
  return errno == EAGAIN || errno == ENOBUFS || errno == ETOOMANYREFS ? Sent::no_room
                                                                      : Sent::failed;
}

std::optional<DescriptorPost::Received> DescriptorPost::receive() noexcept {
  while (socket_) {
    Received received{};
    iovec data{&received.number, sizeof received.number};
    Control control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    const ssize_t size = recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
    if (size < 0) return std::nullopt;
    bool of_own_user = false;
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
         part = CMSG_NXTHDR(&message, part)) {
      if (part->cmsg_level != SOL_SOCKET) continue;
      if (part->cmsg_type == SCM_RIGHTS && part->cmsg_len == CMSG_LEN(sizeof(int))) {
        int descriptor = -1;
        std::memcpy(&descriptor, CMSG_DATA(part), sizeof descriptor);
        received.descriptor = FileDescriptor(descriptor);
      } else if (part->cmsg_type == SCM_CREDENTIALS) {
        ucred sender{};
        std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
        of_own_user = sender.uid == geteuid() || sender.uid == getuid();
      }
    }
    if (size == sizeof received.number && of_own_user && received.descriptor) return received;
  }
  return std::nullopt;
}

}  // namespace gex::os
