// The environment table: typed access, malformed values, unknown names, GASNET_VERBOSEENV.

#include "base/env.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/env_grammar.h"
#include "base/error.h"

namespace gex::env {
namespace {

using testing::ExitedWithCode;
using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

/// Each test starts without any variable of the table or of our prefix.
class Environment : public testing::Test {
 protected:
  void SetUp() override {
    for (const Description& row : table()) ::unsetenv(row.name);
    for (const Member& limit : members(Variable::maximize)) ::unsetenv(limit.name.c_str());
  }
  void TearDown() override { SetUp(); }

  static void set(Variable variable, const char* value) {
    ::setenv(describe(variable).name, value, 1);
  }
};
using EnvironmentDeath = Environment;

TEST_F(Environment, EveryRowIsCompleteUniqueAndHasADefaultOfItsType) {
  std::set<std::string_view> names;
  for (const Description& row : table()) {
    const std::string_view name = row.name, text = row.default_text;
    EXPECT_TRUE(name.starts_with("GEX_") || name.starts_with("GASNET_") || name == "TMPDIR")
        << name;
    EXPECT_TRUE(names.insert(name).second) << name << " is listed twice";
    EXPECT_STRNE(row.category, "") << name;
    EXPECT_STRNE(row.help, "") << name;
    if (text.empty()) continue;
    switch (row.type) {
      case Type::text:
      case Type::file:
      case Type::plugin:
      case Type::command:
        break;
      case Type::boolean:
        EXPECT_TRUE(parse_boolean(text)) << name;
        break;
      case Type::integer:
        EXPECT_TRUE(parse_integer(text)) << name;
        break;
      case Type::seconds:
        EXPECT_TRUE(parse_seconds(text)) << name;
        break;
      case Type::memory:
        EXPECT_TRUE(parse_memory(text)) << name;
        break;
      case Type::ports:
        EXPECT_TRUE(parse_port_range(text)) << name;
        break;
    }
  }
}

TEST_F(Environment, AProgramWithTheRightsOfAnotherTakesNoFilesPluginsOrCommands) {
  set(Variable::conduit_path, "/tmp");
  set(Variable::conduit, "evil");
  set(Variable::check, "1");
  pretend_rights_of_another(true);
  EXPECT_EQ(value(Variable::conduit_path), std::nullopt);
  EXPECT_EQ(value("GEX_CONDUIT_PATH"), std::nullopt);
  EXPECT_EQ(raw(Variable::conduit), nullptr);
  EXPECT_EQ(text(Variable::conduit), "");
  EXPECT_TRUE(boolean(Variable::check));
  pretend_rights_of_another(false);
  EXPECT_EQ(value(Variable::conduit_path), "/tmp");
  EXPECT_EQ(text(Variable::conduit), "evil");
}

TEST_F(Environment, FindsRowsByName) {
  EXPECT_EQ(find("GASNET_MAX_SEGSIZE"), Variable::max_segsize);
  EXPECT_EQ(find("GEX_CONDUIT"), Variable::conduit);
  EXPECT_EQ(find("GEX_CONDUI"), std::nullopt);
  EXPECT_EQ(find(""), std::nullopt);
}

TEST_F(Environment, UnsetVariablesHaveTheTablesDefault) {
  EXPECT_EQ(value(Variable::max_segsize), std::nullopt);
  const Memory memory = env::memory(Variable::max_segsize);
  EXPECT_EQ(memory.amount, 0.85);
  EXPECT_TRUE(memory.is_fraction);
  EXPECT_TRUE(memory.per_host);
  EXPECT_FALSE(boolean(Variable::segment_commit));
  EXPECT_EQ(integer(Variable::supernode_maxsize), 0);
  EXPECT_EQ(text(Variable::conduit), "");
  EXPECT_EQ(integer(Variable::pshm_nodes), 0) << "no default: zero";
}

TEST_F(Environment, ValuesComeFromTheEnvironment) {
  set(Variable::conduit, "emu");
  set(Variable::segment_commit, "yes");
  set(Variable::supernode_maxsize, "0x10");
  set(Variable::exit_timeout, "2.5");
  set(Variable::max_segsize, "128.0MB/P");
  EXPECT_EQ(text(Variable::conduit), "emu");
  EXPECT_TRUE(boolean(Variable::segment_commit));
  EXPECT_EQ(integer(Variable::supernode_maxsize), 16);
  EXPECT_EQ(seconds(Variable::exit_timeout), 2.5);
  EXPECT_EQ(env::memory(Variable::max_segsize).amount, 128.0 * (1 << 20));
}

TEST_F(Environment, AnEmptyValueCountsAsUnsetAndBlanksAreDropped) {
  set(Variable::max_segsize, "");
  EXPECT_EQ(value(Variable::max_segsize), std::nullopt);
  EXPECT_EQ(env::memory(Variable::max_segsize).amount, 0.85);
  set(Variable::conduit, "  ");
  EXPECT_EQ(value(Variable::conduit), std::nullopt);
  set(Variable::conduit, " emu\n");
  EXPECT_EQ(value(Variable::conduit), "emu");
}

TEST_F(Environment, AFamilysRowHoldsForEveryMember) {
  EXPECT_TRUE(is_family(Variable::maximize));
  EXPECT_FALSE(is_family(Variable::conduit));
  EXPECT_TRUE(boolean(Variable::maximize, "RLIMIT_CPU")) << "unset: the table's default";
  EXPECT_TRUE(members(Variable::maximize).empty());
  ::setenv("GASNET_MAXIMIZE_RLIMIT_CPU", " no ", 1);
  ::setenv("GASNET_MAXIMIZE_RLIMIT_AS", "yes", 1);
  ::setenv("GASNET_MAXIMIZE_RLIMIT_RSS", " ", 1);
  ::setenv("GASNET_MAXIMISE_RLIMIT_RSS", "0", 1);
  EXPECT_FALSE(boolean(Variable::maximize, "RLIMIT_CPU"));
  EXPECT_TRUE(boolean(Variable::maximize, "RLIMIT_AS"));
  EXPECT_TRUE(boolean(Variable::maximize, "RLIMIT_RSS"));
  const std::vector<Member> set = members(Variable::maximize);
  ASSERT_EQ(set.size(), 2u);
  EXPECT_EQ(set[0].name, "GASNET_MAXIMIZE_RLIMIT_AS");
  EXPECT_EQ(set[1].name, "GASNET_MAXIMIZE_RLIMIT_CPU");
  EXPECT_EQ(set[1].value, "no");
  EXPECT_TRUE(members(Variable::conduit).empty());
  ::unsetenv("GASNET_MAXIMISE_RLIMIT_RSS");
}

TEST_F(Environment, TheRawValueIsAsItWasSet) {
  EXPECT_EQ(raw(Variable::backtrace_type), nullptr);
  set(Variable::backtrace_type, " A,B ");
  EXPECT_STREQ(raw(Variable::backtrace_type), " A,B ");
}

TEST_F(EnvironmentDeath, AMemberOfAFamilyIsCheckedAndNamed) {
  ::setenv("GASNET_MAXIMIZE_RLIMIT_CPU", "maybe", 1);
  const char* const line =
      "^gex: GASNET_MAXIMIZE_RLIMIT_CPU='maybe' is not understood: expected 1, 0, yes, no,";
  EXPECT_EXIT(boolean(Variable::maximize, "RLIMIT_CPU"), ExitedWithCode(1), line);
  EXPECT_EXIT(check_values(), ExitedWithCode(1), line);
}

TEST_F(EnvironmentDeath, AMalformedValueEndsWithOneLineThatNamesIt) {
  set(Variable::max_segsize, "12 parsecs");
  EXPECT_EXIT(env::memory(Variable::max_segsize), ExitedWithCode(1),
              "^gex: GASNET_MAX_SEGSIZE='12 parsecs' is not understood: expected an amount of "
              "memory, such as 256MB, 128.0MB/P or 0.5/H\n$");
  set(Variable::segment_commit, "perhaps");
  EXPECT_EXIT(boolean(Variable::segment_commit), ExitedWithCode(1),
              "^gex: GEX_SEGMENT_COMMIT='perhaps' is not understood: expected 1, 0, yes, no,");
  set(Variable::supernode_maxsize, "four");
  EXPECT_EXIT(integer(Variable::supernode_maxsize), ExitedWithCode(1),
              "^gex: GASNET_SUPERNODE_MAXSIZE='four' is not understood: expected a whole number");
  set(Variable::ports, "43250-43210");
  EXPECT_EXIT(
      ports(Variable::ports), ExitedWithCode(1),
      "^gex: GEX_PORTS='43250-43210' is not understood: expected a port from 1 to 65535, or "
      "a first and a last one, such as 41000-41999\n$");
  set(Variable::exit_timeout, "-3");
  EXPECT_EXIT(seconds(Variable::exit_timeout), ExitedWithCode(1),
              "^gex: GEX_EXIT_TIMEOUT='-3' is not understood: expected a number of seconds");
}

TEST_F(EnvironmentDeath, AValueWithALineBreakStaysOneLine) {
  set(Variable::supernode_maxsize, "4\ngex: all is well");
  EXPECT_EXIT(integer(Variable::supernode_maxsize), ExitedWithCode(1),
              "^gex: GASNET_SUPERNODE_MAXSIZE='4\\?gex: all is well' is not understood[^\n]*\n$");
}

// warn_unknown speaks once in a process, so each of these runs in its own.

TEST_F(EnvironmentDeath, AnUnknownNameOfOursIsWarnedAboutWithTheNearestKnownOne) {
  const auto warn_about = [](const char* name) {
    ::setenv(name, "1", 1);
    warn_unknown();
    std::exit(0);
  };
  EXPECT_EXIT(warn_about("GEX_CONDIUT"), ExitedWithCode(0),
              "^gex: warning: GEX_CONDIUT is not a variable of libgex; did you mean GEX_CONDUIT\\?"
              "\n$");
  EXPECT_EXIT(warn_about("GEX_MAX_SEGSIZE"), ExitedWithCode(0),
              "GEX_MAX_SEGSIZE is not .*; did you mean GASNET_MAX_SEGSIZE\\?\n$");
  EXPECT_EXIT(warn_about("GEX_"), ExitedWithCode(0), "^gex: warning: GEX_ is not a variable");
}

TEST_F(EnvironmentDeath, KnownNamesAndThoseOfGasnetAreNotWarnedAbout) {
  EXPECT_EXIT(
      {
        ::setenv("GEX_CONDUIT", "emu", 1);
        ::setenv("GASNET_NO_SUCH_THING", "1", 1);
        ::setenv("GEXX_OTHER", "1", 1);
        warn_unknown();
        std::exit(0);
      },
      ExitedWithCode(0), "^$");
}

TEST_F(EnvironmentDeath, UnknownNamesAreWarnedAboutOnce) {
  EXPECT_EXIT(
      {
        ::setenv("GEX_ONE", "1", 1);
        warn_unknown();
        ::setenv("GEX_TWO", "1", 1);
        warn_unknown();
        std::exit(0);
      },
      ExitedWithCode(0), "^gex: warning: GEX_ONE [^\n]*\n$");
}

TEST_F(EnvironmentDeath, OnlyRankZeroWarnsAboutUnknownNames) {
  const auto warn_as = [](std::uint32_t rank) {
    ::setenv("GEX_ONE", "1", 1);
    set_message_rank(rank);
    warn_unknown();
    std::exit(0);
  };
  EXPECT_EXIT(warn_as(0), ExitedWithCode(0), "^gex: rank 0: warning: GEX_ONE ");
  EXPECT_EXIT(warn_as(1), ExitedWithCode(0), "^$");
}

TEST_F(EnvironmentDeath, CheckingAllValuesNamesTheOneThatIsMalformed) {
  EXPECT_EXIT(
      {
        set(Variable::max_segsize, "0.5/H");
        set(Variable::conduit, "any text");
        set(Variable::freeze_on_error, "");
        check_values();
        std::exit(0);
      },
      ExitedWithCode(0), "^$");
  const auto refuses = [](Variable variable, const char* value, const char* line) {
    EXPECT_EXIT(
        {
          set(variable, value);
          check_values();
          std::exit(0);
        },
        ExitedWithCode(1), line);
  };
  refuses(Variable::quiet, "maybe", "^gex: GASNET_QUIET='maybe' is not understood: expected 1, 0");
  refuses(Variable::emu_seed, "x1", "^gex: GEX_EMU_SEED='x1' is not understood: expected a whole");
  refuses(Variable::exit_timeout, "-1",
          "^gex: GEX_EXIT_TIMEOUT='-1' is not understood: expected a");
  refuses(Variable::max_segsize, "1.5", "^gex: GASNET_MAX_SEGSIZE='1.5' is not understood");
}

TEST_F(EnvironmentDeath, VerboseenvShowsEachVariableOnceWithItsOrigin) {
  EXPECT_EXIT(
      {
        set(Variable::verboseenv, "1");
        set(Variable::conduit, "emu");
        text(Variable::conduit);
        text(Variable::conduit);
        env::memory(Variable::max_segsize);
        integer(Variable::pshm_nodes);
        display("CLIENT_VARIABLE", "7", true);
        ::setenv("GASNET_MAXIMIZE_RLIMIT_CPU", "no", 1);
        for (const char* const limit : {"RLIMIT_CPU", "RLIMIT_AS", "RLIMIT_CPU"}) {
          boolean(Variable::maximize, limit);
        }
        std::exit(0);
      },
      ExitedWithCode(0),
      "^gex: GEX_CONDUIT = emu\n"
      "gex: GASNET_MAX_SEGSIZE = 0.85/H \\(default\\)\n"
      "gex: GASNET_PSHM_NODES = \\(unset\\) \\(default\\)\n"
      "gex: CLIENT_VARIABLE = 7 \\(default\\)\n"
      "gex: GASNET_MAXIMIZE_RLIMIT_CPU = no\n"
      "gex: GASNET_MAXIMIZE_RLIMIT_AS = 1 \\(default\\)\n$");
}

TEST_F(EnvironmentDeath, VerboseenvIsSilentElsewhereThanOnRankZero) {
  EXPECT_EXIT(
      {
        set(Variable::verboseenv, "1");
        set_message_rank(2);
        text(Variable::conduit);
        std::exit(verbose() ? 1 : 0);
      },
      ExitedWithCode(0), "^$");
}

TEST_F(Environment, WithoutVerboseenvNothingIsReported) {
  CaptureStderr();
  text(Variable::conduit);
  display("CLIENT_VARIABLE", "7", false);
  EXPECT_EQ(GetCapturedStderr(), "");
}

}  // namespace
}  // namespace gex::env
