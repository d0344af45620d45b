// Jobs of several hosts: options, placement of ranks, and errors. All hosts are this one
// (rsh_here.sh); tests/hosts has separate hosts.

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "modes.h"

namespace launch_test {
namespace {

Command on_hosts(const std::string& hosts, int ranks, std::vector<std::string> scenario) {
  scenario.insert(scenario.begin(), {gexrun, "--rsh", rsh_here, "--hosts", hosts, "-n",
                                     std::to_string(ranks), probe});
  return Command(std::move(scenario));
}

std::string place(int rank, int ranks, int host) {
  return "rank " + std::to_string(rank) + " of " + std::to_string(ranks) + " gexrun on host " +
         std::to_string(host);
}

TEST(Hosts, TakeConsecutiveRanksInTheirOrder) {
  const Outcome outcome = on_hosts("a:2,b,c:9", 6, {"who"}).run();
  expect_success(outcome);
  const int hosts[] = {0, 0, 1, 2, 2, 2};
  for (int rank = 0; rank < 6; ++rank) {
    EXPECT_EQ(lines_with(outcome.output, place(rank, 6, hosts[rank])), 1) << outcome.output;
  }
}

TEST(Hosts, InputThatIsYetToComeIsWaitedFor) {
  // Through a pipe that another program has made non-blocking.
  const Outcome outcome =
      Command({"bash", "-c",
               "(sleep 0.3; echo late) | python3 -c 'import os, sys; os.set_blocking(0, False); "
               "os.execv(sys.argv[1], sys.argv[1:])' " +
                   gexrun + " --rsh " + rsh_here + " --hosts a,b -n 2 " + probe + " read-input"})
          .run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "0 read 5: late"), 1) << outcome.output;
}

TEST(Hosts, TakeRanksInTurnWhileTheyHaveSlots) {
  const auto placed = [](const char* hosts, int ranks, const std::vector<int>& expected) {
    const Outcome outcome = Command({gexrun, "--rsh", rsh_here, "--hosts", hosts, "--map", "cyclic",
                                     "-n", std::to_string(ranks), probe, "who"})
                                .run();
    expect_success(outcome);
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(lines_with(outcome.output, place(rank, ranks, expected.at(rank))), 1)
          << outcome.output;
    }
  };
  placed("a:2,b,c:9", 7, {0, 1, 2, 0, 2, 2, 2});
  // A host without ranks is not contacted.
  placed("a:2,b:2,nowhere", 2, {0, 1});
}

TEST(Hosts, WithRanksInTurnAreNamedWithThem) {
  const Outcome outcome = Command({gexrun, "--rsh", rsh_here, "--hosts", "a:3,nowhere:2", "--map",
                                   "cyclic", "-n", "5", probe, "hold"})
                              .variable("GEX_RSH_TRIES", "1")
                              .run();
  expect_clean(outcome);
  EXPECT_EQ(lines_with(outcome.error, "gexrun: host nowhere (ranks 1,3) is lost: "), 1)
      << outcome.error;
}

TEST(Hosts, ThatGetNoRanksAreNotBotheredAndThoseNamedTwiceGetMore) {
  const Outcome outcome = on_hosts("a,b,a,nowhere", 3, {"who"}).run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, place(1, 3, 0)), 1) << outcome.output;
  EXPECT_EQ(lines_with(outcome.output, place(2, 3, 1)), 1) << outcome.output;
}

TEST(Hosts, WithoutSlotsAreLeftOut) {
  expect_success(on_hosts("nowhere:0, a:2 ,b", 3, {"who"}).run());
  expect_failure(on_hosts("a:0", 1, {"who"}).run(), 2, "--hosts: 'a:0' has no slots");
}

TEST(Hosts, ThisOneNeedsNoRsh) {
  const Outcome outcome =
      Command({gexrun, "--rsh", "/nonexistent", "--hosts", "LOCALHOST:2", "-n", "2", probe, "who"})
          .run();
  expect_success(outcome);
}

