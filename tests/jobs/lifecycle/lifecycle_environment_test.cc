// Variables of the environment: networks, malformed values, unknown names.

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lifecycle.h"

namespace lifecycle_test {
namespace {

/// A port of UDP, at all addresses, that is taken as long as this is there.
class TakenPort {
 public:
  TakenPort() : socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    socklen_t length = sizeof place;
    auto* const address = reinterpret_cast<sockaddr*>(&place);
    EXPECT_EQ(bind(socket_, address, length), 0);
    EXPECT_EQ(getsockname(socket_, address, &length), 0);
    number_ = std::to_string(ntohs(place.sin_port));
  }
  TakenPort(const TakenPort&) = delete;
  TakenPort& operator=(const TakenPort&) = delete;
  ~TakenPort() { close(socket_); }

  const std::string& number() const { return number_; }

 private:
  int socket_;
  std::string number_;
};

/// The ways to start a job of `ranks`.
std::vector<Command> jobs(int ranks, const std::vector<std::string>& scenario) {
  return {job(ranks, scenario), forked_job(ranks, scenario)};
}

TEST(Environment, UnknownConduitsAreRefusedWithTheListOfKnownOnes) {
  std::vector<Command> commands = jobs(4, {"ring"});
  for (Command& command : commands) command.variable("GEX_CONDUIT", "nosuch");
  commands.push_back(Command({gexrun, "-n", "4", "--conduit", "nosuch", probe, "ring"}));
  for (Command& command : commands) {
    const Outcome outcome = command.run();
    expect_refusal(outcome, 1, "conduit 'nosuch' not found; available: smp, emu");
    EXPECT_EQ(outcome.output, "");
  }
}

TEST(Environment, AConduitThatIsNoFileIsNamed) {
  for (Command& command : jobs(3, {"ring"})) {
    expect_refusal(command.variable("GEX_CONDUIT", "/nonexistent/libconduit.so").run(), 1,
                   "/nonexistent/libconduit.so");
  }
}

TEST(Environment, TheConduitOfTheCommandLineWins) {
  Command command({gexrun, "-n", "2", "--conduit", "emu", probe, "ring"});
  command.variable("GEX_CONDUIT", "nosuch").variable("GASNET_SUPERNODE_MAXSIZE", "1");
  expect_success(command.run(), "rank ", 2);
}

TEST(Environment, WhatUdpCannotUseIsNamedWithTheVariable) {
  struct Wrong {
    const char* variable;
    std::string value;
    std::string line;
  };
  const TakenPort taken;
  const std::string of_port = ", port " + taken.number() + ": Address already in use; ";
  for (const Wrong& wrong :
       {Wrong{"GEX_UDP_INTERFACE", "eth77",
              "this host has no interface, address or subnet eth77; there are "},
        Wrong{"GEX_UDP_MTU", "500", "GEX_UDP_MTU='500' is not a number of bytes from 576"},
        Wrong{"GEX_UDP_PORTS", taken.number(), of_port + "GEX_UDP_PORTS "},
        Wrong{"GEX_PORTS", taken.number(), of_port + "GEX_PORTS "},
        Wrong{"GEX_UDP_AUTHENTICATE", "all", "GEX_UDP_AUTHENTICATE='all' is not payload or header"},
        Wrong{"GASNET_NETWORKDEPTH", "-1",
              "GASNET_NETWORKDEPTH='-1' is not a number of requests"}}) {
    const Outcome outcome = job(2, {"ring"})
                                .variable("GEX_CONDUIT", "udp")
                                .variable("GASNET_SUPERNODE_MAXSIZE", "1")
                                .variable(wrong.variable, wrong.value)
                                .run();
    expect_nothing_left(outcome);
    EXPECT_EQ(outcome.status, 1);
    EXPECT_EQ(lines_with(outcome.error, wrong.line), 1) << outcome.error;
    EXPECT_EQ(lines_with(outcome.error, "conduit udp cannot be used here"), 1) << outcome.error;
  }
}

TEST(Environment, WithoutANetworkAllMustShareMemory) {
  const Outcome outcome = job(2, {"ring"})
                              .variable("GEX_CONDUIT", "smp")
                              .variable("GASNET_SUPERNODE_MAXSIZE", "1")
                              .run();
  expect_refusal(outcome, 1, "conduit smp has no network");
}

TEST(Environment, WhatConnectsRanksIsReportedWhenAskedFor) {
  const Outcome outcome = job(4, {"ring"})
                              .variable("GEX_VERBOSE", "1")
                              .variable("GEX_CONDUIT", "emu")
                              .variable("GASNET_SUPERNODE_MAXSIZE", "2")
                              .run();
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(lines_with(outcome.error,
                       "rank 0: ranks of one neighborhood (0,1 | 2,3): shared memory; medium "),
            1)
      << outcome.error;
  EXPECT_EQ(lines_with(outcome.error,
                       "rank 0: ranks of one host in different neighborhoods (0-3): emu; medium "),
            1)
      << outcome.error;
  EXPECT_EQ(lines_with(outcome.error,
                       "; made of messages: barrier; no shared memory: GASNET_SUPERNODE_MAXSIZE=2"),
            1)
      << outcome.error;
}

TEST(Environment, WhatARankAloneIsVerboseAboutHangsNoRank) {
  const Outcome outcome =
      Command({gexrun, "-n", "2", "sh", "-c",
               "case $GEX_JOB in *:1:2:*) export GEX_VERBOSE=1 GEX_REQUIRE=shm;; esac; exec " +
                   probe + " ring"})
          .run();
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, 0) << outcome.error;
}

