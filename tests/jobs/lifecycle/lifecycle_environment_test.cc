// What stands in the environment: networks, malformed values, unknown names.

#include "lifecycle.h"

namespace lifecycle_test {
namespace {

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

TEST(Environment, WithoutANetworkAllMustShareMemory) {
  const Outcome outcome = job(2, {"ring"})
                              .variable("GEX_CONDUIT", "smp")
                              .variable("GASNET_SUPERNODE_MAXSIZE", "1")
                              .run();
  expect_refusal(outcome, 1, "conduit smp has no network");
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

TEST(Environment, ChoicesAreToldWhenAskedFor) {
  for (Command& command : jobs(3, {"atomic_domain"})) {
    const Outcome outcome =
        command.variable("GEX_VERBOSE", "1").variable("GEX_CONDUIT", "emu").run();
    expect_nothing_left(outcome);
    EXPECT_EQ(outcome.status, 0);
    // The first line is the launcher's.
    EXPECT_EQ(outcome.error.substr(outcome.error.find('\n') + 1),
              "gex: rank 0: 3 ranks, 3 of them in rank 0's neighborhood (all processes of the "
              "host), network emu (GEX_CONDUIT)\n"
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
// Libfabric adds integers; of doubles it may know the addition and not the minimum, and then it is
// used for neither.
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

TEST(Environment, MistakesBeforeTheStartAreToldOnce) {
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
  for (const char* value : {"0", "-1", "1025", "x", "99999999999", "2.5"}) {
    const Outcome outcome = Command({probe, "ring"}).variable("GASNET_PSHM_NODES", value).run();
    expect_refusal(
        outcome, 1,
        std::string("GASNET_PSHM_NODES='") + value + "' is not a number of ranks from 1 to 1024");
    EXPECT_EQ(outcome.output, "");
  }
}

TEST(Environment, DeferredThreadsAreNone) {
  expect_success(job(2, {"deferred_threads"}).run(), "deferred", 2);
}

TEST(Environment, ASecondClientIsMadeBesideTheFirst) {
  expect_success(job(2, {"two_clients"}).run(), "second client: GASNET_OK", 2);
}

}  // namespace
}  // namespace lifecycle_test