TEST(Hosts, AreReachedByACommandWithQuotes) {
  const auto by = [](const std::string& rsh) {
    return Command({gexrun, "--rsh", rsh, "--hosts", "a,b", "-n", "2", probe, "who"}).run();
  };
  expect_success(by("sh -c 'exec \"$@\"' \"with a\\\" blank\" " + rsh_here));
  expect_failure(by("ssh -o 'open"), 2, "--rsh 'ssh -o 'open' has an open quote");
  expect_failure(by("ssh \\"), 2, "has an open quote");
  expect_failure(by("  "), 2, "--rsh needs a command");
}

TEST(Hosts, ThatAreLateToAnEndedJobDoNotComplain) {
  const std::string late_to_b =
      "sh -c 'test \"$2\" != b || sleep 0.3; exec \"$@\"' rsh " + rsh_here;
  expect_failure(Command({gexrun, "--rsh", late_to_b, "--hosts", "a,b", "-n", "2", probe,
                          "exit-before-joining", "6", "0"})
                     .run(),
                 6, "rank 0 (host a");
}

TEST(Hosts, OfAFile) {
  const std::string path = testing::TempDir() + "hosts." + std::to_string(getpid());
  std::ofstream(path) << "# the machines\na slots=2\n\n  b:1  # small\nc\n";
  const Outcome outcome =
      Command({gexrun, "--rsh", rsh_here, "--hostfile", path, "-n", "4", probe, "who"}).run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, place(3, 4, 2)), 1) << outcome.output;
  std::ofstream(path) << "a\nb slots=two\n";
  expect_failure(Command({gexrun, "--hostfile", path, "-n", "1", probe, "who"}).run(), 2,
                 "line 2: 'b slots=two' is neither NAME, NAME:SLOTS nor NAME slots=SLOTS");
  std::filesystem::remove(path);
  expect_failure(Command({gexrun, "--hostfile", path, "-n", "1", probe, "who"}).run(), 2,
                 "--hostfile: cannot read '" + path + "': No such file or directory");
}

TEST(Hosts, ThatCannotBeAreRefusedInOneLine) {
  for (const char* const list : {"", "a,", "a:x", ":2", "a:2:3", "-oProxyCommand=x", "a b"}) {
    expect_failure(on_hosts(list, 1, {"who"}).run(), 2, "is neither NAME nor NAME:SLOTS");
  }
  expect_failure(on_hosts("a,b:2", 4, {"who"}).run(), 2,
                 "4 ranks do not fit into the 3 slots of the hosts");
  expect_failure(
      Command({gexrun, "--hosts", "a", "--debugger", "gdb", "-n", "1", probe, "who"}).run(), 2,
      "--debugger gdb works on this host only");
  expect_failure(Command({gexrun, "--hosts", "a", "--map", "node", "-n", "1", probe, "who"}).run(),
                 2, "--map 'node' is neither block nor cyclic");
}

TEST(Hosts, ThatCannotBeReachedAreNamed) {
  const Outcome outcome = on_hosts("a,nowhere:2", 3, {"hold"}).variable("GEX_RSH_TRIES", "1").run();
  expect_clean(outcome);
  EXPECT_EQ(outcome.status, 1);
  // ssh does not name the host in each of its messages, and gexrun gives the cause with the host.
  EXPECT_EQ(lines_with(outcome.error, "rsh: there is no way to nowhere"), 2);
  EXPECT_EQ(lines_with(outcome.error, "gexrun: host nowhere (ranks 1,2) is lost: '" + rsh_here +
                                          "' ended with status 255 before the job had begun there"
                                          ": rsh: there is no way to nowhere"),
            1)
      << outcome.error;
  const Outcome without = Command({gexrun, "--rsh", rsh_here, "--prefix", "/nonexistent", "--hosts",
                                   "a", "-n", "1", probe, "who"})
                              .run();
  EXPECT_EQ(without.status, 1);
  EXPECT_EQ(lines_with(without.error,
                       "ended with status 127 before the job had begun there by "
                       "/nonexistent/bin/gexrun (--prefix names another folder): "),
            1)
      << without.error;
  expect_failure(
      Command({gexrun, "--rsh", "/nonexistent", "--hosts", "a,b", "-n", "2", probe, "who"}).run(),
      1, "cannot execute '/nonexistent' to reach host a: No such file or directory (--rsh)");
  // Hosts that get no rank are not reached.
  expect_success(Command({gexrun, "--rsh", "/nonexistent", "--hosts", "localhost:2,b", "-n", "2",
                          probe, "who"})
                     .run());
}

