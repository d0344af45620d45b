#include "boot/rank_status_view.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/clock.h"

namespace gex::boot {

namespace {

constexpr std::size_t max_status = std::size_t{16} << 20;

/// Part of the memory as an array whose entries may be longer than those known here.
struct Table {
  const std::byte* entries = nullptr;
  std::size_t stride = 0;
  std::size_t count = 0;

  template <class T>
  const T& at(std::size_t i) const noexcept {
    return *reinterpret_cast<const T*>(entries + i * stride);
  }
};

/// Empty if it does not lie in the memory, or its entries are too short.
template <class T>
Table table_in(std::span<const std::byte> memory, std::uint32_t at, std::uint32_t stride,
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

class Names {
 public:
  explicit Names(const LastCall* calls) noexcept : calls_(calls) {}
  std::string of(std::uint32_t call) const {
    return calls_ != nullptr ? calls_->name_of(call) : std::string();
  }

 private:
  const LastCall* calls_;
};

OpReport report_of(const OpRecord& record, const Names& names, Tick now) {
  OpReport op;
  const auto kind = static_cast<std::uint8_t>(load(record.kind));
  if (kind >= static_cast<std::uint8_t>(OpKind::count)) return op;
  op.kind = static_cast<OpKind>(kind);
  op.call = names.of(load(record.call));
  if (const std::uint32_t peer = load(record.peer); peer != OpRecord::no_peer) op.peer = peer;
  op.bytes = load(record.bytes);
  op.team = load(record.team);
  op.sequence = load(record.sequence);
  op.age_s = age(load(record.started), now);
  return op;
}

bool is_of_team(OpKind kind) noexcept {
  return kind == OpKind::barrier || kind == OpKind::collective || kind == OpKind::agreement ||
         kind == OpKind::named_barrier;
}

std::uint32_t in_flight(const PartCounts& counts, unsigned category) noexcept {
  return load(counts.initiated[category]) - load(counts.completed[category]);
}
std::uint32_t in_flight(const PartCounts& counts) noexcept {
  std::uint32_t parts = 0;
  for (unsigned c = 0; c < count_categories; ++c) parts += in_flight(counts, c);
  return parts;
}

}  // namespace

RankStatusView::RankStatusView(const os::FileDescriptor& file) noexcept {
  struct stat status {};
  const int seals = fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(file.get(), &status) != 0) return;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size < sizeof(RankStatus::Layout) || size > max_status) return;
  memory_ = os::Mapping::shared(file.get(), 0, size);
}

void RankStatusView::read(RankReport& report, const LastCall* calls) const {
  if (!memory_) return;
  // A copy: the rank might change it between two looks.
  RankStatus::Layout layout;
  std::memcpy(&layout, memory_.data(), sizeof layout);
  if (layout.version != RankStatus::current_version) return;
  const std::span<const std::byte> memory = memory_.bytes();
  const Table teams =
      table_in<TeamStatus>(memory, layout.teams_at, layout.team_bytes, layout.team_count);
  const Table threads =
      table_in<ShownThread>(memory, layout.threads_at, layout.thread_bytes, layout.thread_count);
  const Table events =
      table_in<ShownEvent>(memory, layout.events_at, layout.event_bytes, layout.event_count);
  const Names names(calls);
  const Tick now = ticks();
  report.shown = true;

  for (std::size_t i = 0; i < teams.count; ++i) {
    const auto& team = teams.at<TeamStatus>(i);
    const std::uint32_t size = load(team.size);
    if (size == 0) continue;
    report.teams.push_back({load(team.id), size, load(team.rank), load(team.barriers),
                            load(team.collectives), load(team.agreements),
                            load(team.named_barriers)});
    report.activity += report.teams.back().barriers + report.teams.back().collectives +
                       report.teams.back().agreements + report.teams.back().named_barriers;
  }
  for (std::size_t i = 0; i < threads.count; ++i) {
    const auto& shown = threads.at<ShownThread>(i);
    const ThreadStatus& status = shown.status;
    for (unsigned c = 0; c < count_categories; ++c) {
      report.activity += load(shown.implicit.completed[c]);
      const std::uint32_t parts = in_flight(shown.implicit, c);
      if (parts == 0) continue;
      OpReport op = report_of(status.implicit[c], names, now);
      op.implicit_parts = parts;
      report.operations.push_back(std::move(op));
    }
    report.activity += load(status.progressed) + load(status.handlers_begun);
    if (load(status.kernel_thread) == 0) continue;
    ThreadReport thread;
    thread.number = load(status.number);
    thread.kernel_thread = load(status.kernel_thread);
    thread.in_handler = load(status.handlers_begun) != load(status.handlers_ended);
    if (load(status.waiting_since) != 0) thread.wait = report_of(status.wait, names, now);
    // A thread in such a loop gives up the core, and notes that, again and again.
    constexpr double still_seen_s = 0.2;
    const std::optional<double> seen = age(load(status.condition_seen), now);
    if (seen && *seen < still_seen_s) thread.condition_s = age(load(status.condition_since), now);
    report.threads.push_back(std::move(thread));
  }
  for (std::size_t i = 0; i < events.count; ++i) {
    const auto& event = events.at<ShownEvent>(i);
    OpReport op = report_of(event.op, names, now);
    // Of an event without parts it is not known whether its operation is over; a thread that waits
    // for it shows that.
    if (op.kind == OpKind::none || is_of_team(op.kind) || in_flight(event.counts) == 0) continue;
    report.operations.push_back(std::move(op));
  }
  const std::uint32_t claimed = load(layout.threads_claimed);
  report.hidden = (claimed > layout.thread_count ? claimed - layout.thread_count : 0) +
                  load(layout.hidden_teams);
}

}  // namespace gex::boot
