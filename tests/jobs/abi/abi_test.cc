// Every way a client can be compiled and linked, and those that must be refused.

#include <gex/abi.h>
#include <gtest/gtest.h>

#include <fstream>
#include <ios>
#include <string>
#include <vector>

#include "../launch/command.h"

namespace {

using launch_test::Command;
using launch_test::lines_with;
using launch_test::Outcome;

const std::string folder = ABI_TEST_FOLDER;
const std::string gexrun = ABI_TEST_GEXRUN;

struct Variant {
  const char* program;
  const char* library;  ///< that the program opens, or null
};

std::vector<std::string> words(const Variant& variant) {
  std::vector<std::string> all = {folder + "/" + variant.program};
  if (variant.library != nullptr) all.push_back(folder + "/lib" + variant.library + ".so");
  return all;
}

class Client : public testing::TestWithParam<Variant> {
 protected:
  Command job(int ranks) const {
    std::vector<std::string> all = words(GetParam());
    all.insert(all.begin(), {gexrun, "-n", std::to_string(ranks)});
    return Command(all);
  }
};

void expect_works(const Outcome& outcome, int ranks) {
  EXPECT_FALSE(outcome.hung);
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.left_behind, std::vector<std::string>());
  EXPECT_EQ(lines_with(outcome.output, "abi ok "), ranks) << outcome.output;
}

TEST_P(Client, TransfersAndSendsMessages) {
  expect_works(job(3).variable("GEX_CONDUIT", "smp").run(), 3);
  expect_works(
      job(2).variable("GEX_CONDUIT", "emu").variable("GASNET_SUPERNODE_MAXSIZE", "1").run(), 2);
  expect_works(job(1).run(), 1);
  expect_works(job(2).variable("GEX_CHECK", "1").run(), 2);
}

TEST_P(Client, ForksItself) {
  expect_works(Command(words(GetParam())).variable("GASNET_PSHM_NODES", "3").run(), 3);
}

// Scripts read these from programs.
TEST_P(Client, CarriesItsIdentification) {
  const std::string file =
      folder + "/" +
      (GetParam().library == nullptr ? GetParam().program
                                     : std::string("lib") + GetParam().library + ".so");
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  ASSERT_TRUE(stream) << file;
  std::string bytes(static_cast<std::size_t>(stream.tellg()), '\0');
  stream.seekg(0);
  ASSERT_TRUE(stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) << file;
  EXPECT_NE(bytes.find("$GASNetConduitName: SMP $"), bytes.npos) << file;
  const bool seq = std::string(GetParam().program).find("seq") != std::string::npos;
  EXPECT_NE(
      bytes.find(seq ? "$GASNetThreadModel: GASNET_SEQ $" : "$GASNetThreadModel: GASNET_PAR $"),
      bytes.npos)
      << file;
}

INSTANTIATE_TEST_SUITE_P(
    Linked, Client,
    testing::Values(Variant{"abi_c11", nullptr}, Variant{"abi_c11_seq", nullptr},
                    Variant{"abi_c17_optimised", nullptr}, Variant{"abi_cxx11", nullptr},
                    Variant{"abi_cxx20", nullptr}, Variant{"abi_no_pie", nullptr},
                    Variant{"abi_no_pie_optimised", nullptr}, Variant{"abi_static", nullptr},
                    Variant{"abi_static_no_pie", nullptr}, Variant{"abi_static_cxx11", nullptr},
                    Variant{"abi_dlopen", "abi_shared"},
                    Variant{"abi_dlopen", "abi_shared_static"}),
    [](const testing::TestParamInfo<Variant>& info) {
      return info.param.library != nullptr ? std::string("opened_") + info.param.library
                                           : std::string(info.param.program);
    });

TEST(SharedClient, IsLinkedLikeAnyLibrary) {
  expect_works(Command({gexrun, "-n", "3", folder + "/abi_main_of_shared"}).run(), 3);
  expect_works(Command({gexrun, "-n", "2", folder + "/abi_main_of_shared_no_pie"}).run(), 2);
}

