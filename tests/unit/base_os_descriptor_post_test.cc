// Descriptors from process to process.

#include "base/os_descriptor_post.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace gex::os {
namespace {

std::string name_for(const char* what) {
  return "gex-test-" + std::to_string(getpid()) + what;
}

TEST(DescriptorPost, ReceivesWhatOthersSendWithItsNumber) {
  DescriptorPost mine, other;
  ASSERT_TRUE(mine.open(name_for("a")));
  ASSERT_TRUE(other.open(name_for("b")));
  EXPECT_FALSE(mine.receive());
  const FileDescriptor file(memfd_create("sent", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(file.get(), 1234), 0);
  EXPECT_EQ(other.send(name_for("a"), 77, file.get()), DescriptorPost::Sent::sent);
  EXPECT_EQ(other.send(name_for("a"), 78, file.get()), DescriptorPost::Sent::sent);
  auto received = mine.receive();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->number, 77U);
  struct stat facts;
  ASSERT_EQ(fstat(received->descriptor.get(), &facts), 0);
  EXPECT_EQ(facts.st_size, 1234);
  received = mine.receive();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->number, 78U);
  EXPECT_FALSE(mine.receive());
}

TEST(DescriptorPost, HasRoomAgainOnceSomethingWasReceived) {
  DescriptorPost mine, other;
  ASSERT_TRUE(mine.open(name_for("c")));
  const FileDescriptor file(memfd_create("sent", MFD_CLOEXEC));
  std::uint64_t sent = 0;
  while (other.send(name_for("c"), sent, file.get()) == DescriptorPost::Sent::sent) ++sent;
  ASSERT_GT(sent, 0U);
  EXPECT_EQ(other.send(name_for("c"), sent, file.get()), DescriptorPost::Sent::no_room);
  for (std::uint64_t i = 0; i < sent; ++i) {
    const auto received = mine.receive();
    ASSERT_TRUE(received);
    EXPECT_EQ(received->number, i);
  }
  EXPECT_FALSE(mine.receive());
  EXPECT_EQ(other.send(name_for("c"), 5, file.get()), DescriptorPost::Sent::sent);
}

TEST(DescriptorPost, FailsWhereThereIsNone) {
  DescriptorPost post;
  EXPECT_FALSE(post.is_open());
  EXPECT_FALSE(post.receive());
  const FileDescriptor file(memfd_create("sent", MFD_CLOEXEC));
  EXPECT_EQ(post.send(name_for("unbound"), 1, file.get()), DescriptorPost::Sent::failed);
  DescriptorPost first, second;
  EXPECT_TRUE(first.open(name_for("d")));
  EXPECT_FALSE(second.open(name_for("d")));
}

}  // namespace
}  // namespace gex::os
