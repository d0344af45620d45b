#pragma once
// A rank's status at one moment, taken out of the memory that the rank writes and
// checked: the input of a hang report. Between hosts it travels as bytes (`encode`, `decode`).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "job/rank_status.h"

namespace gex::launch {

/// An operation in flight, or what a thread waits for.
struct OpReport {
  job::OpKind kind = job::OpKind::none;
  std::string call;  ///< "" if it is the library's own
  std::optional<std::uint32_t> peer;
  std::uint64_t bytes = 0;
  std::uint64_t team = 0;
  std::uint32_t sequence = 0;
  /// So many parts of implicit operations are in flight, and this is the operation made last.
  std::uint32_t implicit_parts = 0;
  std::optional<double> age_s;

  bool operator==(const OpReport&) const = default;
};

struct ThreadReport {
  std::uint32_t number = 0;
  std::int32_t kernel_thread = 0;
  /// The thread waits for this, if it waits and has done so for some microseconds.
  std::optional<OpReport> wait;
  /// The layer above the library that waits, and for what; "" if that shows nothing.
  std::string annotation;
  /// It is in a loop of polls of the client's own (GASNET_BLOCKUNTIL), for so long.
  std::optional<double> condition_s;
  /// A handler runs; known where progress is watched.
  bool in_handler = false;
  /// It does nothing but poll, in a loop of the client's own.
  bool polls = false;
  /// It has begun an access region that it has not ended.
  bool region_open = false;
  char state = 0;  ///< as RankReport::state
  /// In which it sleeps; "" if it does not, or the kernel does not show it.
  std::string system_call;
  std::string backtrace;

  bool operator==(const ThreadReport&) const = default;
};

/// A report is collected in this order: first the picture, which is what can be read without
/// disturbing a rank, of all hosts; then the same picture with stacks, for which threads are
/// interrupted.
enum class Collection : std::uint32_t { picture, stacks };

/// How far a member has come with its team's calls.
struct TeamReport {
  std::uint64_t id = 0;
  std::uint32_t size = 0;
  std::uint32_t rank = 0;
  std::uint32_t barriers = 0;
  std::uint32_t collectives = 0;
  std::uint32_t agreements = 0;
  std::uint32_t named_barriers = 0;
  /// Where it comes from: it was the parent's team number `made_as`, from 1; 0: the primordial
  /// team.
  std::uint32_t made_as = 0;
  std::string made_by;  ///< the call
  std::string made_at;  ///< where in the program's code; "" if that is not known
  std::uint64_t parent = 0;

  /// The number of calls of that kind which the member has made.
  std::uint32_t calls(job::OpKind kind) const noexcept;

  bool operator==(const TeamReport&) const = default;
};

struct RankReport {
  std::uint32_t rank = 0;
  std::int32_t process = 0;
  std::string host;
  /// As /proc has it: R running, S sleeping, D in the kernel, T stopped, Z dead; 0: not known.
  char state = 0;
  double cpu_s = 0;   ///< processor time that it has used
  bool left = false;  ///< has returned from main, or called exit or gasnet_exit
  /// The rank has shown its status; otherwise what follows is empty.
  bool shown = false;
  std::string last_call;  ///< " while in ...", " after ...", or ""
  std::vector<ThreadReport> threads;
  std::vector<OpReport> operations;
  std::vector<TeamReport> teams;
  /// Threads, events and teams that found no place in what is shown.
  std::uint32_t hidden = 0;

  bool operator==(const RankReport&) const = default;
};

// The fields in their order, for both directions (report_archive.h).

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, OpReport>
void visit(Archive& archive, T& op) {
  archive.field(op.kind);
  archive.field(op.call);
  archive.field(op.peer);
  archive.field(op.bytes);
  archive.field(op.team);
  archive.field(op.sequence);
  archive.field(op.implicit_parts);
  archive.field(op.age_s);
}

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, ThreadReport>
void visit(Archive& archive, T& thread) {
  archive.field(thread.number);
  archive.field(thread.kernel_thread);
  archive.field(thread.wait);
  archive.field(thread.annotation);
  archive.field(thread.condition_s);
  archive.field(thread.in_handler);
  archive.field(thread.polls);
  archive.field(thread.region_open);
  archive.field(thread.state);
  archive.field(thread.system_call);
  archive.field(thread.backtrace);
}

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, TeamReport>
void visit(Archive& archive, T& team) {
  archive.field(team.id);
  archive.field(team.size);
  archive.field(team.rank);
  archive.field(team.barriers);
  archive.field(team.collectives);
  archive.field(team.agreements);
  archive.field(team.named_barriers);
  archive.field(team.made_as);
  archive.field(team.made_by);
  archive.field(team.made_at);
  archive.field(team.parent);
}

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, RankReport>
void visit(Archive& archive, T& report) {
  archive.field(report.rank);
  archive.field(report.process);
  archive.field(report.host);
  archive.field(report.state);
  archive.field(report.cpu_s);
  archive.field(report.left);
  archive.field(report.shown);
  archive.field(report.last_call);
  archive.field(report.threads);
  archive.field(report.operations);
  archive.field(report.teams);
  archive.field(report.hidden);
}

std::vector<std::byte> encode(const std::vector<RankReport>& reports);
/// Empty if the bytes are no such thing.
std::optional<std::vector<RankReport>> decode(std::span<const std::byte> bytes);

}  // namespace gex::launch
