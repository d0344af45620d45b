// The PMI server by which MPICH's ranks find one another where gexrun has started them, at the
// other end of its socket: what a launcher answers, in a job of three, and what it makes of bad
// input.

#include "net/mpi/library/pmi_server.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace gex::net::mpi {
namespace {

constexpr std::uint32_t ranks = 3;

/// Host::exchange between threads.
struct Exchange {
  std::barrier<> arrived{ranks};
  std::barrier<> copied{ranks};
  std::array<std::string, ranks> parts;
};
Exchange& exchanges() {
  static Exchange all;
  return all;
}

template <std::uint32_t Rank>
void exchange(const void* mine, std::size_t bytes, void* all) {
  Exchange& self = exchanges();
  self.parts[Rank].assign(static_cast<const char*>(mine), bytes);
  self.arrived.arrive_and_wait();
  std::string joined;
  for (const std::string& part : self.parts) joined += part;
  EXPECT_EQ(joined.size(), bytes * ranks);
  std::memcpy(all, joined.data(), joined.size());
  self.copied.arrive_and_wait();
}

/// Ranks 0 and 1 on one host, rank 2 on another.
std::uint32_t host_of(std::uint32_t rank) {
  return rank / 2;
}

Host host_of_three(std::uint32_t rank) {
  constexpr std::array exchange_of{exchange<0>, exchange<1>, exchange<2>};
  Host host{};
  host.rank = rank;
  host.size = ranks;
  host.exchange = exchange_of[rank];
  host.host_of = host_of;
  return host;
}

Host host_alone() {
  Host host{};
  host.size = 1;
  host.exchange = [](const void* mine, std::size_t bytes, void* all) {
    std::memcpy(all, mine, bytes);
  };
  host.host_of = [](std::uint32_t) { return 0U; };
  return host;
}

/// MPI's end of the socket of a server that has begun.
class Library {
 public:
  explicit Library(const Host& host) : host_(host), server_(std::make_unique<PmiServer>(host_)) {
    EXPECT_TRUE(server_->is_ready());
    EXPECT_EQ(server_->begin(), 0);
    descriptor_ = std::atoi(variable("PMI_FD").c_str());
    // An answer that does not come is a failure and no hang.
    const timeval limit{20, 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { hang_up(); }

  static std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
  }

  void write(std::string_view bytes) {
    EXPECT_EQ(::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  /// The next line; empty at the end of the input.
  std::string read_line() {
    std::string line;
    for (char byte = 0;;) {
      if (read(descriptor_, &byte, 1) != 1) return line;
      if (byte == '\n') return line;
      line += byte;
    }
  }
  std::string ask(const std::string& line) {
    write(line + '\n');
    return read_line();
  }
  std::string get(const std::string& key) { return ask("cmd=get kvsname=gex key=" + key); }
  void hang_up() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }

  PmiServer& server() { return *server_; }
  void end_server() { server_.reset(); }

 private:
  const Host host_;
  std::unique_ptr<PmiServer> server_;
  int descriptor_ = -1;
};

std::string found(const std::string& value) {
  return "cmd=get_result rc=0 msg=success value=" + value;
}
constexpr const char* not_found = "cmd=get_result rc=-1 msg=key_not_found value=unknown";
constexpr const char* put_done = "cmd=put_result rc=0 msg=success";
constexpr const char* put_refused = "cmd=put_result rc=-1 msg=malformed";
constexpr const char* fenced = "cmd=barrier_out rc=0 msg=success";
constexpr const char* initialized = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0";

TEST(PmiServer, RanksFindOneAnotherAndFinalize) {
  std::array<std::unique_ptr<Library>, ranks> libraries;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    libraries[rank] = std::make_unique<Library>(host_of_three(rank));
    EXPECT_EQ(Library::variable("PMI_RANK"), std::to_string(rank));
    EXPECT_EQ(Library::variable("PMI_SIZE"), "3");
  }
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&library = *libraries[rank], rank] {
      EXPECT_EQ(library.ask("cmd=init pmi_version=1 pmi_subversion=1"), initialized);
      EXPECT_EQ(library.ask("cmd=get_maxes"),
                "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024 rc=0");
      EXPECT_EQ(library.ask("cmd=get_appnum"), "cmd=appnum appnum=0 rc=0");
      EXPECT_EQ(library.ask("cmd=get_universe_size"), "cmd=universe_size size=3 rc=0");
      EXPECT_EQ(library.ask("cmd=get_my_kvsname"), "cmd=my_kvsname kvsname=gex rc=0");
      EXPECT_EQ(library.get("PMI_process_mapping"), found("(vector,(0,1,2),(1,1,1))"));
      // A fence before anything was put.
      EXPECT_EQ(library.ask("cmd=barrier_in"), fenced);
      EXPECT_EQ(library.get("card-0"), not_found);
      // Ranks put different numbers of values, of different lengths.
      constexpr std::array<std::uint32_t, ranks> puts{1, 2, 0};
      const std::string name = "card-" + std::to_string(rank);
      for (std::uint32_t i = 0; i < puts[rank]; ++i)
        EXPECT_EQ(library.ask("cmd=put kvsname=gex key=" + name + std::string(i, 'x') +
                              " value=at=" + std::string(20 * rank + i, 'v')),
                  put_done);
      // What was put is there behind a fence only.
      EXPECT_EQ(library.get(name), not_found);
      EXPECT_EQ(library.ask("cmd=barrier_in"), fenced);
      EXPECT_EQ(library.get("card-0"), found("at="));
      EXPECT_EQ(library.get("card-1"), found("at=" + std::string(20, 'v')));
      EXPECT_EQ(library.get("card-1x"), found("at=" + std::string(21, 'v')));
      // Ranks that have put nothing, or that the job does not have, are not found.
      EXPECT_EQ(library.get("card-2"), not_found);
      EXPECT_EQ(library.get("card-3"), not_found);
      EXPECT_EQ(library.get("card--1"), not_found);
      // A second round: a value is replaced, the others stay.
      if (rank == 2) {
        EXPECT_EQ(library.ask("cmd=put kvsname=gex key=card-0 value=moved"), put_done);
      }
      EXPECT_EQ(library.ask("cmd=barrier_in"), fenced);
      EXPECT_EQ(library.get("card-0"), found("moved"));
      EXPECT_EQ(library.get("card-1"), found("at=" + std::string(20, 'v')));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& library : libraries) library->server().end_of_init();
  for (const char* const name : {"PMI_FD", "PMI_RANK", "PMI_SIZE"})
    EXPECT_EQ(Library::variable(name), "");
  // One after the other: no rank waits for another now.
  for (const auto& library : libraries) {
    // MPI may ask before its finalization is seen to begin.
    library->write("cmd=barrier_in\n");
    library->server().begin_finalize();
    EXPECT_EQ(library->read_line(), fenced);
    EXPECT_EQ(library->get("card-0"), found("moved"));
    EXPECT_EQ(library->ask("cmd=finalize"), "cmd=finalize_ack rc=0");
  }
}

TEST(PmiServer, LinesComeCutAndSeveralAtATime) {
  Library library(host_alone());
  for (const char byte : std::string_view("cmd=init pmi_version=1 pmi_subversion=1\n"))
    library.write({&byte, 1});
  EXPECT_EQ(library.read_line(), initialized);
  library.write("cmd=put kvsname=gex key=a value=1\ncmd=put kvsname=gex key=b value=2\ncmd=barr");
  EXPECT_EQ(library.read_line(), put_done);
  EXPECT_EQ(library.read_line(), put_done);
  library.write("ier_in\ncmd=get kvsname=gex key=b\n");
  EXPECT_EQ(library.read_line(), fenced);
  EXPECT_EQ(library.read_line(), found("2"));
  // Longer than what is read at a time.
  const std::string value(10000, 'v');
  EXPECT_EQ(library.ask("cmd=put kvsname=gex key=long value=" + value), put_done);
  EXPECT_EQ(library.ask("cmd=barrier_in"), fenced);
  EXPECT_EQ(library.get("long"), found(value));
  library.server().end_of_init();
}

TEST(PmiServer, MalformedLinesAreRefusedAndTheNextIsAnswered) {
  Library library(host_alone());
  for (const char* const line : {"", " ", "=", "cmd", "cmd=", "xcmd=init", "CMD=init", "mcmd=spawn",
                                 "\t\r", "cmd get key=a", " =cmd=init"})
    EXPECT_EQ(library.ask(line), "cmd= rc=-1 msg=not_supported") << '"' << line << '"';
  EXPECT_EQ(library.ask("cmd=spawn nprocs=2"), "cmd=spawn rc=-1 msg=not_supported");
  EXPECT_EQ(library.ask("cmd=initack pmiid=7"), "cmd=initack rc=-1 msg=not_supported");
  // The first counts, wherever it stands, and blanks do not.
  EXPECT_EQ(library.ask("  pmi_version=1  cmd=init   cmd=finalize "), initialized);
  EXPECT_EQ(library.ask("cmd=put kvsname=gex value=1"), put_refused);
  EXPECT_EQ(library.ask("cmd=put kvsname=gex key= value=1"), put_refused);
  EXPECT_EQ(library.ask("cmd=put kvsname=gex key=a"), put_refused);
  EXPECT_EQ(library.ask("cmd=put kvsname=gex key=a=b value=1"), put_refused);
  EXPECT_EQ(library.ask("cmd=put kvsname=gex key=empty value="), put_done);
  EXPECT_EQ(library.ask(std::string("cmd=put kvsname=gex key=zero value=1\0002", 38)), put_done);
  EXPECT_EQ(library.ask("cmd=barrier_in"), fenced);
  EXPECT_EQ(library.ask("cmd=get kvsname=gex"), not_found);
  EXPECT_EQ(library.get(""), not_found);
  EXPECT_EQ(library.get("a"), not_found);
  EXPECT_EQ(library.get("empty"), found(""));
  EXPECT_EQ(library.get("zero"), found(std::string("1\0002", 3)));
  library.server().end_of_init();
}

TEST(PmiServerDeathTest, AnAbortEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto abort_with = [](const char* code, bool while_initializing) {
    Library library(host_alone());
    if (!while_initializing) library.server().end_of_init();
    // MPI waits for an answer.
    library.ask(std::string("cmd=abort exitcode=") + code);
  };
  EXPECT_EXIT(abort_with("5", true), testing::ExitedWithCode(5), "");
  EXPECT_EXIT(abort_with("5", false), testing::ExitedWithCode(5), "");
  // A failure whatever its code.
  EXPECT_EXIT(abort_with("0", false), testing::ExitedWithCode(1), "");
  EXPECT_EXIT(abort_with("256", false), testing::ExitedWithCode(1), "");
  EXPECT_EXIT(abort_with("", false), testing::ExitedWithCode(1), "");
}

TEST(PmiServer, MpiMayHangUpAtAnyTime) {
  // Where MPI_Init_thread fails.
  for (const char* const before : {"", "cmd=in", "cmd=init\n", "cmd=init\ncmd=get_ma"}) {
    Library library(host_alone());
    library.write(before);
    library.hang_up();
    library.server().end_of_init();
  }
  // In the middle of its finalization.
  Library library(host_alone());
  EXPECT_EQ(library.ask("cmd=init"), initialized);
  library.server().end_of_init();
  library.server().begin_finalize();
  library.write("cmd=barrier_in\ncmd=final");
  EXPECT_EQ(library.read_line(), fenced);
  library.hang_up();
  library.end_server();
}

TEST(PmiServer, TheServerMayEndFirst) {
  // Half a line is not answered, and what MPI asks later finds an end.
  Library library(host_alone());
  EXPECT_EQ(library.ask("cmd=init"), initialized);
  library.write("cmd=get_maxes");
  library.end_server();
  EXPECT_EQ(library.read_line(), "");
}

}  // namespace
}  // namespace gex::net::mpi