/// A remote shell that notes for which host it was called, in lines of `notes`. It fails, as ssh
/// does, in the first `failures` calls for each host.
struct NotingShell {
  explicit NotingShell(int failures) {
    char name[] = "/tmp/launch_test_XXXXXX";
    folder = mkdtemp(name);
    script = folder + "/rsh";
    std::ofstream(script) << "#!/bin/sh\necho \"$1\" >>" << folder << "/notes\n"
                          << "[ $(grep -cFx \"$1\" " << folder << "/notes) -gt " << failures
                          << " ] || exit 255\nshift\nexec \"$@\"\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  }
  NotingShell(const NotingShell&) = delete;
  NotingShell& operator=(const NotingShell&) = delete;
  ~NotingShell() { std::filesystem::remove_all(folder); }

  std::multiset<std::string> notes() const {
    std::multiset<std::string> found;
    std::ifstream file(folder + "/notes");
    for (std::string line; std::getline(file, line);) found.insert(line);
    return found;
  }

  std::string folder;
  std::string script;
};

TEST(Hosts, AreTriedAgainWhenTheRemoteShellFails) {
  const NotingShell rsh(1);
  // What is typed for rank 0 is not lost with the first try.
  const Outcome outcome =
      Command({gexrun, "--rsh", rsh.script, "--hosts", "a,b,c", "-n", "3", probe, "read-input"})
          .variable("GEX_RSH_AT_ONCE", "2")
          .input("some input\n")
          .run();
  expect_success(outcome);
  EXPECT_EQ(rsh.notes(), (std::multiset<std::string>{"a", "a", "b", "b", "c", "c"}));
  EXPECT_EQ(lines_with(outcome.output, "0 read 11: some input"), 1) << outcome.output;
  const NotingShell never(100);
  const Outcome failed =
      Command({gexrun, "--rsh", never.script, "--hosts", "a", "-n", "1", probe, "who"})
          .variable("GEX_RSH_TRIES", "2")
          .run();
  expect_failure(failed, 1,
                 "ended with status 255 in each of 2 tries before the job had begun there");
}

/// A remote shell that notes for which host it was called, and by which kind of process: "gexrun
/// a", "agent b". Where it `refuses` agents they reach no host.
struct ShellBetweenHosts : NotingShell {
  explicit ShellBetweenHosts(bool refuses) : NotingShell(0) {
    std::ofstream(script)
        << "#!/bin/sh\nby=gexrun\n"
        << "tr '\\0' ' ' </proc/$PPID/cmdline | grep -q -e --host-part && by=agent\n"
        << "echo $by $1 >>" << folder << "/notes\n"
        << (refuses ? "[ $by = gexrun ] || exit 255\n" : "")
        << "if [ $1 = nowhere ]; then echo no such host >&2; exit 255; fi\n"
        << "shift\nexec \"$@\"\n";
  }
  Outcome run(const std::string& hosts, std::vector<std::string> scenario) const {
    scenario.insert(scenario.begin(),
                    {gexrun, "--rsh", script, "--hosts", hosts, "-n", "8", probe});
    return Command(std::move(scenario))
        .variable("GEX_LAUNCH_FANOUT", "2")
        .variable("GEX_RSH_TRIES", "1")
        .input("some input\n")
        .run();
  }
};

TEST(Hosts, StartOneAnotherWhereThereAreMany) {
  using Notes = std::multiset<std::string>;
  const ShellBetweenHosts rsh(/*refuses=*/false);
  const Outcome outcome = rsh.run("a,b,c,d,e,f,g,h", {"read-input"});
  expect_success(outcome);
  EXPECT_EQ(rsh.notes(), (Notes{"gexrun a", "gexrun e", "agent b", "agent c", "agent d", "agent f",
                                "agent g", "agent h"}));
  EXPECT_EQ(lines_with(outcome.output, "0 read 11: some input"), 1) << outcome.output;
  EXPECT_EQ(lines_with(outcome.output, " read 0: "), 7) << outcome.output;

  const ShellBetweenHosts lost(/*refuses=*/false);
  const Outcome named = lost.run("a,b,nowhere,d,e,f,g,h", {"hold"});
  expect_clean(named);
  EXPECT_EQ(named.status, 1);
  EXPECT_EQ(lines_with(named.error, "gexrun: host nowhere (rank 2) is lost: '" + lost.script +
                                        "' ended with status 255 before the job had begun there: "
                                        "no such host"),
            1)
      << named.error;
}

/// How many messages gexrun and each agent that starts hosts received and sent, from the lines that
/// -v prints: "gexrun: host a: 3 connections; received 12 messages (6 of exchanges), ...".
struct Messages {
  std::uint64_t connections = 0;
  std::uint64_t received = 0;
  std::uint64_t received_of_exchanges = 0;
  std::uint64_t sent_of_exchanges = 0;
};
std::vector<Messages> messages_in(const std::string& text, const std::string& who) {
  std::vector<Messages> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(" connections; received ");
    if (at == line.npos || !line.starts_with(who)) continue;
    const std::size_t number = line.rfind(' ', at - 1) + 1;
    Messages one;
    std::uint64_t sent = 0;
    const int read = std::sscanf(
        line.c_str() + number,
        "%lu connections; received %lu messages (%lu of exchanges), %*u bytes; "
        "sent %lu messages (%lu of exchanges)",
        &one.connections, &one.received, &one.received_of_exchanges, &sent, &one.sent_of_exchanges);
    EXPECT_EQ(read, 5) << line;
    found.push_back(one);
  }
  return found;
}

