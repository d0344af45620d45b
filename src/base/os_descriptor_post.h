#pragma once
// Descriptors sent from process to process of one host, each with a number that identifies it.
//
// A process has a post at a name that it gives to others. What they send waits there, up to some
// messages, and is taken from processes of the same user only. A name is known within one network
// namespace; namespaces of processes do not matter.
//
//   if (!post.open(name)) ...             // the reason is in errno
//   post.send(name_of_other, number, descriptor);
//   while (auto received = post.receive()) ...
//
// Thread rules: one thread at a time.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/os_file.h"

namespace gex::os {

class DescriptorPost {
 public:
  /// Takes the name for this process; false, with the reason in errno, if that is not possible.
  bool open(std::string_view name) noexcept;
  bool is_open() const noexcept { return static_cast<bool>(socket_); }

  enum class Sent {
    sent,
    no_room,  ///< the other has to receive first
    failed    ///< the reason is in errno
  };
  /// Sends a copy of the descriptor.
  Sent send(std::string_view name, std::uint64_t number, int descriptor) noexcept;

  struct Received {
    std::uint64_t number;
    FileDescriptor descriptor;
  };
  /// Takes what has come next; nothing: nothing has.
  std::optional<Received> receive() noexcept;

 private:
  FileDescriptor socket_;
};

}  // namespace gex::os
