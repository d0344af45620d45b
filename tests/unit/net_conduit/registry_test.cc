// How a conduit is found by name, and what is printed when it is not.

#include "net/registry.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace gex::net {
namespace {

namespace fs = std::filesystem;

/// A folder with plug-ins, named by GEX_CONDUIT_PATH after one that does not exist.
class Registry : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "gex-registry-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    setenv("GEX_CONDUIT_PATH", ("/nonexistent:" + folder.string()).c_str(), 1);
  }
  void TearDown() override {
    unsetenv("GEX_CONDUIT_PATH");
    fs::remove_all(folder);
  }
  void add(const char* name, const fs::path& file) {
    fs::create_symlink(file, folder / ("libgex-" + std::string(name) + ".so"));
  }
  fs::path folder;
};
using RegistryDeathTest = Registry;

TEST_F(Registry, BuiltInConduitsAreFoundByNameAndSmpIsNoConduit) {
  ASSERT_FALSE(built_in().empty());
  for (const Conduit* conduit : built_in()) EXPECT_EQ(find(conduit->name), conduit);
  EXPECT_STREQ(find("emu")->name, "emu");
  EXPECT_EQ(find("smp"), nullptr);
}

TEST_F(Registry, APlugInIsFoundByNameAndByFile) {
  add("example", GEX_EXAMPLE_CONDUIT);
  const Conduit* by_name = find("example");
  ASSERT_NE(by_name, nullptr);
  EXPECT_STREQ(by_name->name, "example");
  EXPECT_EQ(by_name->version, interface_version);
  EXPECT_EQ(find(GEX_EXAMPLE_CONDUIT), by_name);
}

TEST_F(Registry, TheFolderThatGexrunNamesComesLast) {
  const fs::path launchers = folder / "launchers";
  fs::create_directory(launchers);
  std::ofstream(launchers / "libgex-example.so") << "hidden by a folder that is searched before";
  fs::create_symlink(GEX_EXAMPLE_CONDUIT, launchers / "libgex-other.so");
  add("example", GEX_EXAMPLE_CONDUIT);
  setenv("GEX_PLUGIN_FOLDER", launchers.c_str(), 1);
  const Conduit* by_user = find("example");
  const Conduit* by_launcher = find("other");
  unsetenv("GEX_PLUGIN_FOLDER");
  EXPECT_STREQ(by_user->name, "example");
  EXPECT_EQ(by_launcher, by_user);
}

TEST_F(Registry, ABuiltInConduitIsPreferredToAPlugInOfItsName) {
  add("emu", GEX_EXAMPLE_CONDUIT);
  EXPECT_EQ(find("emu"), built_in()[0]);
}

TEST_F(Registry, AvailableListsWhatFindFinds) {
  add("zeta", GEX_EXAMPLE_CONDUIT);
  add("example", GEX_EXAMPLE_CONDUIT);
  std::ofstream(folder / "libgex-.so") << "no name";
  std::ofstream(folder / "libother-one.so") << "no conduit";
  std::ofstream(folder / "libgex-upcxx.so") << "a client of this library";
  const std::string list = available();
  EXPECT_EQ(list.find("smp, emu"), 0u) << list;
  EXPECT_NE(list.find(", example"), std::string::npos) << list;
  EXPECT_NE(list.find(", zeta"), std::string::npos) << list;
  EXPECT_EQ(list.find("other"), std::string::npos) << list;
  EXPECT_EQ(list.find("upcxx"), std::string::npos) << list;
  EXPECT_EQ(list.find(", ,"), std::string::npos) << list;
}

TEST_F(RegistryDeathTest, AnUnknownNameIsRefusedWithTheListOfThoseThatExist) {
  add("example", GEX_EXAMPLE_CONDUIT);
  EXPECT_EXIT(find("nosuch"), testing::ExitedWithCode(1),
              "conduit 'nosuch' not found; available: smp, emu.*example");
  EXPECT_EXIT(find("nosuch"), testing::ExitedWithCode(1),
              "looked for libgex-nosuch.so in: /nonexistent, " + folder.string() +
                  ", .*; GEX_CONDUIT_PATH names more folders");
  EXPECT_EXIT(find(""), testing::ExitedWithCode(1), "conduit '' not found; available: smp, emu");
  EXPECT_EXIT(find("./nosuch.so"), testing::ExitedWithCode(1), "no conduit plug-in ./nosuch.so");
}