TEST(Environment, RequiredWaysAreTaken) {
  const auto run = [](const char* required, const char* max) {
    return job(4, {"ring"})
        .variable("GEX_CONDUIT", "emu")
        .variable("GASNET_SUPERNODE_MAXSIZE", max)
        .variable("GEX_REQUIRE", required)
        .run();
  };
  expect_success(run("shm", "0"), "rank ", 4);
  expect_success(run(" emu , shm", "2"), "rank ", 4);
  expect_refusal(
      run("shm", "2"), 1,
      "GEX_REQUIRE=shm: ranks 0 and 2 are connected by emu, which is not in the list (no "
      "shared memory: GASNET_SUPERNODE_MAXSIZE=2; emu: GEX_CONDUIT)");
  expect_refusal(run("emu", "2"), 1,
                 "GEX_REQUIRE=emu: ranks 0 and 1 are connected by shared memory, which is not in "
                 "the list (GEX_CONDUIT)");
  expect_refusal(run("shm,emu:fast", "2"), 1,
                 "GEX_REQUIRE=shm,emu:fast: ranks 0 and 2 are connected by emu, which is not");
  // Which kinds of memory stand between them is the library's.
  const Outcome unknown = run("shm,ofx:verbs", "0");
  expect_refusal(unknown, 1,
                 "GEX_REQUIRE=shm,ofx:verbs: there is no network 'ofx'; known: shm, cuda, ");
  EXPECT_EQ(lines_with(unknown.error, ", emu"), 1) << unknown.error;
}

TEST(Environment, UnknownGexVariablesAreWarnedAboutAndUnknownGasnetOnesAreNot) {
  const Outcome outcome = job(2, {"ring"}).variable("GEX_CONDIUT", "emu").run();
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(lines_with(outcome.output, "rank "), 2);
  EXPECT_EQ(outcome.error,
            "gex: rank 0: warning: GEX_CONDIUT is not a variable of libgex; did you mean "
            "GEX_CONDUIT?\n");
  expect_success(
      job(2, {"ring"}).variable("GEX_CONDIUT", "emu").variable("GASNET_QUIET", "1").run(), "rank ",
      2);
  expect_success(job(2, {"ring"}).variable("GASNET_USE_ODP", "0").run(), "rank ", 2);
}

