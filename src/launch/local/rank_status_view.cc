#include "launch/local/rank_status_view.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/clock.h"
#include "base/os_code_address.h"
#include "base/os_proc.h"
#include "base/os_thread_activity.h"

namespace gex::launch {

namespace {

constexpr std::size_t max_status = std::size_t{16} << 20;

/// Part of the memory as an array whose entries may be longer than those known here.
struct Table {
  std::byte* entries = nullptr;
  std::size_t stride = 0;
  std::size_t count = 0;

  template <class T>
  T& at(std::size_t i) const noexcept {
    return *reinterpret_cast<T*>(entries + i * stride);
  }
};

/// Empty if it does not lie in the memory, or its entries are too short.
template <class T>
Table table_in(std::span<std::byte> memory, std::uint32_t at, std::uint32_t stride,
               std::uint32_t count) noexcept {
  const bool fits = at <= memory.size() && stride >= sizeof(T) && stride % alignof(T) == 0 &&
                    at % alignof(T) == 0 && count <= (memory.size() - at) / stride;
  return fits ? Table{memory.data() + at, stride, count} : Table{};
}

std::uint32_t load(const std::uint32_t& word) noexcept {
  return __atomic_load_n(&word, __ATOMIC_RELAXED);
}
template <class T>
T load(const std::atomic<T>& word) noexcept {
  // Relaxed: the parts of a record are of different moments anyway.
  return word.load(std::memory_order_relaxed);
}

std::optional<double> age(std::uint64_t started, Tick now) {
  // A tick that is later than now is of this very moment, or no tick.
  if (started == 0) return std::nullopt;
  return started >= now ? 0.0 : static_cast<double>(ticks_to_ns(now - started)) * 1e-9;
}

std::string annotation_of(const job::ThreadStatus& status) {
  return {status.annotation, strnlen(status.annotation, sizeof status.annotation)};
}

std::string text_of(const job::RankStatus::Backtrace& backtrace) {
  // Acquire: the text was there before its size.
  const std::size_t bytes = backtrace.bytes.load(std::memory_order_acquire);
  return {backtrace.text, std::min(bytes, sizeof backtrace.text)};
}

class Names {
 public:
  explicit Names(const job::LastCall* calls) noexcept : calls_(calls) {}
  std::string of(std::uint32_t call) const {
    return calls_ != nullptr ? calls_->name_of(call) : std::string();
  }

 private:
  const job::LastCall* calls_;
};

OpReport report_of(const job::OpRecord& record, const Names& names, Tick now) {
  OpReport op;
  const auto kind = static_cast<std::uint8_t>(load(record.kind));
  if (kind >= static_cast<std::uint8_t>(job::OpKind::count)) return op;
  op.kind = static_cast<job::OpKind>(kind);
  op.call = names.of(load(record.call));
  if (const std::uint32_t peer = load(record.peer); peer != job::OpRecord::no_peer) op.peer = peer;
  op.bytes = load(record.bytes);
  op.team = load(record.team);
  op.sequence = load(record.sequence);
  op.age_s = age(load(record.started), now);
  return op;
}

std::uint32_t in_flight(const job::PartCounts& counts, unsigned category) noexcept {
  return load(counts.initiated[category]) - load(counts.completed[category]);
}
std::uint32_t in_flight(const job::PartCounts& counts) noexcept {
  std::uint32_t parts = 0;
  for (unsigned c = 0; c < job::count_categories; ++c) parts += in_flight(counts, c);
  return parts;
}

bool is_in_flight(const job::ShownEvent& event) noexcept {
  const job::OpKind kind = load(event.op.kind);
  // An event without parts does not show whether its operation is over; a thread that waits for it
  // does.
  return kind != job::OpKind::none && !is_of_team(kind) && in_flight(event.counts) != 0;
}

/// Returns true if a tick that follows the present while something goes on still does; a thread may
/// be without a processor for that long.
bool is_recent(std::uint64_t seen, Tick now, double still_seen_s) noexcept {
  const std::optional<double> since = age(seen, now);
  return since && *since < still_seen_s;
}

/// Returns true if the thread is in a client's loop of polls: it gives up the core, and notes that,
/// again and again.
bool is_in_condition(const job::ThreadStatus& status, Tick now) noexcept {
  return is_recent(load(status.condition_seen), now, 0.2);
}

}  // namespace

RankStatusView::RankStatusView(const os::FileDescriptor& file) noexcept {
  struct stat status {};
  const int seals = fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(file.get(), &status) != 0) return;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size < sizeof(job::RankStatus::Layout) || size > max_status) return;
  memory_ = os::Mapping::shared(file.get(), 0, size);
}