// The label smp allows a client to assume, as it is compiled, that all ranks share memory.
TEST(LabelSmp, IsWarnedOfOnceInAJobWhoseRanksDoNotShareMemory) {
  for (const char* program : {"abi_labelled_smp", "abi_labelled_smp_static"}) {
    Command apart({gexrun, "-n", "4", folder + "/" + program});
    const Outcome outcome =
        apart.variable("GEX_CONDUIT", "emu").variable("GASNET_SUPERNODE_MAXSIZE", "1").run();
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    EXPECT_EQ(lines_with(outcome.output, "abi ok "), 4) << outcome.output;
    EXPECT_EQ(lines_with(outcome.error, "was compiled for the network smp (GASNET_CONDUIT_SMP)"), 1)
        << outcome.error;
    EXPECT_EQ(lines_with(outcome.error, ""), 1) << outcome.error;
    Command halves({gexrun, "-n", "4", folder + "/" + program});
    EXPECT_EQ(lines_with(halves.variable("GEX_CONDUIT", "emu")
                             .variable("GASNET_SUPERNODE_MAXSIZE", "2")
                             .run()
                             .error,
                         "was compiled for the network smp"),
              1);
  }
}

TEST(LabelSmp, IsRightWhereAllRanksShareMemory) {
  const std::string program = folder + "/abi_labelled_smp";
  expect_works(Command({gexrun, "-n", "3", program}).run(), 3);
  expect_works(Command({gexrun, "-n", "3", program}).variable("GEX_CONDUIT", "emu").run(), 3);
}

TEST(LabelSmp, IsNotAssumedOfAClientWithoutALabel) {
  expect_works(Command({gexrun, "-n", "2", folder + "/abi_c11"})
                   .variable("GEX_CONDUIT", "emu")
                   .variable("GASNET_SUPERNODE_MAXSIZE", "1")
                   .run(),
               2);
}

/// Refused before anything ran, in one line that states why.
void expect_refused(std::vector<std::string> command, const std::string& cause) {
  const Outcome outcome = Command(std::move(command)).run();
  EXPECT_FALSE(outcome.hung);
  EXPECT_EQ(outcome.left_behind, std::vector<std::string>());
  EXPECT_EQ(outcome.status, 1) << outcome.error;
  EXPECT_EQ(outcome.output, "");
  EXPECT_EQ(lines_with(outcome.error, cause), 1) << outcome.error << "wanted: " << cause;
  EXPECT_EQ(lines_with(outcome.error, ""), 1) << outcome.error;
}

TEST(Refused, AClientOfAnotherAbi) {
  for (const char* program : {"abi_of_another_abi", "abi_of_another_abi_static"}) {
    const std::string path = folder + "/" + program;
    const std::string compiled =
        "was compiled for libgex ABI " + std::to_string(GEX_ABI_VERSION_ + 1);
    expect_refused({path}, compiled + ", this library has ABI " + std::to_string(GEX_ABI_VERSION_) +
                               ": compile it again");
    expect_refused({gexrun, "-n", "4", path}, compiled);
  }
}

TEST(Refused, ThreadingModesMixedInOneProgram) {
  const Outcome outcome = Command({folder + "/abi_of_two_modes"}).run();
  const std::string tail = " in two object files of the program; compile all with one mode";
  // Which comes first is the linker's choice.
  EXPECT_EQ(lines_with(outcome.error, "modes are mixed: GASNET_PAR and GASNET_SEQ" + tail) +
                lines_with(outcome.error, "modes are mixed: GASNET_SEQ and GASNET_PAR" + tail),
            1)
      << outcome.error;
  expect_refused({gexrun, "-n", "4", folder + "/abi_of_two_modes"}, "threading modes are mixed");
}

TEST(Refused, ThreadingModesMixedBetweenAProgramAndItsLibrary) {
  expect_refused({folder + "/abi_main_of_shared_seq"},
                 "threading modes are mixed: GASNET_SEQ in the program, GASNET_PAR in " + folder +
                     "/libabi_shared.so; compile both with one mode");
}

}  // namespace