TEST(Environment, ChoicesAreReportedWhenAskedFor) {
  for (Command& command : jobs(3, {"atomic_domain"})) {
    const Outcome outcome =
        command.variable("GEX_VERBOSE", "1").variable("GEX_CONDUIT", "emu").run();
    expect_nothing_left(outcome);
    EXPECT_EQ(outcome.status, 0);
    // The first line is the launcher's.
    EXPECT_EQ(outcome.error.substr(outcome.error.find('\n') + 1),
              "gex: rank 0: 3 ranks, 3 of them in rank 0's neighborhood (all processes of the "
              "host), network emu (GEX_CONDUIT)\n"
              "gex: rank 0: ranks 0-2 among themselves: shared memory; medium 65536, long "
              "1073741824 bytes; every operation native\n"
              "gex: rank 0: gex_AD_Create: type 0x8, operations 0x8: the processor's atomics for 3 "
              "of 3 members, messages to the owning rank for the others\n");
  }
  const Outcome apart = job(2, {"atomic_domain"})
                            .variable("GEX_VERBOSE", "1")
                            .variable("GEX_CONDUIT", "emu")
                            .variable("GASNET_SUPERNODE_MAXSIZE", "1")
                            .run();
  EXPECT_EQ(lines_with(apart.error, "the atomics of network emu for all 2 members"), 1)
      << apart.error;
  const Outcome by_processor = job(2, {"atomic_domain"})
                                   .variable("GEX_VERBOSE", "1")
                                   .variable("GEX_CONDUIT", "emu")
                                   .variable("GEX_EMU", "atomics=0")
                                   .variable("GASNET_SUPERNODE_MAXSIZE", "1")
                                   .run();
  EXPECT_EQ(lines_with(by_processor.error, "the processor's atomics for 1 of 2 members"), 1)
      << by_processor.error;
  expect_success(job(2, {"atomic_domain"}).run(), "domain", 2);
}

#ifdef LIFECYCLE_TEST_OFI
// Libfabric adds integers; of doubles it may support the addition and not the minimum, and then it
// is used for neither.
TEST(Environment, ANetworkServesADomainOnlyIfItHasAllItsOperations) {
  const auto choice = [](std::vector<std::string> scenario) {
    return job(2, std::move(scenario))
        .variable("GEX_VERBOSE", "1")
        .variable("GEX_CONDUIT", "ofi")
        .variable("GASNET_SUPERNODE_MAXSIZE", "1")
        .run()
        .error;
  };
  const std::string whole = choice({"atomic_domain"});
  EXPECT_EQ(lines_with(whole, "the atomics of network ofi for all 2 members"), 1) << whole;
  const std::string part = choice({"atomic_domain", "doubles"});
  EXPECT_EQ(lines_with(part, "the processor's atomics for 1 of 2 members"), 1) << part;
}
#endif

#ifdef LIFECYCLE_TEST_OFI
TEST(Environment, WithoutANameTheBestNetworkIsChosen) {
  Command command = job(2, {"ring"});
  const Outcome outcome =
      command.variable("GEX_VERBOSE", "1").variable("GASNET_SUPERNODE_MAXSIZE", "1").run();
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(lines_with(outcome.error, "network ofi (the best network here"), 1) << outcome.error;
  const auto require = [](const char* required) {
    return job(2, {"ring"})
        .variable("GASNET_SUPERNODE_MAXSIZE", "1")
        .variable("GEX_OFI_PROVIDER", "tcp;ofi_rxm")
        .variable("GEX_REQUIRE", required)
        .run();
  };
  expect_success(require("ofi:tcp"), "rank ", 2);
  expect_refusal(require("shm,ofi:verbs"), 1,
                 "ranks 0 and 1 are connected by ofi:tcp;ofi_rxm, which is not in the list");
}

// A last resort takes its place in a build that has one.
TEST(Environment, ANetworkThatCannotBeUsedLetsTheNextBeTried) {
  Command command = job(2, {"ring"});
  const Outcome outcome = command.variable("GEX_VERBOSE", "1")
                              .variable("GASNET_SUPERNODE_MAXSIZE", "1")
                              .variable("GEX_OFI_PROVIDER", "nosuch")
                              .run();
  expect_nothing_left(outcome);
  EXPECT_EQ(
      lines_with(outcome.error, "network ofi is not used: GEX_OFI_PROVIDER=nosuch: libfabric "), 1)
      << outcome.error;
  EXPECT_EQ(outcome.status, LIFECYCLE_TEST_HAS_LAST_RESORT ? 0 : 1) << outcome.error;
  if (outcome.status == 1) {
    EXPECT_EQ(lines_with(outcome.error,
                         "rank 0: 1 of 2 processes are outside this one's memory "
                         "(GASNET_SUPERNODE_MAXSIZE=1), and no network reaches them "
                         "(ofi: GEX_OFI_PROVIDER=nosuch: libfabric "),
              1)
        << outcome.error;
  }
}
#endif

struct Malformed {
  const char* name;
  const char* value;
  const char* cause;
};