TEST_F(RegistryDeathTest, AFolderIsLookedInOnce) {
  setenv("GEX_CONDUIT_PATH", (folder.string() + "/:" + folder.string()).c_str(), 1);
  setenv("GEX_PLUGIN_FOLDER", folder.c_str(), 1);
  // The library's own two folders are beside it.
  EXPECT_EXIT(find("nosuch"), testing::ExitedWithCode(1),
              "looked for libgex-nosuch.so in: " + folder.string() + ", [^,]*, [^,]*; GEX_");
  unsetenv("GEX_PLUGIN_FOLDER");
}

TEST_F(RegistryDeathTest, AFileThatIsNoLibraryIsRefusedWithTheLinkersReason) {
  std::ofstream(folder / "libgex-broken.so") << "this is no library";
  EXPECT_EXIT(find("broken"), testing::ExitedWithCode(1),
              "conduit plug-in cannot be opened: .*libgex-broken.so");
}

TEST_F(RegistryDeathTest, ALibraryThatIsNoConduitIsRefused) {
  // The mathematics library: surely there, surely no conduit.
  Dl_info info;
  double (*function)(double) = std::erf;
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(function), &info), 0);
  add("math", fs::canonical(info.dli_fname));
  EXPECT_EXIT(find("math"), testing::ExitedWithCode(1),
              "libgex-math.so is not a conduit plug-in of interface version " +
                  std::to_string(interface_version) + ": it does not define gex_conduit_v4");
}

TEST_F(RegistryDeathTest, AnotherInterfaceVersionIsRefused) {
  add("future", GEX_FUTURE_CONDUIT);
  EXPECT_EXIT(find("future"), testing::ExitedWithCode(1),
              "libgex-future.so is a conduit of interface version " +
                  std::to_string(interface_version + 1) + "; this libgex has version " +
                  std::to_string(interface_version));
}

TEST_F(RegistryDeathTest, AVersion3ConduitIsRefusedInOneLine) {
  add("former", GEX_VERSION3_CONDUIT);
  EXPECT_EXIT(find("former"), testing::ExitedWithCode(1),
              "^gex: [^\n]*libgex-former.so is a conduit of interface version 3; this libgex has "
              "version 4: compile it with gex/plugin/conduit.h of this libgex and the entry point "
              "gex_conduit_v4\n$");
}

// As in entry_symbol, so that a plug-in of another version is not even asked for its table.
TEST_F(Registry, TheEntryPointIsNamedForTheVersion) {
  EXPECT_EQ(entry_symbol, "gex_conduit_v" + std::to_string(interface_version));
}

TEST_F(RegistryDeathTest, AnIncompleteConduitIsRefused) {
  add("hollow", GEX_HOLLOW_CONDUIT);
  EXPECT_EXIT(find("hollow"), testing::ExitedWithCode(1),
              "libgex-hollow.so: incomplete conduit: a required function of its table is null");
}

TEST_F(RegistryDeathTest, PutWithoutGetIsIncomplete) {
  add("half", GEX_HALF_CONDUIT);
  EXPECT_EXIT(find("half"), testing::ExitedWithCode(1), "libgex-half.so: incomplete conduit");
}

TEST_F(Registry, AShorterTableLacksWhatIsNotInIt) {
  add("short", GEX_SHORT_CONDUIT);
  const Conduit* conduit = find("short");
  ASSERT_NE(conduit, nullptr);
  EXPECT_STREQ(conduit->name, "foreign");
  EXPECT_NE(conduit->poll, nullptr);
  EXPECT_EQ(conduit->register_segment, nullptr);
  EXPECT_EQ(conduit->put, nullptr);
  EXPECT_EQ(conduit->describe, nullptr);
  EXPECT_EQ(conduit->flush, nullptr);
  EXPECT_EQ(conduit->put_pieces, nullptr);
  EXPECT_EQ(conduit->enter_lane, nullptr);
}

}  // namespace
}  // namespace gex::net
