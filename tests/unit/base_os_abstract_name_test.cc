// Abstract names of Unix sockets, and names that are claimed by them.

#include "base/os_abstract_name.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/os_file.h"
#include "base/os_name_claim.h"

namespace gex::os {
namespace {

FileDescriptor unix_socket() {
  return FileDescriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
}

std::string own_name(const std::string& what) {
  return "gex-test-" + std::to_string(getpid()) + "-" + what;
}

TEST(AbstractName, LeadsToTheSocketThatIsBoundToIt) {
  const FileDescriptor listener = unix_socket();
  ASSERT_EQ(bind_abstract(listener.get(), own_name("listener")), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  EXPECT_EQ(connect_abstract(unix_socket().get(), own_name("listener")), 0);
  EXPECT_EQ(connect_abstract(unix_socket().get(), own_name("listene")), -1);
  EXPECT_EQ(errno, ECONNREFUSED);
}

TEST(AbstractName, IsOfOneSocketUntilThatIsClosed) {
  FileDescriptor first = unix_socket();
  const FileDescriptor second = unix_socket();
  ASSERT_EQ(bind_abstract(first.get(), own_name("one")), 0);
  EXPECT_EQ(bind_abstract(second.get(), own_name("one")), -1);
  EXPECT_EQ(errno, EADDRINUSE);
  first = {};
  EXPECT_EQ(bind_abstract(second.get(), own_name("one")), 0);
}

TEST(AbstractName, OfMoreThan107BytesIsRefused) {
  std::string name = own_name("long");
  name.resize(107, 'x');
  EXPECT_EQ(bind_abstract(unix_socket().get(), name), 0);
  name += 'x';
  EXPECT_EQ(bind_abstract(unix_socket().get(), name), -1);
  EXPECT_EQ(errno, ENAMETOOLONG);
  EXPECT_EQ(connect_abstract(unix_socket().get(), name), -1);
  EXPECT_EQ(errno, ENAMETOOLONG);
}

TEST(NameClaim, IsOfOneProcessWhileItsDescriptorIsOpen) {
  FileDescriptor first = claim_name(own_name("claim"));
  ASSERT_TRUE(first);
  EXPECT_FALSE(claim_name(own_name("claim")));
  EXPECT_EQ(errno, EADDRINUSE);
  first = {};
  EXPECT_TRUE(claim_name(own_name("claim")));
}

}  // namespace
}  // namespace gex::os
