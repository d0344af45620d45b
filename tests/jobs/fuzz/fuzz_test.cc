// Jobs in which one message of the library's own is changed on its way (fuzz_conduit.cc). Changes
// that no receiver can take for something else must be refused, each with its line; of changes by
// chance it is known which may have a process wait for what never comes. Whatever they are, no rank
// does what it must not, and nothing is left behind.

#include <gtest/gtest.h>
#include <regex.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "../../unit/temporary_folder.h"
#include "../launch/command.h"
#include "base/random.h"

namespace {

using launch_test::Command;
using launch_test::Outcome;

/// A change that must be refused.
struct Refused {
  std::string change;  ///< as fuzz_conduit.cc reads it
  std::string line;    ///< an expression for the message, @ being the rank whose message it was
  std::string only = "";
};

/// Changes that are made by chance.
struct Chance {
  std::vector<unsigned> arguments;
  bool description = false;
  /// Arguments that, changed, may be right at another time or place: the message is kept for that,
  /// and the rank that needs it as it was waits for ever.
  std::vector<unsigned> have_another_wait = {};
};

struct Kind {
  const char* name;
  const char* message;            ///< as the library names it
  const char* tests;              ///< of the conformance suite, which send such messages
  std::vector<unsigned> senders;  ///< ranks that send them
  std::vector<Refused> refused;
  Chance chance = {};
  bool checked = false;
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

constexpr const char* collectives = "Broadcast*:Reductions*:Collectives*";

/// An address whose upper half is another lies nowhere.
std::string outside(const std::string& what) {
  return "rank @: " + what + " of [0-9]+ bytes at 0x\\w+ is outside this process's bound segment";
}
std::string not_inside(const std::string& what) {
  return "rank @: " + what + " of [0-9]+ bytes is outside this process's bound segment";
}
std::string malformed(const std::string& what) {
  return "rank @: " + what + " is malformed";
}
constexpr const char* part_of_put = "a part of a non-contiguous put";
constexpr const char* part_of_get = "a part of a non-contiguous get";

/// Fewer arguments than its handler reads: of messages of every kind.
Refused fewer(const char* change) {
  return {change,
          "a message from rank @ over the network is malformed: not what the library's own "
          "handler takes"};
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      // Not changed by chance: what only the sender reads again, as the addresses at which it
      // waits for an answer, and the size of a get, since the answer is as long. A peer that
      // changes these can do what it likes.
      {"rma_put",
       "put",
       "Rma*",
       {0, 1, 2},
       {{"argument 0 = 0x7fffffff", outside("a put")}, fewer("arguments 3")},
       {{0, 1}}},
      {"rma_get",
       "get",
       "Rma*",
       {0, 1, 2},
       {{"argument 0 = 0x7fffffff", outside("a get")},
        {"argument 6 = 0x10001", "rank @: a get of 65537 bytes"},
        fewer("arguments 6")},
       {{0, 1}}},
      {"rma_data", "data of a get", "Rma*", {0, 1, 2}, {fewer("arguments 3")}},
      {"rma_done", "put is done", "Rma*", {0, 1, 2}, {fewer("arguments 1")}},
      // A counter that lacks an operation is waited for.
      {"atomic",
       "atomic",
       "Atomic*",
       {0, 1, 2},
       {{"argument 0 = 0x7fffffff", outside("an atomic operation")},
        {"argument 1 ^ 1", "rank @: an atomic operation .*( is not aligned| is outside )"},
        {"argument 6 = 0xf0000000", "rank @: unknown atomic operation 0x0 of type 0x8000"},
        fewer("arguments 10")},
       {{0, 1, 2, 3, 4, 5, 6}, false, {0, 1, 2, 3, 4, 5, 6}}},
      {"atomic_result", "result of an atomic", "Atomic*", {0, 1, 2}, {fewer("arguments 6")}},
      {"vis_put",
       "non-contiguous put",
       "Vis*",
       {0, 1, 2},
       {{"argument 2 = 3", malformed(part_of_put)},
        {"argument 3 = 0xffffffff", malformed(part_of_put)},
        // The first address of a shape, of a list of blocks of one length, and of one of any.
        {"description 1 = 0x7fffffff", not_inside(part_of_put), "2 = 0"},
        {"description 5 = 0x7fffffff", not_inside(part_of_put), "2 = 1"},
        {"description 1 = 0x7fffffff", not_inside(part_of_put), "2 = 2"},
        fewer("arguments 3")},
       {{2, 3}, true}},
      {"vis_put_with_notice",
       "non-contiguous put with notice",
       "Vis*",
       {0, 1, 2},
       {{"argument 8 = 0xffffff80", malformed(part_of_put)}, fewer("arguments 8")},
       {{2, 3}, true}},
      {"vis_get",
       "non-contiguous get",
       "Vis*",
       {0, 1, 2},
       {{"argument 6 = 0xffffffff", not_inside(part_of_get)},
        {"argument 7 = 3", malformed(part_of_get)},
        {"argument 8 = 0xffffffff", malformed(part_of_get)},
        {"description 1 = 0x7fffffff", not_inside(part_of_get), "7 = 0"},
        {"description 5 = 0x7fffffff", not_inside(part_of_get), "7 = 1"},
        {"description 1 = 0x7fffffff", not_inside(part_of_get), "7 = 2"},
        fewer("arguments 8")},
       {{7, 8}, true}},
      {"vis_data", "data of a non-contiguous get", "Vis*", {0, 1, 2}, {fewer("arguments 5")}},
      {"memset",
       "memset",
       "Gasnet1Rma.Memset*",
       {0, 1, 2},
       {{"argument 0 = 0x7fffffff", outside("a memset")},
        {"argument 4 = 1", outside("a memset")},
        fewer("arguments 6")},
       {{0, 1, 4, 5, 6}}},
      // The changes: another team or exchange, another member, more bytes than come.
      {"exchange_gather",
       "team exchange: gather",
       "Team*:Split*",
       {1, 2},
       {{"argument 3 = 0",
         "rank @: a team exchange in the name of rank 0 of the team, which is rank 0"},
        {"argument 3 ^ 3", "rank [12]: a (part of a )?team exchange "},
        {"argument 3 = 64", "rank @: a team exchange names rank 64 of [23]"},
        {"argument 4 = 0x1000000", "rank @: a team exchange of 16777216 bytes; the limit is "},
        {"argument 5 = 0xffffffff", "rank @: a part of a team exchange does not fit: "},
        fewer("arguments 5")},
       {{0, 1, 2, 3, 4, 5}, false, {0, 1, 2, 4}}},
      {"exchange_spread",
       "team exchange: spread",
       "Team*:Split*",
       {0},
       {{"argument 4 = 0", "rank @: a part of a team exchange does not fit: "},
        {"argument 4 = 0x1000000", "rank @: a team exchange of 16777216 bytes; the limit is "},
        {"argument 5 = 0xffffffff", "rank @: a part of a team exchange does not fit: "},
        fewer("arguments 5")},
       {{0, 1, 2, 3, 4, 5}, false, {0, 1, 2, 4}}},
      // The changes: another team, a barrier that is over.
      {"barrier",
       "barrier",
       "Team*:Barrier*",
       {0, 1, 2},
       {{"argument 2 = 64", "rank @: a barrier message names round 64"},
        {"argument 2 ^ 1",
         "rank [0-9]: a barrier message (of round [01], which rank [0-9] sends|names round [01] of "
         "[0-9])"},
        fewer("arguments 3")},
       {{0, 1, 2, 3}, false, {0, 1, 3}}},
      {"completion_barrier",
       "barrier of completions",
       "Gasnet1Collectives*",
       {0, 1, 2},
       {{"argument 2 = 64", "rank @: a barrier message names round 64"},
        {"argument 2 ^ 1",
         "rank [0-9]: a barrier message (of round [01], which rank [0-9] sends|names round [01] of "
         "[0-9])"},
        fewer("arguments 3")},
       {{0, 1, 2, 3}, false, {0, 1, 3}}},
      // The change: the next barrier.
      {"named_barrier",
       "named barrier",
       "NamedBarrier*",
       {0, 1, 2},
       {{"argument 2 = 64", "rank @: a barrier message names round 64"},
        {"argument 2 ^ 1",
         "rank [0-9]: a barrier message (of round [01], which rank [0-9] sends|names round [01] of "
         "[0-9])"},
        {"argument 3 ^ 64",
         "rank @: a named barrier's message is of barrier [0-9]+, [0-9]+ are done"},
        {"argument 4 = 0xffffffff", "rank @: a named barrier's message has the invalid state -1"},
        {"argument 4 = 3", "rank @: a named barrier's message has the invalid state 3"},
        fewer("arguments 5")},
       {{0, 1, 2, 3, 4, 5}, false, {0, 1, 3}}},
      // The changes: another team, member, operation or piece; granting or giving back less.
      {"coll_data",
       "data of a collective",
       collectives,
       {0, 1, 2},
       {{"argument 4 = 1000", "a collective message of rank 1000 of the team matches no call here"},
        {"argument 5 = 3", "rank @: a collective message of phase 3"},
        {"argument 6 = 0x7fffffff",
         "a collective message of rank [0-9] of the team matches no call here"},
        fewer("arguments 7")},
       {{0, 1, 2, 3, 4, 5, 6, 7}, false, {0, 1, 2, 3, 4, 5, 6, 7}}},
      {"coll_grant",
       "room for a collective",
       collectives,
       {0, 1, 2},
       {{"argument 4 = 1000", "a collective message of rank 1000 of the team matches no call here"},
        {"argument 5 = 3", "rank @: a collective message of phase 3"},
        fewer("arguments 6")},
       {{0, 1, 2, 3, 4, 5, 6}, false, {0, 1, 2, 3, 4, 5, 6}}},
      // Only the primordial team is used, since messages of a team that has ended are not checked.
      {"coll_credit",
       "credit of a collective",
       collectives,
       {0, 1, 2},
       {{"argument 3 = 1000", "a collective message of rank 1000 of the team matches no call here",
         "1 = 0"},
        {"argument 4 = 0x7fffffff",
         "a collective message of rank [0-9] of the team matches no call here", "1 = 0"},
        fewer("arguments 4")},
       {{0, 1, 2, 3, 4}, false, {0, 1, 2, 3, 4}}},
      {"coll_announce",
       "announcement of a collective",
       collectives,
       {1, 2},
       {{"argument 5 = 1000", "rank @: an announcement of call 1000"},
        {"argument 6 ^ 1", ": root is [0-9]+ in rank [0-9] of the team, and [0-9]+ in rank [0-9]"},
        {"argument 8 ^ 1",
         ": (nbytes|dt_sz) is [0-9]+ in rank [0-9] of the team, and [0-9]+ in rank [0-9]"},
        {"argument 10 ^ 1",
         ": dt_cnt is [0-9]+ in rank [0-9] of the team, and [0-9]+ in rank [0-9]"},
        {"argument 11 ^ 1", ": dt is \\S+ in rank [0-9] of the team, and \\S+ in rank [0-9]"},
        {"argument 12 ^ 1", ": op is \\S+ in rank [0-9] of the team, and \\S+ in rank [0-9]"},
        {"argument 13 ^ 1",
         ": flags are 0x\\w+ in rank [0-9] of the team, and 0x\\w+ in rank [0-9]"},
        fewer("arguments 13")},
       {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}, false, {0, 1, 2, 3}},
       true},
      {"coll_agreed",
       "agreement on a collective",
       collectives,
       {0},
       {fewer("arguments 3")},
       {{0, 1, 2, 3}, false, {0, 1, 2, 3}},
       true},
  };
  return all;
}

