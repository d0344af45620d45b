// docs/environment.md has what the environment table has, and the check of that can fail.

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/env.h"
#include "temporary_folder.h"

namespace {

const std::filesystem::path project = GEX_SOURCE_TREE;

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int generate(const std::string& arguments) {
  const std::string command = (project / "tools/generate-env-docs").string() + " " + arguments;
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(EnvironmentDocument, IsCurrent) {
  EXPECT_EQ(generate("--check"), 0) << "run tools/generate-env-docs";
}

/// The text with one blank for each line break and what a wrapped item's line begins with.
std::string unwrapped(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n  ", at)) != std::string::npos;)
    text.replace(at, 3, " ");
  return text;
}

TEST(EnvironmentDocument, HasEveryRowOfTheCompiledTable) {
  const std::string document = unwrapped(read(project / "docs/environment.md"));
  for (const gex::env::Description& row : gex::env::table()) {
    const std::string shown =
        *row.default_text ? ", `" + std::string(row.default_text) + "`" : std::string();
    const std::string item = std::string("\n- `") + row.name + "` (" + type_name(row.type) + shown +
                             ") " + row.help + "\n";
    EXPECT_NE(document.find(item), std::string::npos) << item;
  }
}

TEST(EnvironmentDocument, HasTheCategoriesInOrder) {
  const std::string document = read(project / "docs/environment.md");
  std::size_t place = 0;
  for (const std::string_view category : gex::env::categories) {
    std::string section(category);
    section.front() = static_cast<char>(std::toupper(section.front()));
    const std::size_t found = document.find("\n## " + section + "\n");
    ASSERT_NE(found, std::string::npos) << section;
    EXPECT_GT(found, place) << section;
    place = found;
  }
}

TEST(EnvironmentDocument, TheCheckNoticesAChange) {
  const TemporaryFolder folder;
  folder.write("environment.md", read(project / "docs/environment.md") + "stale\n");
  EXPECT_EQ(generate("--check --document " + folder.path() + "/environment.md >" + folder.path() +
                     "/difference 2>&1"),
            1);
  EXPECT_NE(read(folder.path() + "/difference").find("-stale"), std::string::npos);
  EXPECT_EQ(generate("--check --document " + folder.path() + "/missing.md >/dev/null 2>&1"), 1);
}

TEST(EnvironmentDocument, ATableThatIsNotUnderstoodIsRefused) {
  const TemporaryFolder folder;
  folder.write("table.def", "GEX_ENV(a, \"GEX_A\", colour, \"\", \"network\", \"h\")\n");
  EXPECT_EQ(generate("--table " + folder.path() + "/table.def --document " + folder.path() +
                     "/out.md 2>/dev/null"),
            1);
  folder.write("table.def", "GEX_ENV(a, \"GEX_A\", text, \"\", \"no category\", \"h\")\n");
  EXPECT_EQ(generate("--table " + folder.path() + "/table.def --document " + folder.path() +
                     "/out.md 2>/dev/null"),
            1);
  folder.write("table.def", "GEX_ENV(a, \"GEX_A\", text, \"\", \"network\" \"h\")\n");
  EXPECT_EQ(generate("--table " + folder.path() + "/table.def --document " + folder.path() +
                     "/out.md 2>/dev/null"),
            1);
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/out.md"));
}

}  // namespace