/// Expects that no process has more connections than it starts hosts, and one for its own host;
/// that an exchange takes a message each way on each of them; and that what else comes to gexrun
/// grows with the number of hosts, each of which has one rank.
void expect_messages_of_a_tree(std::uint64_t hosts, std::uint64_t fanout) {
  std::string list = "h0";
  for (std::uint64_t host = 1; host < hosts; ++host) list += ",h" + std::to_string(host);
  const Outcome outcome = Command({gexrun, "-v", "--rsh", rsh_here, "--hosts", list, "-n",
                                   std::to_string(hosts), probe, "exchange", "8"})
                              .variable("GEX_LAUNCH_FANOUT", std::to_string(fanout))
                              .run();
  expect_clean(outcome);
  EXPECT_EQ(outcome.status, 0);
  // One byte and eight bytes, with a least and a barrier after each, and 20 barriers.
  constexpr std::uint64_t exchanges = 26;
  const std::vector<Messages> root =
      messages_in(outcome.error, "gexrun: " + std::to_string(fanout));
  ASSERT_EQ(root.size(), 1U) << outcome.error;
  EXPECT_EQ(root[0].connections, fanout);
  std::vector<Messages> all = messages_in(outcome.error, "gexrun: host ");
  EXPECT_GE(all.size(), fanout);
  for (const Messages& agent : all) EXPECT_LE(agent.connections, fanout + 1);
  all.push_back(root[0]);
  std::uint64_t connections = 0;
  for (const Messages& one : all) {
    connections += one.connections;
    EXPECT_EQ(one.received_of_exchanges, exchanges * one.connections);
    EXPECT_EQ(one.sent_of_exchanges, exchanges * one.connections);
  }
  // One from each guardian, and one from each agent that starts hosts.
  EXPECT_EQ(connections, hosts + all.size() - 1);
  // Connected, joined, left, gone, finished.
  EXPECT_LE(root[0].received - root[0].received_of_exchanges, 5 * hosts);
}

TEST(Hosts, InATreeSendGexrunAMessageForEachThatItStarts) {
  expect_messages_of_a_tree(8, 2);
}

TEST(Hosts, InALargeTreeSendGexrunAMessageForEachThatItStarts) {
  expect_messages_of_a_tree(64, 8);
  expect_messages_of_a_tree(128, 8);
}

TEST(Hosts, InATreeExchangeMoreThanAFrame) {
  const Outcome outcome = Command({gexrun, "--rsh", rsh_here, "--map", "cyclic", "--hosts",
                                   "a:2,b,c:2,d:2,e", "-n", "8", probe, "exchange", "40000"})
                              .variable("GEX_LAUNCH_FANOUT", "2")
                              .run();
  expect_success(outcome);
  EXPECT_EQ(lines_with(outcome.output, "exchanged "), 8) << outcome.output;
}

