// Reading from a process manager: lines, counted bytes and the words in them, and not a byte more.

#include "job/pmi_wire.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace gex::job {
namespace {

TEST(PmiValue, IsTheWordBehindItsKey) {
  const std::string line = "cmd=get_result rc=0 value=a:b=c,d last=9";
  EXPECT_EQ(pmi_value(line, "cmd", ' '), "get_result");
  EXPECT_EQ(pmi_value(line, "value", ' '), "a:b=c,d");
  EXPECT_EQ(pmi_value(line, "last", ' '), "9");
  EXPECT_EQ(pmi_value(line, "alue", ' '), "");
  EXPECT_EQ(pmi_value(line, "val", ' '), "");
  EXPECT_EQ(pmi_value("", "cmd", ' '), "");
  EXPECT_EQ(pmi_value("cmd=x;key=;rc=0;", "key", ';'), "");
  EXPECT_EQ(pmi_value("cmd=x;key=;rc=0;", "rc", ';'), "0");
}

TEST(NodesOfMapping, AreThoseOfTheBlocksInTurn) {
  using Nodes = std::vector<std::uint32_t>;
  EXPECT_EQ(nodes_of_mapping("(vector,(0,1,4))", 4), (Nodes{0, 0, 0, 0}));
  EXPECT_EQ(nodes_of_mapping("(vector,(0,2,2),(5,1,1))", 5), (Nodes{0, 0, 1, 1, 5}));
  EXPECT_EQ(nodes_of_mapping("(vector,(0,2,1))", 5), (Nodes{0, 1, 0, 1, 0}));
  for (const char* const text :
       {"", "(vector", "(vector)", "(vector,(0,1))", "(vector,(0,0,4))", "(vector,(0,1,0))",
        "(vector,(0,1,-4))", "(vector,(0,1,99999999999))", "(vector,(a,1,4))", "(0,1,4)"})
    EXPECT_EQ(nodes_of_mapping(text, 4), Nodes()) << text;
}

class PmiWireTest : public testing::Test {
 protected:
  PmiWireTest() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0); }
  ~PmiWireTest() override {
    for (const int end : ends) close(end);
  }
  void send_bytes(const std::string& bytes) const {
    EXPECT_EQ(write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  int ends[2];
};

TEST_F(PmiWireTest, TakesNoByteThatIsNotItsOwn) {
  PmiWire wire(ends[0]);
  send_bytes("one\n    3two of another");
  EXPECT_EQ(wire.receive_line(), "one");
  EXPECT_EQ(wire.receive(5), "    3");
  EXPECT_EQ(wire.receive(3), "two");
  char rest[32] = {};
  EXPECT_EQ(read(ends[0], rest, sizeof rest), 11);
  EXPECT_STREQ(rest, " of another");
}

TEST_F(PmiWireTest, ReportsOnceAnAnswerThatTakesLong) {
  PmiWire wire(ends[0]);
  int reported = 0;
  // The responses are sent once the long wait was reported, and not before.
  wire.on_long_wait(1, [&] {
    ++reported;
    send_bytes("one\ntwo\n");
  });
  EXPECT_EQ(wire.receive_line(), "one");
  EXPECT_EQ(wire.receive_line(), "two");
  EXPECT_EQ(reported, 1);
}

TEST_F(PmiWireTest, AConnectionThatIsClosedIsAnErrorAndNoSignal) {
  PmiWire wire(ends[0]);
  shutdown(ends[1], SHUT_RD);
  EXPECT_FALSE(wire.send("one\n"));
  EXPECT_EQ(wire.error(), "its connection is broken: Broken pipe");
}

TEST_F(PmiWireTest, ReportsWhyNothingCameOrTooMuch) {
  PmiWire wire(ends[0]);
  send_bytes(std::string(9000, 'x'));
  EXPECT_EQ(wire.receive_line(), std::nullopt);
  EXPECT_EQ(wire.error(), "its message is longer than PMI allows");
  EXPECT_EQ(wire.receive(9000), std::nullopt);
  PmiWire closed(ends[0]);
  shutdown(ends[1], SHUT_WR);
  char rest[2000];
  EXPECT_GT(read(ends[0], rest, sizeof rest), 0);
  EXPECT_EQ(closed.receive(1), std::nullopt);
  EXPECT_EQ(closed.error(), "it has closed the connection");
}

TEST_F(PmiWireTest, DetectsThatItsDescriptorIsAnothers) {
  PmiWire wire(ends[0]);
  EXPECT_TRUE(wire.is_open());
  int others[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, others), 0);
  dup2(others[0], ends[0]);
  EXPECT_FALSE(wire.is_open());
  wire.finalize("for no reader", [](std::string_view) noexcept { return true; });
  char byte;
  EXPECT_EQ(recv(others[1], &byte, 1, MSG_DONTWAIT), -1);
  for (const int end : others) close(end);
}

TEST_F(PmiWireTest, AnMpiThatFinalizesLaterFindsTheSameAnswer) {
  PmiWire wire(ends[0]);
  const std::string answer = "cmd=finalize_ack\n";
  send_bytes(answer);
  wire.finalize("cmd=finalize\n", [](std::string_view announced) noexcept {
    return announced.find('\n') != announced.npos;
  });
  // The launcher hangs up, as it does once a rank has finalized.
  shutdown(ends[1], SHUT_RDWR);
  EXPECT_EQ(write(ends[0], "cmd=finalize\n", 13), 13);
  std::string found(answer.size(), '\0');
  EXPECT_EQ(recv(ends[0], found.data(), found.size(), MSG_DONTWAIT),
            static_cast<ssize_t>(answer.size()));
  EXPECT_EQ(found, answer);
}

TEST(PmiPlace, IsThatOfOneOfAllOrNone) {
  const auto place = [](const char* wire, const char* rank, const char* size) {
    setenv("PMI_FD", wire, 1);
    setenv("PMI_RANK", rank, 1);
    setenv("PMI_SIZE", size, 1);
    return pmi_place();
  };
  const auto found = place("9", "2", "3");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->wire, 9);
  EXPECT_EQ(found->rank, 2u);
  EXPECT_EQ(found->size, 3u);
  EXPECT_FALSE(place("9", "3", "3"));
  EXPECT_FALSE(place("x", "0", "1"));
  EXPECT_FALSE(place("9", "0", "1048577"));
  unsetenv("PMI_SIZE");
  EXPECT_FALSE(pmi_place());
}

}  // namespace
}  // namespace gex::job
