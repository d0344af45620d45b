#include "launch/agents/input_feed.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string_view>
#include <thread>

#include "base/os_memory.h"
#include "base/os_process.h"
#include "base/os_thread.h"

namespace gex::launch {

namespace {

bool write_whole(int descriptor, std::string_view bytes) {
  return os::write_fully(descriptor, bytes.data(), bytes.size()) == 0;
}

/// Returns true if a failed read is worth a retry; if so waits for input first.
bool wait_for_input(int error) {
  pollfd readable{STDIN_FILENO, POLLIN, 0};
  // Another process has made the shared open file non-blocking.
  if (error == EAGAIN) return poll(&readable, 1, -1) >= 0 || errno == EINTR;
  // A terminal whose input belongs to another job while this one is in the background.
  if (error != EIO || isatty(STDIN_FILENO) == 0) return false;
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  return true;
}

}  // namespace

os::FileDescriptor input_of(const std::string& bytes) {
  // A write to a file never blocks, unlike one to a pipe.
  os::FileDescriptor file = os::create_memory_file("gexrun-input", 0).descriptor;
  if (!file || !write_whole(file.get(), bytes) || lseek(file.get(), 0, SEEK_SET) != 0) return {};
  return file;
}

int send_bytes(os::FileDescriptor pipe, std::string bytes) {
  std::thread sender;
  const int error = os::start_thread(
      sender, [to = std::move(pipe), all = std::move(bytes)] { write_whole(to.get(), all); });
  if (error == 0) sender.detach();
  return error;
}

int copy_input(os::FileDescriptor pipe) {
  std::thread feeder;
  const int error = os::start_thread(feeder, [to = std::move(pipe)] {
    char piece[65536];
    for (;;) {
      const ssize_t got = read(STDIN_FILENO, piece, sizeof piece);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && wait_for_input(errno)) continue;
      if (got <= 0) return;
      if (!write_whole(to.get(), {piece, static_cast<std::size_t>(got)})) return;
    }
  });
  if (error == 0) feeder.detach();
  return error;
}

}  // namespace gex::launch
