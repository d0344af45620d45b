// The holder of the place that a launcher's variables name: the process that has joined, not a
// program that it starts.

#include "job/place.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

namespace gex::job {
namespace {

class Place : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* const name : {"PMIX_NAMESPACE", "PMIX_RANK", "PMI_FD", "GEX_PLACE"})
      unsetenv(name);
  }
  void TearDown() override { SetUp(); }
};

/// The result of `is_place_of_ancestor` in a child of this process, after `before`.
bool child_finds_it_taken(const std::function<void()>& before = [] {}) {
  const pid_t child = fork();
  if (child == 0) {
    before();
    _exit(is_place_of_ancestor() ? 1 : 0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WEXITSTATUS(status) == 1;
}

TEST_F(Place, IsNobodysBeforeAProcessJoins) {
  setenv("PMIX_NAMESPACE", "job", 1);
  EXPECT_FALSE(is_place_of_ancestor());
  EXPECT_FALSE(child_finds_it_taken());
  setenv("GEX_PLACE", "nonsense", 1);
  EXPECT_FALSE(is_place_of_ancestor());
}

TEST_F(Place, IsTheProcessesThatJoinedWhateverItExecutes) {
  setenv("PMIX_NAMESPACE", "job", 1);
  mark_place();
  EXPECT_FALSE(is_place_of_ancestor());
}

TEST_F(Place, IsNotThatOfAProgramItStarts) {
  setenv("PMIX_NAMESPACE", "job", 1);
  mark_place();
  EXPECT_TRUE(child_finds_it_taken());
  // Neither is a grandchild, whose parent has joined a job of its own.
  EXPECT_TRUE(child_finds_it_taken([] {
    mark_place();
    const pid_t program = fork();
    if (program == 0) return;
    int status = 0;
    waitpid(program, &status, 0);
    _exit(WEXITSTATUS(status));
  }));
}

TEST_F(Place, OfAnotherLauncherIsFree) {
  setenv("PMIX_NAMESPACE", "job", 1);
  setenv("PMIX_RANK", "0", 1);
  mark_place();
  EXPECT_FALSE(child_finds_it_taken([] { setenv("PMIX_NAMESPACE", "job of the rank", 1); }));
  EXPECT_FALSE(child_finds_it_taken([] { setenv("PMIX_RANK", "1", 1); }));
}

TEST_F(Place, OfAnotherConnectionIsFreeThoughTheNumbersAreTheSame) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  setenv("PMI_FD", std::to_string(ends[0]).c_str(), 1);
  mark_place();
  EXPECT_TRUE(child_finds_it_taken());
  EXPECT_TRUE(child_finds_it_taken([&] { close(ends[0]); }));
  EXPECT_FALSE(child_finds_it_taken([&] { dup2(ends[1], ends[0]); }));
  close(ends[0]);
  close(ends[1]);
}

TEST_F(Place, ALongWaitIsReportedByOneProcess) {
  // The two children belong to one job and have the same parent.
  setenv("PMIX_NAMESPACE", "job that waits", 1);
  int answers[2];
  ASSERT_EQ(pipe(answers), 0);
  const auto ask = [&] {
    const pid_t child = fork();
    if (child == 0) {
      const char claimed = claim_long_wait() ? 'y' : 'n';
      if (write(answers[1], &claimed, 1) != 1) _exit(1);
      pause();
    }
    char answer = 0;
    EXPECT_EQ(read(answers[0], &answer, 1), 1);
    return std::pair(child, answer == 'y');
  };
  const auto [first, first_claimed] = ask();
  const auto [second, second_claimed] = ask();
  EXPECT_TRUE(first_claimed);
  EXPECT_FALSE(second_claimed);
  for (const pid_t child : {first, second}) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

}  // namespace
}  // namespace gex::job
