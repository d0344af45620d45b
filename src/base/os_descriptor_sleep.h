#pragma once
// Sleeping on descriptors, and sockets by which other processes of this host end such a sleep.
//
//   a sleeper                                        another process
//     WakeSocket own; own.open();                      wake(own, name);
//     sleep_on(descriptors and own.descriptor(), limit)
//
// No function here is a cancellation point.

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/os_file.h"

namespace gex::os {

/// Sleeps until one of the descriptors can be read or has an error, or until a signal; at most
/// `limit_ns`. At most `max_slept_on` of them.
inline constexpr std::size_t max_slept_on = 32;
void sleep_on(std::span<const int> descriptors, std::uint64_t limit_ns) noexcept;

/// A socket that can be read once another process has called `wake` with its name. The kernel
/// chooses the name, an abstract one of a Unix socket, and others may find it out: what they can do
/// with it is to wake for nothing.
class WakeSocket {
 public:
  /// False, with errno: there is none.
  bool open() noexcept;
  bool is_open() const noexcept { return static_cast<bool>(socket_); }

  int descriptor() const noexcept { return socket_.get(); }
  /// Not 0 once it is open.
  std::uint32_t name() const noexcept { return name_; }
  /// Takes in what has woken it so far.
  void drain() noexcept;

  /// Ends the sleep of the process whose socket has that name, from an open socket of this process;
  /// of one in another network namespace, or that has ended, nothing. Any thread.
  void wake(std::uint32_t name) const noexcept;

 private:
  FileDescriptor socket_;
  std::uint32_t name_ = 0;
};

}  // namespace gex::os
