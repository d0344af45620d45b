#include "job/job_page.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <vector>

namespace gex::job {
namespace {

TEST(JobPage, TheFirstCodeWins) {
  JobPage page;
  EXPECT_FALSE(page.ending());
  EXPECT_EQ(page.claim({5, 3}).code, 5);
  EXPECT_TRUE(page.ending());
  EXPECT_EQ(page.claim({7, 1}).code, 5);
  EXPECT_EQ(page.end().code, 5);
  EXPECT_EQ(page.end().rank, 3u);
}

TEST(JobPage, ZeroIsACodeToo) {
  JobPage page;
  EXPECT_EQ(page.claim({0, 0}).code, 0);
  EXPECT_TRUE(page.ending());
  EXPECT_EQ(page.claim({1, 1}).code, 0);
}

TEST(JobPage, CodesAreBytesAsExitStatusesAre) {
  JobPage page;
  EXPECT_EQ(page.claim({-1, Ending::by_guardian}).code, 255);
  EXPECT_EQ(page.end().code, 255);
  EXPECT_EQ(page.end().rank, Ending::by_guardian);
}

TEST(JobPage, ACodeThatIsNotZeroIsNoSuccess) {
  JobPage page;
  EXPECT_EQ(page.claim({256, 0}).code, 1);
  EXPECT_EQ(page.end().code, 1);
}

TEST(JobPage, DistinguishesADeathFromAnEnd) {
  JobPage page;
  EXPECT_TRUE(page.claim({1, 2, /*death=*/true}).death);
  EXPECT_TRUE(page.claim({1, 3}).death);
  EXPECT_EQ(page.end().rank, 2u);
  EXPECT_EQ(page.end().code, 1);
  JobPage other;
  EXPECT_FALSE(other.claim({1, 3}).death);
  EXPECT_FALSE(other.claim({1, 2, /*death=*/true}).death);
}

TEST(JobPage, ALookIsNeitherAnAbsenceNorAnEnd) {
  JobPage page;
  page.show_look(0xffff);
  EXPECT_EQ(JobPage::look_in(page.word().load()), 0xffffU);
  EXPECT_FALSE(JobPage::is_about_an_end(page.word().load()));
  page.note_absence();
  EXPECT_TRUE(JobPage::is_about_an_end(page.word().load()));
  EXPECT_FALSE(page.ending());
  page.show_look(0);
  EXPECT_EQ(JobPage::look_in(page.word().load()), 0U);
  EXPECT_TRUE(JobPage::is_about_an_end(page.word().load())) << "it has forgotten the absence";
  page.claim({.code = 3, .rank = 1});
  page.show_look(7);
  EXPECT_EQ(page.end().code, 3);
  EXPECT_EQ(page.end().rank, 1U);
}

TEST(JobPage, AnAbsenceIsNoEndAndHidesNone) {
  JobPage page;
  page.note_absence();
  EXPECT_NE(page.word(), 0u);
  EXPECT_FALSE(page.ending());
  EXPECT_EQ(page.claim({5, 3}).code, 5);
  EXPECT_TRUE(page.ending());
  page.note_absence();
  EXPECT_EQ(page.claim({7, 1}).code, 5);
  EXPECT_EQ(page.end().rank, 3u);
}

TEST(JobPage, IsOneForAllWhoMapIt) {
  JobPage made;
  os::FileDescriptor file;
  ASSERT_EQ(made.create(file, 2), 0);
  JobPage mapped;
  ASSERT_EQ(mapped.map(file.get(), 2), 0);
  EXPECT_FALSE(mapped.ending());
  made.claim({9, 2});
  EXPECT_TRUE(mapped.ending());
  EXPECT_EQ(mapped.claim({1, 1}).code, 9);
}

TEST(JobPage, TheFirstErrorOfTheJobIsReported) {
  JobPage made;
  os::FileDescriptor file;
  ASSERT_EQ(made.create(file, 2), 0);
  JobPage mapped;
  ASSERT_EQ(mapped.map(file.get(), 2), 0);
  EXPECT_TRUE(mapped.claim_error());
  EXPECT_FALSE(mapped.claim_error());
  EXPECT_FALSE(made.claim_error());
  EXPECT_FALSE(made.ending()) << "an error ends the job only once it has been reported";
}

TEST(JobPage, HasTheLastCallOfEachRank) {
  JobPage made;
  EXPECT_EQ(made.last_call(0), nullptr) << "no other process would read it";
  os::FileDescriptor file;
  ASSERT_EQ(made.create(file, 2), 0);
  JobPage mapped;
  ASSERT_EQ(mapped.map(file.get(), 2), 0);
  mapped.last_call(1)->begin(1, "gex_a", 1);
  EXPECT_EQ(made.last_call(0)->describe(), "");
  EXPECT_EQ(made.last_call(1)->describe(), " while in gex_a");
  EXPECT_EQ(made.last_call(2), nullptr);
}

TEST(JobPage, IsNotMappedWithMoreThanItHas) {
  JobPage made;
  os::FileDescriptor file;
  ASSERT_EQ(made.create(file, 2), 0);
  JobPage mapped;
  EXPECT_EQ(mapped.map(file.get(), 3), EPROTO);
  EXPECT_EQ(mapped.last_call(0), nullptr);
  EXPECT_EQ(mapped.map(file.get(), 1), 0);
}

TEST(JobPage, CannotBeShortenedUnderItsUsers) {
  JobPage page;
  os::FileDescriptor file;
  ASSERT_EQ(page.create(file, 2), 0);
  EXPECT_NE(ftruncate(file.get(), 0), 0);
  EXPECT_FALSE(page.ending());
}

TEST(JobPage, OneOfManyThreadsWins) {
  for (int round = 0; round < 100; ++round) {
    JobPage page;
    std::vector<int> won(8);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&page, &won, i] {
        won[i] = page.claim({10 + i, static_cast<std::uint32_t>(i)}).code;
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const int code : won) EXPECT_EQ(code, page.end().code);
    EXPECT_EQ(page.end().rank + 10, static_cast<std::uint32_t>(page.end().code));
  }
}

}  // namespace
}  // namespace gex::job