TEST(Hosts, ThatDoNotReachOneAnotherAreStartedByGexrun) {
  const ShellBetweenHosts rsh(/*refuses=*/true);
  const Outcome outcome = rsh.run("a,b,c,d,e,f,g,h", {"read-input"});
  expect_success(outcome);
  for (const char* const host : {"a", "b", "c", "d", "e", "f", "g", "h"})
    EXPECT_EQ(rsh.notes().count(std::string("gexrun ") + host), 1u) << host;
  EXPECT_EQ(lines_with(outcome.output, "0 read 11: some input"), 1) << outcome.output;
}

TEST(Hosts, ConnectToAPortThatTheUserAllows) {
  const auto with_ports = [](const std::string& ports) {
    return on_hosts("a,b", 2, {"who"}).variable("GEX_PORTS", ports).run();
  };
  // Below those that the kernel gives to other sockets, and different for each that runs.
  const int first = 20000 + getpid() % 10000;
  expect_success(with_ports(std::to_string(first) + "-" + std::to_string(first + 40)));
  expect_failure(with_ports("43250-43210"), 1,
                 "GEX_PORTS='43250-43210' is not understood: expected a port from 1 to 65535, or");
  expect_failure(Command({gexrun, "--rsh", rsh_here, "--hosts", "a", "-n", "1", "env", "A=1",
                          "GEX_LAUNCH_PORTS=0", probe, "who"})
                     .run(),
                 1, "GEX_LAUNCH_PORTS='0' is not understood: expected a port");
  const int taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  socklen_t length = sizeof place;
  ASSERT_EQ(bind(taken, reinterpret_cast<const sockaddr*>(&place), length), 0);
  ASSERT_EQ(listen(taken, 1), 0);
  ASSERT_EQ(getsockname(taken, reinterpret_cast<sockaddr*>(&place), &length), 0);
  const std::string port = std::to_string(ntohs(place.sin_port));
  expect_failure(with_ports(port), 1,
                 "cannot listen for the other hosts on a port of GEX_PORTS=" + port +
                     ": Address already in use");
  close(taken);
}

TEST(Hosts, WhoDoesNotConnectInTimeIsNamed) {
  const Outcome outcome =
      Command({gexrun, "--rsh", "sh -c 'exec sleep 100'", "--hosts", "a", "-n", "1", probe, "who"})
          .variable("GEX_CONNECT_TIMEOUT", "0.2")
          .run();
  expect_clean(outcome);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(lines_with(outcome.error, "gexrun: host a (rank 0) is lost: "), 1) << outcome.error;
}

TEST(Hosts, ThatAreSlowToStartAreReportedAndWaitedFor) {
  // The shell goes on once gexrun has reported the host.
  char name[] = "/tmp/launch_test_XXXXXX";
  const std::string folder = mkdtemp(name);
  const std::string rsh = folder + "/rsh";
  std::ofstream(rsh) << "#!/bin/sh\nuntil grep -q 'still starting' " << folder
                     << "/reported; do sleep 0.05; done\nshift\nexec \"$@\"\n";
  std::filesystem::permissions(rsh, std::filesystem::perms::owner_all);
  // Whole lines of standard error reach the file as they are written.
  const std::string command = gexrun + " --rsh " + rsh + " --hosts localhost,b -n 2 " + probe +
                              " who 2>>" + folder + "/reported";
  const Outcome outcome =
      Command({"sh", "-c", command}).variable("GEX_CONNECT_TIMEOUT", "12").run();
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  std::stringstream reported;
  reported << std::ifstream(folder + "/reported").rdbuf();
  EXPECT_EQ(lines_with(reported.str(),
                       "gexrun: still starting after 1 s: 1 of 2 hosts have not joined yet (b)"),
            1)
      << reported.str();
  std::filesystem::remove_all(folder);
}

