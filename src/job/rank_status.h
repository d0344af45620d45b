#pragma once
// The status that a rank shows while it runs: its operations in flight, what its threads wait for,
// and how far it has come with each team's collective calls.
//
// The memory is written by the rank with plain stores, on paths that are slow anyway, and read by
// the guardian of its host when a report is asked for (launch/hang/hang_report.h), so that a rank
// which never polls is seen too. Before the rank has joined the memory is private; `share` makes a
// memory file of it, at the same address, whose descriptor the rank gives the guardian. A process
// that the client forks gets a private copy.
//
// Guardian and rank may be of different builds: the layout has a version, the tables have strides,
// and calls are named by the numbers of the last call's table (last_call.h). Nothing here is
// trusted by who reads it (`RankStatusView`).
//
// Thread rules: each record has one writer at a time, named beside it; readers see values of
// different moments.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cache_line.h"

namespace gex::job {

/// An operation in flight, or a wait, is of one of these kinds.
enum class OpKind : std::uint8_t {
  none = 0,
  put,  ///< `sequence`: its MemoryWay
  get,  ///< the same
  atomic,
  message,        ///< an active message that finds no room on its way
  barrier,        ///< `sequence`: which of the team's barriers, from 1
  collective,     ///< `sequence`: which of the team's collective calls, from 1
  agreement,      ///< team and segment set-up: which of the team's exchanges, from 1
  named_barrier,  ///< `sequence`: which, from 1
  events,         ///< a wait for events or implicit operations
  lock,           ///< a handler-safe lock
  annotated,  ///< a wait of a layer above the interface, which the thread's annotation describes
  count
};

/// Returns true if it is a call that the members of a team make together, and number.
constexpr bool is_of_team(OpKind kind) noexcept {
  return kind == OpKind::barrier || kind == OpKind::collective || kind == OpKind::agreement ||
         kind == OpKind::named_barrier;
}

/// An operation in flight.
struct OpRecord {
  static constexpr std::uint32_t no_peer = 0xffffffff;

  std::atomic<std::uint64_t> bytes{0};
  /// Tick (base/clock.h) of its start, or when it was first found incomplete; 0: not known.
  std::atomic<std::uint64_t> started{0};
  std::atomic<std::uint64_t> team{0};
  std::atomic<std::uint32_t> sequence{0};
  std::atomic<std::uint32_t> peer{0};  ///< jobrank, or `no_peer`
  std::atomic<std::uint16_t> call{0};  ///< as LastCall numbers calls
  std::atomic<OpKind> kind{OpKind::none};
};
static_assert(sizeof(OpRecord) == 40);

/// Categories in which operations are counted: get, put, local completion, message, atomic.
inline constexpr unsigned count_categories = 5;

/// Parts of operations initiated and completed, by category; operations are in flight where the two
/// differ.
struct PartCounts {
  std::uint32_t initiated[count_categories];
  std::uint32_t completed[count_categories];
};

/// A thread of the rank. Written by that thread.
struct ThreadStatus {
  std::atomic<std::uint32_t> number{0};        ///< from 1; 0: there is no such thread
  std::atomic<std::int32_t> kernel_thread{0};  ///< its id in /proc; 0: it has ended
  /// Tick at which a wait had lasted some microseconds; 0: in no such wait.
  std::atomic<std::uint64_t> waiting_since{0};
  /// Moves when such a wait ends, or when something arrives in it.
  std::atomic<std::uint64_t> progressed{0};
  /// In the client's own loops of polls (GASNET_BLOCKUNTIL): when the last one had lasted some
  /// microseconds, and a tick that follows the present while it goes on.
  std::atomic<std::uint64_t> condition_since{0};
  std::atomic<std::uint64_t> condition_seen{0};
  /// Where progress is watched (--hang-after).
  std::atomic<std::uint64_t> handlers_begun{0};
  std::atomic<std::uint64_t> handlers_ended{0};
  OpRecord wait;                        ///< what it waits for
  OpRecord implicit[count_categories];  ///< the implicit operation of each category made last
  /// In loops that do nothing but poll, while the guardian looks (observe/looked_at.h): processor
  /// time, and the tick of the last such poll.
  std::atomic<std::uint64_t> polled_ns{0};
  std::atomic<std::uint64_t> polls_seen{0};
  /// Calls that communicate, where progress is watched; not those that are inline.
  std::atomic<std::uint64_t> operations{0};
  /// It sleeps in the library until something comes: a signal disturbs no sleep of the program's.
  std::atomic<std::uint32_t> sleeps_in_library{0};
  /// While a layer above waits, the text that follows "waits in"; its last byte stays 0.
  char annotation[160] = {};
};

/// A team's member in this process. Written by one thread at a time, as the calls are made.
struct alignas(cache_line) TeamStatus {
  std::atomic<std::uint64_t> id{0};
  std::atomic<std::uint32_t> size{0};  ///< 0: there is no such team
  std::atomic<std::uint32_t> rank{0};  ///< this member's
  std::atomic<std::uint32_t> barriers{0};
  std::atomic<std::uint32_t> collectives{0};
  std::atomic<std::uint32_t> agreements{0};
  std::atomic<std::uint32_t> named_barriers{0};
  /// Where it comes from: the call of the program's, at an address in its code, by which it was the
  /// parent's team number `made_as`, from 1; 0: the primordial team.
  std::atomic<std::uint32_t> made_as{0};
  std::atomic<std::uint16_t> made_by{0};  ///< as LastCall numbers calls
  std::atomic<std::uint64_t> made_at{0};
  std::atomic<std::uint64_t> parent{0};
  std::atomic<std::uint32_t> teams_made{0};  ///< calls that make teams of its members
};
static_assert(sizeof(TeamStatus) == cache_line);

/// As a reader finds a thread's record and an event's, which begin so.
struct ShownThread {
  PartCounts implicit;
  ThreadStatus status;
  const void* open_region;  ///< null unless the thread has an access region open
};
struct ShownEvent {
  PartCounts counts;
  std::byte private_to_the_rank[24];
  OpRecord op;
};

/// The rank's whole memory. Zero memory but for the description of its layout is the empty state.
class RankStatus {
 public:
  static constexpr std::uint32_t current_version = 3;
  static constexpr std::uint32_t max_teams = 64;
  static constexpr std::uint32_t max_threads = 64;
  static constexpr std::size_t thread_bytes = 1536;
  static constexpr std::uint32_t max_events = 1024;
  static constexpr std::size_t event_bytes = 128;

