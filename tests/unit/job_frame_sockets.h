#pragma once
// The two ends of a connection that carries frames, for tests of its protocol.

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/os_file.h"
#include "job/protocol.h"

namespace gex::job {

class FrameSockets : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    ours_.reset(ends[0]);
    theirs_.reset(ends[1]);
  }

  os::FileDescriptor ours_;
  os::FileDescriptor theirs_;
  FrameBuffer buffer_;
};

}  // namespace gex::job