TEST(Hosts, CanBeNamedByAddress) {
  const auto asked = [](std::vector<std::string> options) {
    const NotingShell rsh(0);
    std::vector<std::string> words = {gexrun, "--rsh", rsh.script};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {probe, "who"});
    expect_success(Command(std::move(words)).run());
    return rsh.notes();
  };
  using Notes = std::multiset<std::string>;
  // Addresses for documentation, which no machine has.
  EXPECT_EQ(asked({"-n", "2", "--hosts", "2001:db8::1,2001:db8::2"}),
            (Notes{"2001:db8::1", "2001:db8::2"}));
  EXPECT_EQ(asked({"-n", "3", "--hosts", "[2001:db8::1]:2,192.0.2.7"}),
            (Notes{"192.0.2.7", "2001:db8::1"}));
  EXPECT_EQ(asked({"-n", "1", "--hosts", "user@[2001:db8::1]"}), (Notes{"user@2001:db8::1"}));
  EXPECT_EQ(asked({"-n", "2", "--hosts", "fe80::1%eth7,2001:db8:0:0:0:0:0:1:1"}),
            (Notes{"2001:db8:0:0:0:0:0:1", "fe80::1%eth7"}));
  // This host's own need no shell.
  EXPECT_EQ(asked({"-n", "4", "--hosts", "127.0.0.1:2,[::1]:2"}), Notes());
  const auto refused = [](const std::string& list, const std::string& message) {
    expect_failure(Command({gexrun, "--hosts", list, "-n", "1", "true"}).run(), 2,
                   "gexrun: --hosts: '" + list + "' " + message);
  };
  refused("2001:db8::1:2",
          "may be an address, or an address and slots: write [2001:db8::1:2] or [2001:db8::1]:2");
  refused("[2001:db8::1]:x", "is neither NAME nor NAME:SLOTS");
  refused("2001:db8:1", "is neither NAME nor NAME:SLOTS");
}

TEST(Hosts, InAFileAreReadAsPeopleWriteIt) {
  const NotingShell rsh(0);
  const std::string file = rsh.folder + "/hosts";
  std::ofstream(file) << "\xef\xbb\xbf"
                         "one\r\n# none\n\n  [2001:db8::1]:2\n2001:db8::2 slots = 2\n"
                         "down slots=0\ntwo slots=1 max_slots=4\r\n";
  expect_success(
      Command({gexrun, "--rsh", rsh.script, "--hostfile", file, "-n", "6", probe, "who"}).run());
  EXPECT_EQ(rsh.notes(), (std::multiset<std::string>{"2001:db8::1", "2001:db8::2", "one", "two"}));
  const auto refused = [](const std::string& path, const std::string& message) {
    expect_failure(Command({gexrun, "--hostfile", path, "-n", "1", "true"}).run(), 2,
                   "gexrun: --hostfile: " + message);
  };
  refused("/", "cannot read '/': Is a directory");
  refused("/dev/zero", "cannot read '/dev/zero': File too large");
  refused("/dev/null", "'/dev/null' names no host with a slot");
  refused(gexrun, gexrun + ", line 1: '?ELF");
}

TEST(Hosts, AProgramThatIsNotThereIsNamedWithItsHost) {
  const Outcome outcome =
      Command({gexrun, "--rsh", rsh_here, "--hosts", "a,b", "-n", "2", "/nonexistent"}).run();
  expect_failure(outcome, 127, "gexrun: cannot execute '/nonexistent' on ");
}

TEST(Hosts, AnErrorOfAllRanksIsOneLine) {
  // The first rank of a host, and that of the job.
  const Outcome outcome = on_hosts("a:3,b:3,c:3", 9, {"fail-all"}).run();
  expect_failure(outcome, 1, "this went wrong everywhere");
}

TEST(Hosts, LinesAreWholeAndTaggedWithTheRankOfTheJob) {
  // By itself, and through the other host.
  for (const char* const fanout : {"0", "1"}) {
    const Outcome outcome = Command({gexrun, "--rsh", rsh_here, "--hosts", "a:2,b:2", "-n", "4",
                                     "--tag-output", probe, "print-lines", "300"})
                                .variable("GEX_LAUNCH_FANOUT", fanout)
                                .run();
    expect_success(outcome);
    for (int rank = 0; rank < 4; ++rank) {
      const std::string number = std::to_string(rank);
      EXPECT_EQ(lines_with(outcome.output, "[" + number + "] <" + number + " "), 300);
    }
    EXPECT_EQ(lines_with(outcome.output, ""), 1200);
  }
}

