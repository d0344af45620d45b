// Asking a job for a report over its socket: the server and the client of `gexrun --report`.

#include "launch/hang/report_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>

#include "base/os_abstract_name.h"
#include "launch/hang/report_client.h"

namespace gex::launch {
namespace {

constexpr pid_t launcher = 123456789;
constexpr pid_t rank_process = 123456790;

RankReport rank_of(std::uint32_t number) {
  RankReport rank;
  rank.rank = number;
  rank.host = "here";
  return rank;
}

class Server : public testing::Test {
 protected:
  Server()
      : server({launcher, "program 4", [](pid_t process) { return process == rank_process; },
                [this](std::function<void(const HangReport&)> deliver) {
                  if (keep)
                    kept = std::move(deliver);
                  else
                    deliver(analyse(each_alone(reports)));
                }}) {
    EXPECT_EQ(loop.open(), 0);
    server.serve(loop);
  }

  /// The result of `ask`, with the server at work meanwhile.
  template <class Ask>
  auto served(const Ask& ask) {
    decltype(ask()) answer;
    // The loop is woken for its end by a socket.
    int wake[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, wake), 0);
    bool done = false;
    const EventLoop::Watch watch = loop.watch(wake[0], [&] { done = true; });
    std::thread client([&] {
      answer = ask();
      close(wake[1]);
    });
    while (!done) loop.turn();
    client.join();
    close(wake[0]);
    return answer;
  }

  std::vector<RankReport> reports{rank_of(0), rank_of(1)};
  bool keep = false;
  std::function<void(const HangReport&)> kept;
  EventLoop loop;
  ReportServer server;
};

TEST_F(Server, ListsItsJob) {
  const std::string list = served([] { return list_jobs(); });
  EXPECT_NE(list.find("123456789 program 4\n"), std::string::npos) << list;
}

TEST_F(Server, ReportsToWhoNamesTheLauncherOrARank) {
  const auto text = served([] { return report_of(launcher, ReportFormat::text); });
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, to_text(analyse(each_alone(reports))));
  const auto json = served([] { return report_of(rank_process, ReportFormat::json); });
  ASSERT_TRUE(json);
  EXPECT_NE(json->find("\"host\": \"here\""), std::string::npos);
}

TEST_F(Server, HasNoAnswerForOtherProcesses) {
  EXPECT_FALSE(served([] { return report_of(1, ReportFormat::text); }));
}

TEST_F(Server, SendsAReportThatIsLargerThanASocketHolds) {
  for (std::uint32_t i = 2; i < 20'000; ++i) reports.push_back(rank_of(i));
  const auto json = served([] { return report_of(launcher, ReportFormat::json); });
  ASSERT_TRUE(json);
  EXPECT_EQ(*json, to_json(analyse(each_alone(reports))));
}

os::FileDescriptor connect() {
  os::FileDescriptor connection(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(
      os::connect_abstract(connection.get(), report_socket_prefix() + std::to_string(getpid())), 0);
  return connection;
}

TEST_F(Server, BearsWithAClientThatGoesBeforeTheReportIsThere) {
  keep = true;
  {
    const os::FileDescriptor impatient = connect();
    const std::string request = "text " + std::to_string(launcher) + "\n";
    ASSERT_EQ(write(impatient.get(), request.data(), request.size()),
              static_cast<ssize_t>(request.size()));
    while (!kept) loop.turn();
  }
  loop.turn();
  kept(analyse(each_alone(reports)));
  keep = false;
  EXPECT_TRUE(served([] { return report_of(launcher, ReportFormat::text); }));
}

TEST(ReportClient, ShowsControlCharactersAsSuch) {
  EXPECT_EQ(printable("a\x1b[31mb\r\x7f\nc\t"), "a\\x1b[31mb\\x0d\\x7f\nc\\x09");
  EXPECT_EQ(printable("\xc2\x9b_\xc3\xa4"), "\\xc2\x9b_\xc3\xa4");
}

/// A process of another user that has bound a name of this user's: what it has been sent.
std::string received_by_an_outsider(const std::function<void()>& ask) {
  constexpr uid_t another_user = 65534;
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const std::string name = report_socket_prefix() + "1";
  const pid_t outsider = fork();
  if (outsider == 0) {
    close(ends[0]);
    const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (setuid(another_user) != 0 || os::bind_abstract(listener, name) != 0 ||
        listen(listener, 1) != 0 || write(ends[1], "L", 1) != 1) {
      _exit(1);
    }
    const int connection = accept(listener, nullptr, nullptr);
    char bytes[64];
    const ssize_t got = read(connection, bytes, sizeof bytes);
    _exit(got > 0 && write(ends[1], bytes, static_cast<std::size_t>(got)) == got ? 0 : 2);
  }
  close(ends[1]);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 1) << "the outsider has not come so far";
  ask();
  std::string received(64, '\0');
  received.resize(
      static_cast<std::size_t>(std::max<ssize_t>(read(ends[0], received.data(), 64), 0)));
  close(ends[0]);
  waitpid(outsider, nullptr, 0);
  return received;
}

TEST(ReportClient, AsksNoOtherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, which alone becomes another user";
  EXPECT_EQ(
      received_by_an_outsider([] { EXPECT_EQ(list_jobs().find("gexrun"), std::string::npos); }),
      "");
}

TEST_F(Server, RefusesWhatIsNoRequest) {
  const std::string requests[] = {"what\n", "text\n", "text 12x\n", std::string(200, 'x')};
  for (const std::string& request : requests) {
    const std::string answer = served([&] {
      const os::FileDescriptor connection = connect();
      send(connection.get(), request.data(), request.size(), MSG_NOSIGNAL);
      char byte = 0;
      return std::to_string(std::max<ssize_t>(read(connection.get(), &byte, 1), 0));
    });
    EXPECT_EQ(answer, "0") << request;
  }
}

}  // namespace
}  // namespace gex::launch