TEST(Environment, MalformedValuesAreRefusedByNameAndValue) {
  const Malformed rows[] = {
      {"GASNET_SUPERNODE_MAXSIZE", "-1", "GASNET_SUPERNODE_MAXSIZE=-1: expected 0"},
      {"GASNET_SUPERNODE_MAXSIZE", "two", "GASNET_SUPERNODE_MAXSIZE='two' is not understood"},
      {"GEX_EMU_SEED", "x", "GEX_EMU_SEED='x' is not understood"},
      {"GEX_EMU_QUEUE", "0", "GEX_EMU_QUEUE is 0; it must be from 1 to 64"},
      {"GEX_EMU_QUEUE", "65", "GEX_EMU_QUEUE is 65; it must be from 1 to 64"},
      {"GEX_EMU", "latency=1", "GEX_EMU: latency=1: expected a time such as 1.5us"},
      {"GEX_EXIT_TIMEOUT", "soon", "GEX_EXIT_TIMEOUT='soon' is not understood"},
      {"GEX_EXIT_GRACE", "soon", "GEX_EXIT_GRACE='soon' is not understood"},
      {"GEX_SEGMENT_COMMIT", "perhaps", "GEX_SEGMENT_COMMIT='perhaps' is not understood"},
      {"GEX_CHECK", "2", "GEX_CHECK='2' is not understood"},
      {"GASNET_MAX_THREADS", "0", "GASNET_MAX_THREADS=0: expected at least 1"},
      {"GASNET_MAX_THREADS", "many", "GASNET_MAX_THREADS='many' is not understood"},
      {"GASNET_QUIET", "maybe", "GASNET_QUIET='maybe' is not understood"},
      {"GASNET_MAX_SEGSIZE", "lots", "GASNET_MAX_SEGSIZE='lots' is not understood"},
  };
  for (const Malformed& row : rows) {
    // A library that checks enters its first thread before it reads them.
    for (const char* check : {"0", "1"}) {
      for (Command& command : jobs(4, {"ring"})) {
        const Outcome outcome = command.variable("GEX_CONDUIT", "emu")
                                    .variable("GEX_CHECK", check)
                                    .variable(row.name, row.value)
                                    .run();
        SCOPED_TRACE(std::string(row.name) + "=" + row.value + ", GEX_CHECK=" + check);
        expect_refusal(outcome, 1, row.cause);
      }
    }
  }
}

TEST(Environment, MistakesBeforeTheStartAreReportedOnce) {
  for (Command& command : jobs(4, {"attach_before_start"}))
    expect_refusal(command.run(), 1, "gex_Segment_Attach: called before gex_Client_Init");
}

TEST(Environment, AProgramStartedWithoutALauncherWarnsThatItIsAlone) {
  const Outcome outcome = Command({probe, "ring"}).run();
  expect_nothing_left(outcome);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.error,
            "gex: rank 0: warning: no launcher, and GASNET_PSHM_NODES is not set: this is a job of "
            "one rank (for N ranks: gexrun -n N, or GASNET_PSHM_NODES=N)\n");
  expect_success(Command({probe, "ring"}).variable("GASNET_QUIET", "1").run(), "rank ", 1);
  expect_success(Command({probe, "ring"}).variable("GASNET_PSHM_NODES", "1").run(), "rank ", 1);
  expect_success(job(1, {"ring"}).run(), "rank ", 1);
}

TEST(Environment, RankCountsOfAForkedJobAreChecked) {
  for (const char* value : {"0", "-1", "1048577", "x", "99999999999", "2.5"}) {
    const Outcome outcome = Command({probe, "ring"}).variable("GASNET_PSHM_NODES", value).run();
    expect_refusal(outcome, 1,
                   std::string("GASNET_PSHM_NODES='") + value +
                       "' is not a number of ranks from 1 to 1048576");
    EXPECT_EQ(outcome.output, "");
  }
}

TEST(Environment, DeferredThreadsAreAbsent) {
  expect_success(job(2, {"deferred_threads"}).run(), "deferred", 2);
}

TEST(Environment, ASecondClientIsMadeBesideTheFirst) {
  expect_success(job(2, {"two_clients"}).run(), "second client: GASNET_OK", 2);
}

}  // namespace
}  // namespace lifecycle_test