struct Ended {
  Outcome outcome;
  std::string changed;  ///< the change that the conduit reports

  bool out_of_time() const {
    // gexrun's verdict, and that of the suite, whose own waits end after a while.
    return outcome.status == 124 || launch_test::lines_with(outcome.error, "waited too long") != 0;
  }
  std::string text() const {
    return "changed: " + changed + "\nstatus " + std::to_string(outcome.status) + "\n" +
           outcome.error;
  }
};

/// The handler of the library's own message of that name; "" if there is none.
std::string handler_of(const std::string& message) {
  static const std::string all =
      Command({FUZZ_TEST_MESSAGES}).variable("GASNET_QUIET", "1").run().output;
  std::istringstream lines(all);
  for (std::string handler, name; lines >> handler && std::getline(lines >> std::ws, name);)
    if (name == message) return handler;
  ADD_FAILURE() << "no message '" << message << "' among\n" << all;
  return "";
}

/// A job of three ranks, one of which has a message changed.
Ended run(const Kind& kind, unsigned sender, unsigned skip, const std::string& change,
          const std::string& only, const char* seconds) {
  const TemporaryFolder folder;
  const std::string log = folder.path() + "/log";
  Command command({FUZZ_TEST_GEXRUN, "-n", "3", "--timeout", seconds, FUZZ_TEST_PROGRAM,
                   std::string("--gtest_filter=") + kind.tests});
  command.variable("GEX_CONDUIT", FUZZ_TEST_CONDUIT)
      .variable("FUZZ_UNDER", FUZZ_TEST_TCP)
      .variable("FUZZ_KIND", kind.name)
      .variable("FUZZ_HANDLER", handler_of(kind.message))
      .variable("FUZZ_RANK", std::to_string(sender))
      .variable("FUZZ_SKIP", std::to_string(skip))
      .variable("FUZZ_CHANGE", change)
      .variable("FUZZ_ONLY", only)
      .variable("FUZZ_LOG", log)
      .variable("GASNET_SUPERNODE_MAXSIZE", "1");
  if (kind.checked) command.variable("GEX_CHECK", "1");
  Ended ended;
  ended.outcome = command.run();
  std::ifstream lines(log);
  std::getline(lines, ended.changed);
  return ended;
}