struct RankStatusView::Tables {
  Table teams;
  Table threads;
  Table events;
  Table backtraces;
  std::uint32_t hidden;
  int backtrace_signal;
};

std::optional<RankStatusView::Tables> RankStatusView::tables() const noexcept {
  if (!memory_) return std::nullopt;
  // A copy: the rank might change it between two looks.
  job::RankStatus::Layout layout;
  std::memcpy(&layout, memory_.data(), sizeof layout);
  if (layout.version != job::RankStatus::current_version) return std::nullopt;
  const std::span<std::byte> memory = memory_.bytes();
  const auto beyond = [](std::uint32_t claimed, std::uint32_t count) {
    return claimed > count ? claimed - count : 0;
  };
  // Entries that were never used are not looked at: that would allocate their memory.
  return Tables{
      table_in<job::TeamStatus>(memory, layout.teams_at, layout.team_bytes, layout.team_count),
      table_in<job::ShownThread>(memory, layout.threads_at, layout.thread_bytes,
                                 std::min(layout.threads_claimed, layout.thread_count)),
      table_in<job::ShownEvent>(memory, layout.events_at, layout.event_bytes,
                                std::min(layout.events_claimed, layout.event_count)),
      table_in<job::RankStatus::Backtrace>(memory, layout.backtraces_at, layout.backtrace_bytes,
                                           std::min(layout.threads_claimed, layout.thread_count)),
      beyond(layout.threads_claimed, layout.thread_count) +
          beyond(layout.events_claimed, layout.event_count) + layout.hidden_teams,
      static_cast<int>(layout.backtrace_signal)};
}

std::uint32_t RankStatusView::request_backtraces(pid_t process) const {
  const std::optional<Tables> found = tables();
  const int signal = found ? found->backtrace_signal : 0;
  // A process that does not handle the signal would die of it.
  if (signal < SIGRTMIN || signal > SIGRTMAX || !os::catches_signal(process, signal)) return 0;
  std::uint32_t asked = 0;
  const std::size_t count = std::min(found->threads.count, found->backtraces.count);
  for (std::size_t i = 0; i < count; ++i) {
    const job::ThreadStatus& status = found->threads.at<job::ShownThread>(i).status;
    const pid_t thread = load(status.kernel_thread);
    found->backtraces.at<job::RankStatus::Backtrace>(i).bytes.store(0, std::memory_order_relaxed);
    if (thread <= 0) continue;
    if (load(status.waiting_since) == 0 && load(status.sleeps_in_library) == 0) {
      // A sleep of the program's would end.
      const auto activity = os::thread_activity(process, thread);
      if (!activity || !os::bears_signals(process, *activity)) continue;
    }
    // The thread belongs to that process, or the kernel refuses.
    if (syscall(SYS_tgkill, process, thread, signal) == 0) ++asked;
  }
  return asked;
}

std::uint32_t RankStatusView::backtraces() const noexcept {
  const std::optional<Tables> found = tables();
  std::uint32_t count = 0;
  for (std::size_t i = 0; found && i < found->backtraces.count; ++i)
    if (load(found->backtraces.at<job::RankStatus::Backtrace>(i).bytes) != 0) ++count;
  return count;
}

std::vector<ThreadReport> RankStatusView::stacks() const {
  std::vector<ThreadReport> shown;
  const std::optional<Tables> found = tables();
  for (std::size_t i = 0; found && i < found->backtraces.count && i < found->threads.count; ++i) {
    const job::ThreadStatus& status = found->threads.at<job::ShownThread>(i).status;
    ThreadReport thread;
    thread.number = load(status.number);
    thread.kernel_thread = load(status.kernel_thread);
    thread.backtrace = text_of(found->backtraces.at<job::RankStatus::Backtrace>(i));
    if (thread.kernel_thread != 0 && !thread.backtrace.empty()) shown.push_back(std::move(thread));
  }
  return shown;
}

