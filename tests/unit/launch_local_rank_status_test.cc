// The status that a rank shows, and its guardian's reading of it: also of memory that is no status.

#include "job/rank_status.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/clock.h"
#include "base/os_memory.h"
#include "launch/local/rank_status_view.h"

namespace gex::launch {
namespace {

/// This process's, shared once.
const os::FileDescriptor& shared() {
  static const os::FileDescriptor file(job::RankStatus::own().share());
  return file;
}

RankReport read(const os::FileDescriptor& file, const job::LastCall* calls = nullptr) {
  RankReport report;
  RankStatusView(file).read(report, calls);
  return report;
}

TEST(RankStatus, KeepsWhatWasWrittenBeforeItIsShared) {
  job::TeamStatus& team = job::RankStatus::own().claim_team();
  team.id.store(77);
  team.rank.store(1);
  team.size.store(2);
  team.barriers.store(5);
  const RankReport report = read(shared());
  ASSERT_TRUE(report.shown);
  ASSERT_EQ(report.teams.size(), 1U);
  EXPECT_EQ(report.teams[0].id, 77U);
  EXPECT_EQ(report.teams[0].barriers, 5U);
  job::RankStatus::own().release_team(team);
  EXPECT_TRUE(read(shared()).teams.empty());
}

TEST(RankStatus, ShowsThreadsAndTheirWaits) {
  auto* const thread = new (job::RankStatus::own().claim_thread()) job::ShownThread{};
  thread->status.number.store(1);
  thread->status.kernel_thread.store(4242);
  RankReport report = read(shared());
  ASSERT_EQ(report.threads.size(), 1U);
  EXPECT_EQ(report.threads[0].kernel_thread, 4242);
  EXPECT_FALSE(report.threads[0].wait);

  thread->status.wait.kind.store(job::OpKind::get);
  thread->status.wait.peer.store(3);
  thread->status.wait.bytes.store(64);
  thread->status.wait.call.store(9);
  std::strcpy(thread->status.annotation, "a layer's wait");
  thread->status.wait.started.store(ticks() - ns_to_ticks(2'000'000'000));
  thread->status.waiting_since.store(1);
  job::LastCall calls;
  calls.set_name(9, "gex_RMA_GetBlocking");
  report = read(shared(), &calls);
  ASSERT_TRUE(report.threads[0].wait);
  const OpReport& wait = *report.threads[0].wait;
  EXPECT_EQ(wait.kind, job::OpKind::get);
  EXPECT_EQ(wait.peer, 3U);
  EXPECT_EQ(wait.bytes, 64U);
  EXPECT_EQ(wait.call, "gex_RMA_GetBlocking");
  EXPECT_EQ(report.threads[0].annotation, "a layer's wait");
  EXPECT_GE(wait.age_s.value_or(0), 2.0);

  thread->implicit.initiated[1] = 7;
  thread->implicit.completed[1] = 4;
  thread->status.implicit[1].kind.store(job::OpKind::put);
  report = read(shared());
  ASSERT_EQ(report.operations.size(), 1U);
  EXPECT_EQ(report.operations[0].implicit_parts, 3U);
  // Whatever completes is activity.
  const RankStatusView view(shared());
  const RankStatusView::Glance before = view.glance();
  EXPECT_GE(before.longest_wait_s, 2.0);
  thread->implicit.completed[1] = 5;
  EXPECT_NE(view.glance().activity, before.activity);

  thread->implicit.completed[1] = 7;
  thread->status.kernel_thread.store(0);
  report = read(shared());
  EXPECT_TRUE(report.threads.empty()) << "it has ended";
  EXPECT_TRUE(report.operations.empty());
}

TEST(RankStatus, ShowsEventsWhoseOperationsAreInFlight) {
  std::byte* const events = job::RankStatus::own().claim_events(8);
  ASSERT_NE(events, nullptr);
  auto* const event = new (events + 3 * job::RankStatus::event_bytes) job::ShownEvent{};
  event->op.kind.store(job::OpKind::put);
  event->op.peer.store(job::OpRecord::no_peer);
  EXPECT_TRUE(read(shared()).operations.empty()) << "no part has been initiated";
  event->counts.initiated[1] = 1;
  const RankReport report = read(shared());
  ASSERT_EQ(report.operations.size(), 1U);
  EXPECT_FALSE(report.operations[0].peer);
  EXPECT_FALSE(report.operations[0].age_s) << "it has not been looked at yet";
  event->counts.completed[1] = 1;
  EXPECT_TRUE(read(shared()).operations.empty());
  ASSERT_EQ(report.hidden, 0U);
  EXPECT_EQ(job::RankStatus::own().claim_events(job::RankStatus::max_events), nullptr);
  EXPECT_EQ(read(shared()).hidden, 8U);
}

TEST(RankStatus, CountsTeamsThatFindNoPlace) {
  std::vector<job::TeamStatus*> teams;
  for (std::uint32_t i = 0; i < job::RankStatus::max_teams; ++i) {
    teams.push_back(&job::RankStatus::own().claim_team());
    teams.back()->size.store(2);
  }
  job::TeamStatus& hidden = job::RankStatus::own().claim_team();
  hidden.barriers.store(9);
  RankReport report = read(shared());
  EXPECT_EQ(report.teams.size(), job::RankStatus::max_teams);
  const std::uint32_t hidden_before = report.hidden;
  EXPECT_GE(hidden_before, 1U);
  job::RankStatus::own().release_team(hidden);
  for (job::TeamStatus* team : teams) job::RankStatus::own().release_team(*team);
  report = read(shared());
  EXPECT_TRUE(report.teams.empty());
  EXPECT_EQ(report.hidden, hidden_before - 1);
}

TEST(RankStatus, AForkedChildDoesNotWriteIntoIt) {
  job::TeamStatus& team = job::RankStatus::own().claim_team();
  shared();
  const pid_t child = fork();
  if (child == 0) {
    team.barriers.store(1000);
    _exit(team.barriers.load() == 1000 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(team.barriers.load(), 0U);
  job::RankStatus::own().release_team(team);
}

/// A memory file with these bytes at its beginning, of a fixed size if `sealed`.
os::FileDescriptor file_of(const void* bytes, std::size_t count, std::size_t size, bool sealed) {
  os::FileDescriptor file(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(ftruncate(file.get(), static_cast<off_t>(size)), 0);
  count = std::min(count, size);
  EXPECT_EQ(pwrite(file.get(), bytes, count, 0), static_cast<ssize_t>(count));
  if (sealed) {
    EXPECT_EQ(fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
  }
  return file;
}

TEST(RankStatusView, TrustsNoSizesOrPlaces) {
  std::uint32_t layout[14];
  std::memcpy(layout, &job::RankStatus::own(), sizeof layout);
  const auto shown = [&](std::size_t size, bool sealed) {
    return read(file_of(layout, sizeof layout, size, sealed)).shown;
  };
  EXPECT_TRUE(shown(sizeof(job::RankStatus), true));
  EXPECT_FALSE(shown(sizeof(job::RankStatus), false)) << "its writer could shorten it";
  EXPECT_FALSE(shown(16, true)) << "no room for a layout";
  // Smaller than the layout: the tables do not fit.
  EXPECT_TRUE(read(file_of(layout, sizeof layout, 4096, true)).teams.empty());
  for (std::size_t field = 1; field < std::size(layout); ++field) {
    for (const std::uint32_t value : {0U, 1U, 0x7fffffffU, 0xffffffffU}) {
      std::uint32_t wrong[std::size(layout)];
      std::memcpy(wrong, layout, sizeof wrong);
      wrong[field] = value;
      // Must neither read beyond the file nor take for ever.
      const os::FileDescriptor file = file_of(wrong, sizeof wrong, sizeof(job::RankStatus), true);
      read(file);
      RankStatusView(file).glance();
    }
  }
  layout[0] = job::RankStatus::current_version + 1;
  EXPECT_FALSE(shown(sizeof(job::RankStatus), true)) << "another version";
}

TEST(RankStatusView, IsEmptyWithoutAFile) {
  EXPECT_FALSE(read(os::FileDescriptor()).shown);
}

}  // namespace
}  // namespace gex::launch