void expect_no_harm(const Ended& ended) {
  EXPECT_NE(ended.changed, "") << "no such message was sent";
  EXPECT_FALSE(ended.outcome.hung);
  EXPECT_EQ(ended.outcome.left_behind, std::vector<std::string>());
  EXPECT_EQ(launch_test::lines_with(ended.outcome.error, "Sanitizer"), 0);
}

/// Returns true if the expression, of POSIX's extended ones, matches in a line. (GCC 12 takes what
/// std::regex is made of for uninitialised where it sanitizes.)
bool has_line(const std::string& text, const std::string& expression) {
  regex_t compiled;
  if (regcomp(&compiled, expression.c_str(), REG_EXTENDED | REG_NEWLINE | REG_NOSUB) != 0) {
    ADD_FAILURE() << "not an expression: " << expression;
    return false;
  }
  const bool found = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  regfree(&compiled);
  return found;
}

class Fuzz : public testing::TestWithParam<Kind> {};
INSTANTIATE_TEST_SUITE_P(Job, Fuzz, testing::ValuesIn(kinds()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(Fuzz, WhatCannotBeIsRefusedInALine) {
  const Kind& kind = GetParam();
  for (const Refused& refused : kind.refused) {
    const unsigned sender = kind.senders[0];
    const Ended ended = run(kind, sender, 0, refused.change, refused.only, FUZZ_TEST_PATIENCE);
    SCOPED_TRACE(refused.change + ": " + ended.text());
    expect_no_harm(ended);
    EXPECT_EQ(ended.outcome.status, 1);
    std::string line = refused.line;
    if (const std::size_t at = line.find('@'); at != std::string::npos)
      line.replace(at, 1, std::to_string(sender));
    EXPECT_TRUE(has_line(ended.outcome.error, "^gex: rank [0-9]: .*" + line))
        << "not refused with: " << line;
  }
}

/// A change by chance, and whether it may have a process wait for ever.
struct Drawn {
  std::string change;
  bool may_wait;
};
Drawn draw(const Chance& chance, gex::Random& random) {
  // A description's first words: what is described, and the first of its entries.
  const bool description = chance.description && random.below(2) == 0;
  const unsigned index = description ? static_cast<unsigned>(random.below(8))
                                     : chance.arguments[random.below(chance.arguments.size())];
  std::string to;
  switch (random.below(4)) {
    case 0:
      to = "^ " + std::to_string(1U << random.below(32));
      break;
    case 1:
      // Less by up to four, or more.
      to = "+ " + std::to_string(static_cast<std::uint32_t>(
                      random.below(2) == 0 ? 1 + random.below(4) : -1 - random.below(4)));
      break;
    case 2:
      to = "= " + std::to_string(random.below(64));
      break;
    default:
      to = "= " + std::to_string(random.below(std::uint64_t{1} << 32));
  }
  const auto& waits = chance.have_another_wait;
  return {(description ? "description " : "argument ") + std::to_string(index) + ' ' + to,
          !description && std::find(waits.begin(), waits.end(), index) != waits.end()};
}

TEST_P(Fuzz, WhatMayBeIsRefusedOrTaken) {
  const Kind& kind = GetParam();
  if (kind.chance.arguments.empty()) return;
  // More of them look for more.
  const char* const wanted = std::getenv("FUZZ_TEST_SEEDS");
  const int seeds = wanted != nullptr ? std::atoi(wanted) : 3;
  int waited = 0;
  int refused = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    gex::Random random(static_cast<std::uint64_t>(seed));
    const unsigned sender = kind.senders[static_cast<unsigned>(seed) % kind.senders.size()];
    const auto skip = static_cast<unsigned>(random.below(4));
    const Drawn drawn = draw(kind.chance, random);
    // A rank that may wait for ever is ended soon, unless the job was so slow that nothing has been
    // changed.
    Ended ended;
    for (const char* seconds : {FUZZ_TEST_LIMIT, FUZZ_TEST_LONGER, FUZZ_TEST_PATIENCE}) {
      if (!drawn.may_wait && seconds != std::string(FUZZ_TEST_PATIENCE)) continue;
      ended = run(kind, sender, skip, drawn.change, "", seconds);
      if (!ended.out_of_time() || !ended.changed.empty()) break;
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + drawn.change + ": " + ended.text());
    expect_no_harm(ended);
    if (ended.out_of_time()) {
      EXPECT_TRUE(drawn.may_wait) << "a rank waits, although none need to";
      ++waited;
    } else {
      // 1: refused, or the suite has seen that its data are others.
      EXPECT_TRUE(ended.outcome.status == 0 || ended.outcome.status == 1);
    }
    if (has_line(ended.outcome.error, "^gex: rank [0-9]+: .*rank [0-9]+")) ++refused;
  }
  std::printf("%s: %d changed, %d jobs refused it, %d waited for ever\n", kind.name, seeds, refused,
              waited);
}

}  // namespace