RankStatusView::Glance RankStatusView::glance() const noexcept {
  Glance glance;
  const std::optional<Tables> found = tables();
  if (!found) return glance;
  const Tick now = ticks();
  const auto waits = [&](std::uint64_t started) {
    glance.longest_wait_s = std::max(glance.longest_wait_s, age(started, now).value_or(0));
  };
  for (std::size_t i = 0; i < found->teams.count; ++i) {
    const auto& team = found->teams.at<job::TeamStatus>(i);
    if (load(team.size) == 0) continue;
    glance.activity += std::uint64_t{load(team.barriers)} + load(team.collectives) +
                       load(team.agreements) + load(team.named_barriers);
  }
  for (std::size_t i = 0; i < found->threads.count; ++i) {
    const auto& shown = found->threads.at<job::ShownThread>(i);
    const job::ThreadStatus& status = shown.status;
    glance.activity += load(status.progressed) + load(status.handlers_begun);
    glance.operations += load(status.operations);
    glance.polled_ns += load(status.polled_ns);
    for (unsigned c = 0; c < job::count_categories; ++c) {
      glance.activity += load(shown.implicit.completed[c]);
      if (in_flight(shown.implicit, c) != 0) waits(load(status.implicit[c].started));
    }
    if (load(status.kernel_thread) == 0) continue;
    waits(load(status.waiting_since));
    if (is_in_condition(status, now)) waits(load(status.condition_since));
  }
  for (std::size_t i = 0; i < found->events.count; ++i) {
    const auto& event = found->events.at<job::ShownEvent>(i);
    if (is_in_flight(event)) waits(load(event.op.started));
  }
  return glance;
}

void RankStatusView::read(RankReport& report, const job::LastCall* calls) const {
  const std::optional<Tables> found = tables();
  if (!found) return;
  const Names names(calls);
  const Tick now = ticks();
  report.shown = true;
  report.hidden = found->hidden;
  for (std::size_t i = 0; i < found->teams.count; ++i) {
    const auto& team = found->teams.at<job::TeamStatus>(i);
    const std::uint32_t size = load(team.size);
    if (size == 0) continue;
    TeamReport& shown = report.teams.emplace_back();
    shown.id = load(team.id);
    shown.size = size;
    shown.rank = load(team.rank);
    shown.barriers = load(team.barriers);
    shown.collectives = load(team.collectives);
    shown.agreements = load(team.agreements);
    shown.named_barriers = load(team.named_barriers);
    shown.made_as = load(team.made_as);
    if (shown.made_as == 0) continue;
    shown.made_by = names.of(load(team.made_by));
    shown.parent = load(team.parent);
    if (const std::uint64_t at = load(team.made_at); at != 0)
      shown.made_at = os::describe_code_address(report.process, at);
  }
  for (std::size_t i = 0; i < found->threads.count; ++i) {
    const auto& shown = found->threads.at<job::ShownThread>(i);
    const job::ThreadStatus& status = shown.status;
    for (unsigned c = 0; c < job::count_categories; ++c) {
      const std::uint32_t parts = in_flight(shown.implicit, c);
      if (parts == 0) continue;
      OpReport op = report_of(status.implicit[c], names, now);
      op.implicit_parts = parts;
      report.operations.push_back(std::move(op));
    }
    if (load(status.kernel_thread) == 0) continue;
    ThreadReport thread;
    thread.number = load(status.number);
    thread.kernel_thread = load(status.kernel_thread);
    thread.in_handler = load(status.handlers_begun) != load(status.handlers_ended);
    if (load(status.waiting_since) != 0) {
      thread.wait = report_of(status.wait, names, now);
      thread.annotation = annotation_of(status);
    }
    thread.polls = is_recent(load(status.polls_seen), now, 1);
    thread.region_open = __atomic_load_n(&shown.open_region, __ATOMIC_RELAXED) != nullptr;
    if (is_in_condition(status, now)) thread.condition_s = age(load(status.condition_since), now);
    report.threads.push_back(std::move(thread));
  }
  for (std::size_t i = 0; i < found->events.count; ++i) {
    const auto& event = found->events.at<job::ShownEvent>(i);
    if (is_in_flight(event)) report.operations.push_back(report_of(event.op, names, now));
  }
}

}  // namespace gex::launch