TEST(Hosts, TheProgramSeesFolderAndEnvironmentOfTheLauncher) {
  const Outcome outcome = Command({gexrun, "--rsh", "env -i " + rsh_here, "--hosts", "a,b", "-n",
                                   "2", "sh", "-c", "echo \"$PWD $WELCOME\""})
                              .variable("WELCOME", "hello to 'you'")
                              .run();
  expect_success(outcome);
  const std::string line = std::filesystem::current_path().string() + " hello to 'you'";
  EXPECT_EQ(lines_with(outcome.output, line), 2) << outcome.output;
}

TEST(Hosts, TheHiddenPartOfGexrunPrintsWhatItIs) {
  expect_failure(Command({gexrun, "--host-part"}).input("nonsense, and a lot of it").run(), 119,
                 "is internal");
  expect_failure(Command({gexrun, "--host-part"}).input("gexrun5 00000010some bytes").run(), 119,
                 "the gexrun that started the job is of another version than this one");
}

TEST(Hosts, WhoseConnectionBreaksAreLost) {
  const std::string path = testing::TempDir() + "connected." + std::to_string(getpid());
  std::ofstream(path) << "yes\n";
  const auto running = Command({gexrun, "--rsh", rsh_here + " --while " + path, "--hosts", "a,b",
                                "-n", "2", probe, "stay"})
                           .start();
  const bool ready = running->wait_for("ready", 2);
  std::filesystem::remove(path);
  EXPECT_TRUE(ready);
  const Outcome outcome = running->finish();
  expect_clean(outcome);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(lines_with(outcome.error, "gexrun: host b (rank 1) is lost: '" + rsh_here +
                                          "' ended with status 255, through which its output came"),
            1)
      << outcome.error;
}

/// Expects that the job is still running, and then ends with one message.
void expect_to_end_when_asked(Running& job) {
  kill(job.process(), SIGTERM);
  const Outcome outcome = job.finish();
  expect_clean(outcome);
  EXPECT_EQ(outcome.status, 143);
  EXPECT_EQ(outcome.error, "gexrun: ended by signal 15 (Terminated)\n");
}

// The kernel schedules sessions as groups, and could starve one of several (launch/terminal.h).
TEST(Hosts, OfOneMachineAddNoSessions) {
  const auto running = on_hosts("a:2,b:2", 4, {"stay"}).start();
  ASSERT_TRUE(running->wait_for("ready", 4));
  const std::vector<pid_t> processes = processes_marked(running->mark());
  // gexrun, at least two guardians, and the ranks.
  EXPECT_GE(processes.size(), 7U);
  for (const pid_t process : processes)
    EXPECT_EQ(getsid(process), getsid(running->process())) << process;
  expect_to_end_when_asked(*running);
}

TEST(Hosts, ThatAllStandStillGoOnTogether) {
  const auto running = on_hosts("a,b", 2, {"stay"}).start();
  ASSERT_TRUE(running->wait_for("ready", 2));
  // Suspend all of them, like a frozen container, for longer than the heartbeat timeout.
  const std::vector<pid_t> processes = processes_marked(running->mark());
  for (const pid_t process : processes) kill(process, SIGSTOP);
  sleep(6);
  // The first process that continues has received nothing meanwhile.
  kill(running->process(), SIGCONT);
  usleep(300'000);
  for (const pid_t process : processes) kill(process, SIGCONT);
  sleep(1);
  expect_to_end_when_asked(*running);
}

TEST(Hosts, OfAStoppedLauncherGoOnWithIt) {
  const auto running = on_hosts("a,b", 2, {"stay"}).start();
  ASSERT_TRUE(running->wait_for("ready", 2));
  kill(running->process(), SIGTSTP);
  siginfo_t stopped{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(running->process()), &stopped, WSTOPPED), 0);
  // Longer than the heartbeat timeout, twice.
  sleep(6);
  kill(running->process(), SIGCONT);
  sleep(6);
  expect_to_end_when_asked(*running);
}

