#include "own_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "command.h"

namespace launch_test {
namespace {

namespace fs = std::filesystem;

/// Without links, and each once.
std::vector<fs::path> resolved(const std::vector<fs::path>& paths) {
  std::vector<fs::path> all;
  for (const fs::path& path : paths) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (!error && std::find(all.begin(), all.end(), real) == all.end()) all.push_back(real);
  }
  return all;
}

const std::vector<fs::path> folders = resolved({"/dev/shm", "/tmp", "/var/tmp"});
const std::vector<fs::path> trees = resolved({LAUNCH_TEST_SOURCE_TREE, LAUNCH_TEST_BINARY_TREE});

/// Why there are no folders of the test's own.
std::string why = "not asked for";

bool lies_in(const fs::path& path, const fs::path& folder) {
  return !path.empty() && *path.lexically_relative(folder).begin() != "..";
}

bool write_file(const char* path, const std::string& text) {
  std::ofstream file(path);
  return static_cast<bool>(file << text << std::flush);
}

/// Another user than root first needs a user namespace, in which it stays who it is.
bool enter_namespaces() {
  if (unshare(CLONE_NEWNS | CLONE_NEWIPC) == 0) return true;
  const std::string user = std::to_string(geteuid());
  const std::string group = std::to_string(getegid());
  return unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC) == 0 &&
         write_file("/proc/self/setgroups", "deny") &&
         write_file("/proc/self/uid_map", user + " " + user + " 1") &&
         write_file("/proc/self/gid_map", group + " " + group + " 1");
}

/// Covers a folder with an empty one, in which the trees that lie in it are to be found as before.
bool cover(const fs::path& folder) {
  struct Tree {
    fs::path path;
    int descriptor;
  };
  std::vector<Tree> kept;
  for (const fs::path& tree : trees) {
    if (lies_in(tree, folder)) kept.push_back({tree, open(tree.c_str(), O_PATH | O_CLOEXEC)});
  }
  bool done = mount("tmpfs", folder.c_str(), "tmpfs", 0, "mode=1777") == 0;
  for (const Tree& tree : kept) {
    const std::string before = "/proc/self/fd/" + std::to_string(tree.descriptor);
    std::error_code error;
    if (done) fs::create_directories(tree.path, error);
    done = done && !error &&
           mount(before.c_str(), tree.path.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0;
    const int why_not = errno;
    close(tree.descriptor);
    errno = why_not;
  }
  return done;
}

bool is_a_tree_or_holds_one(const fs::path& path) {
  for (const fs::path& tree : trees) {
    if (lies_in(tree, path)) return true;
  }
  return false;
}

/// ThreadSanitizer's own, of a process that was killed while it started.
bool is_a_sanitizers(const fs::path& path) {
  return path.filename().string().starts_with("tsan.rodata.");
}

void add_files_below(const fs::path& folder, std::vector<std::string>& found) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    if (is_a_sanitizers(path)) continue;
    if (!is_a_tree_or_holds_one(path)) {
      found.push_back(path);
    } else if (std::find(trees.begin(), trees.end(), path) == trees.end()) {
      add_files_below(path, found);
    }
  }
}

std::vector<std::string> look() {
  std::vector<std::string> found;
  for (const fs::path& folder : folders) add_files_below(folder, found);
  for (const char* const kind : {"shm", "sem", "msg"}) {
    std::ifstream list(std::string("/proc/sysvipc/") + kind);
    std::string line;
    std::getline(list, line);
    while (std::getline(list, line)) found.push_back(std::string("System V ") + kind + ":" + line);
  }
  return found;
}

/// 0 or errno. What fails may have gone half the way.
int enter() {
  const bool done = enter_namespaces() &&
                    mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                    std::all_of(folders.begin(), folders.end(), cover);
  return done ? 0 : errno != 0 ? errno : EIO;
}

/// As above, but in a process that ends with it.
int try_to_enter() {
  const pid_t child = fork();
  if (child == 0) _exit(enter() & 0xff);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0) return errno;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

class OwnFolders : public testing::Environment {
 public:
  void SetUp() override {
    int error = try_to_enter();
    if (error == 0) error = enter();
    if (error != 0) {
      why = std::strerror(error);
      return;
    }
    // TMPDIR is the only folder of a job that is not known beforehand.
    unsetenv("TMPDIR");
    why.clear();
    look_for_files = look;
  }
};
[[maybe_unused]] const auto* const own_folders = testing::AddGlobalTestEnvironment(new OwnFolders);

using Names = std::vector<std::string>;

TEST(OwnFiles, WhatAJobLeavesIsReported) {
  if (!why.empty()) GTEST_SKIP() << "this machine lets us have no folders of our own: " << why;
  EXPECT_EQ(files_left_behind(), Names());
  for (const std::string path : {"/dev/shm/gex-left", "/tmp/gex-left", "/var/tmp/gex-left"}) {
    if (!fs::is_directory(fs::path(path).parent_path())) continue;
    const Outcome outcome = Command({"sh", "-c", "echo left >" + path}).run();
    EXPECT_EQ(outcome.left_behind, Names{path}) << outcome.error;
    fs::remove(path);
  }
  const int segment = shmget(IPC_PRIVATE, 4096, 0600);
  ASSERT_GE(segment, 0) << std::strerror(errno);
  EXPECT_EQ(files_left_behind().size(), 1u);
  shmctl(segment, IPC_RMID, nullptr);
  EXPECT_EQ(files_left_behind(), Names());
}

}  // namespace
}  // namespace launch_test
