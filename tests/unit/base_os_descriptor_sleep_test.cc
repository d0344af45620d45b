// Sleeping on descriptors, and what ends that: nothing here can pass by a limit, which is longer
// than a test may take.

#include "base/os_descriptor_sleep.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

namespace gex::os {
namespace {

constexpr std::uint64_t for_ever = std::uint64_t{3600} * 1'000'000'000;

TEST(DescriptorSleep, EndsAtItsLimit) {
  WakeSocket socket;
  ASSERT_TRUE(socket.open());
  const int descriptor = socket.descriptor();
  sleep_on({&descriptor, 1}, 1'000);
}

TEST(DescriptorSleep, EndsWhenADescriptorCanBeRead) {
  WakeSocket socket;
  ASSERT_TRUE(socket.open());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  const int descriptors[] = {socket.descriptor(), ends[0]};
  sleep_on(descriptors, for_ever);
  close(ends[0]);
  close(ends[1]);
}

TEST(DescriptorSleep, AnotherProcessEndsItWithANameAlone) {
  WakeSocket socket;
  ASSERT_TRUE(socket.open());
  ASSERT_NE(socket.name(), 0U);
  const int descriptor = socket.descriptor();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    WakeSocket own;
    if (!own.open() || own.name() == socket.name()) _exit(1);
    // Also where the queue is full it does not wait.
    for (int i = 0; i < 1000; ++i) own.wake(socket.name());
    _exit(0);
  }
  sleep_on({&descriptor, 1}, for_ever);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  socket.drain();
  // Now it sleeps again, until its limit.
  sleep_on({&descriptor, 1}, 1'000);
  char byte;
  EXPECT_EQ(read(descriptor, &byte, 1), -1) << "drained";
}

TEST(DescriptorSleep, ANameThatNoSocketHasWakesNothing) {
  WakeSocket socket;
  ASSERT_TRUE(socket.open());
  socket.wake(0);
  std::uint32_t gone = 0;
  {
    WakeSocket other;
    ASSERT_TRUE(other.open());
    gone = other.name();
  }
  socket.wake(gone);
  char byte;
  EXPECT_EQ(read(socket.descriptor(), &byte, 1), -1);
}

}  // namespace
}  // namespace gex::os