struct TcpSocket {
  std::string address;  ///< the local address, in the kernel's hexadecimal digits
  int port;
  bool listens;
  unsigned long inode;
};

/// The TCP sockets of this network namespace.
std::vector<TcpSocket> tcp_sockets() {
  std::vector<TcpSocket> sockets;
  for (const char* const path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream table(path);
    std::string line;
    for (std::getline(table, line); std::getline(table, line);) {
      char address[33];
      unsigned port = 0;
      unsigned state = 0;
      unsigned long inode = 0;
      constexpr unsigned listening = 10;
      if (std::sscanf(line.c_str(),
                      " %*d: %32[0-9A-F]:%x %*[0-9A-F]:%*x %x %*x:%*x %*x:%*x %*x %*d %*d %lu",
                      address, &port, &state, &inode) == 4) {
        sockets.push_back({address, static_cast<int>(port), state == listening, inode});
      }
    }
  }
  return sockets;
}

std::vector<int> listening_ports() {
  std::vector<int> ports;
  for (const TcpSocket& one : tcp_sockets()) {
    if (one.listens) ports.push_back(one.port);
  }
  return ports;
}

bool is_open_in(pid_t process, const TcpSocket& socket) {
  const std::string name = "socket:[" + std::to_string(socket.inode) + "]";
  std::error_code gone;
  for (const auto& entry :
       std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd")) {
    if (std::filesystem::read_symlink(entry.path(), gone) == name) return true;
  }
  return false;
}

int connect_to(int port) {
  const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(port));
  EXPECT_EQ(connect(one, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  return one;
}

TEST(Hosts, ThatAreAllThisOneAreTalkedWithOnTheLoopback) {
  char own[256];
  ASSERT_EQ(gethostname(own, sizeof own), 0);
  if (std::string(own) == "localhost")
    GTEST_SKIP() << "this machine is named localhost: its two names are one host";
  const auto running = on_hosts("localhost," + std::string(own), 2, {"stay"}).start();
  ASSERT_TRUE(running->wait_for("ready", 2));
  // The kernel's list may lack one, or have it twice, while sockets of others come and go.
  std::map<unsigned long, std::string> found;
  while (found.size() < 2) {
    for (const TcpSocket& one : tcp_sockets()) {
      if (is_open_in(running->process(), one)) found[one.inode] = one.address;
    }
  }
  EXPECT_EQ(found.size(), 2U);
  for (const auto& [inode, address] : found) EXPECT_EQ(address, "0100007F");
  expect_to_end_when_asked(*running);
}

TEST(Hosts, OutsidersAtTheRootsPortAreRefusedAndReportedOnce) {
  // The hosts connect late, so that the root listens for a while.
  const auto running =
      Command({gexrun, "--rsh", rsh_here + " --late", "--hosts", "a,b", "-n", "2", probe, "stay"})
          .start();
  int port = 0;
  while (port == 0) {
    // Other jobs may begin to listen at the same time.
    for (const TcpSocket& one : tcp_sockets()) {
      if (one.listens && is_open_in(running->process(), one)) port = one.port;
    }
  }
  std::vector<int> connections;
  for (int i = 0; i < 100; ++i) {
    const int connection = connect_to(port);
    const std::string words =
        i % 2 == 0 ? std::string(4096, static_cast<char>(i)) : "gexhost1" + std::string(100, 'x');
    EXPECT_GT(send(connection, words.data(), words.size(), MSG_NOSIGNAL), 0);
    connections.push_back(connection);
  }
  ASSERT_TRUE(running->wait_for("ready", 2));
  for (const int connection : connections) close(connection);
  // Once all hosts are connected the root does not listen any more.
  for (const int candidate : listening_ports()) EXPECT_NE(candidate, port);
  kill(running->process(), SIGTERM);
  const Outcome outcome = running->finish();
  expect_clean(outcome);
  EXPECT_EQ(outcome.status, 143);
  EXPECT_EQ(lines_with(outcome.error, "refused a connection from "), 1) << outcome.error;
  EXPECT_EQ(lines_with(outcome.error, ""), 2) << outcome.error;
}

}  // namespace
}  // namespace launch_test