  /// This process's, made when it is first asked for. Ends the process if there is no memory.
  static RankStatus& own() noexcept;

  /// Memory for one more thread's record, which begins as a ShownThread; null if the table is full:
  /// then the caller uses memory of its own, which is not shown. Any thread.
  std::byte* claim_thread() noexcept;
  /// Memory for `count` more events' records, which begin as a ShownEvent; null if the table has no
  /// room for them, which is counted. Any thread.
  std::byte* claim_events(std::uint32_t count) noexcept;
  /// The stack of a thread, as it was when it was last asked for (observe/backtrace_signal.h).
  struct Backtrace {
    std::atomic<std::uint32_t> bytes;
    char text[2044];
  };
  /// Returns the backtrace of a thread that is shown; null for others. Async-signal-safe.
  Backtrace* backtrace_of(const ThreadStatus& thread) noexcept;
  /// Threads show their stacks when they get this signal.
  void offer_backtraces(int signal) noexcept;

  /// A team's record; of teams that find no place a common one that is not shown. Any thread.
  TeamStatus& claim_team() noexcept;
  void release_team(TeamStatus& team) noexcept;

  /// Makes a memory file of it, at the same address, and gives its descriptor, which the caller
  /// does not own; -1 if the kernel has no memory files: nothing is shown then. Once, while no
  /// other thread writes.
  int share() noexcept;

  /// A reader finds these sizes and places at the beginning of the memory.
  struct Layout {
    std::uint32_t version = current_version;
    std::uint32_t bytes = sizeof(RankStatus);
    std::uint32_t teams_at = offsetof(RankStatus, teams_);
    std::uint32_t team_bytes = sizeof(TeamStatus);
    std::uint32_t team_count = max_teams;
    std::uint32_t threads_at = offsetof(RankStatus, threads_);
    std::uint32_t thread_bytes = RankStatus::thread_bytes;
    std::uint32_t thread_count = max_threads;
    std::uint32_t events_at = offsetof(RankStatus, events_);
    std::uint32_t event_bytes = RankStatus::event_bytes;
    std::uint32_t event_count = max_events;
    // Entries from the beginning of a table that are in use; above their count: so many are not
    // shown.
    std::uint32_t threads_claimed = 0;
    std::uint32_t events_claimed = 0;
    std::uint32_t hidden_teams = 0;
    std::uint32_t backtraces_at = offsetof(RankStatus, backtraces_);  ///< one for each thread
    std::uint32_t backtrace_bytes = sizeof(Backtrace);
    std::uint32_t backtrace_signal = 0;  ///< 0: no stacks are shown
  };

 private:
  RankStatus() = default;

  Layout layout_;
  alignas(cache_line) TeamStatus teams_[max_teams];
  alignas(cache_line) std::byte threads_[max_threads][thread_bytes];
  alignas(cache_line) std::byte events_[max_events][event_bytes];
  alignas(cache_line) Backtrace backtraces_[max_threads];
};

}  // namespace gex::job
