#pragma once
// Trace files, as they were written by the ranks of a job.

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/trace_format.h"
#include "observe/trace_records.h"

namespace gextrace {

using gex::trace::Kind;
using gex::trace::Names;

/// A record, with its thread. `at` is in ticks until `convert_ticks` (align.h) makes it
/// nanoseconds.
struct Event {
  std::int64_t at;
  std::uint64_t id;
  std::uint64_t bytes;
  std::uint32_t peer;
  std::uint32_t thread;
  std::uint16_t what;
  std::uint8_t detail;
  Kind kind;
};

/// From ticks to nanoseconds of all ranks' common time (align.h).
struct Clock {
  std::uint64_t first_tick = 0;
  double start_ns = 0;  ///< at that tick
  double ns_per_tick = 1;
  std::int64_t correction = 0;  ///< ns, added to that

  std::int64_t ns_of(std::uint64_t ticks) const noexcept;
};

/// One rank's file.
struct RankTrace {
  std::string path;
  std::uint32_t rank = 0;
  std::uint32_t job_size = 0;
  std::string host;
  std::string boot_id;
  std::string program;
  std::uint32_t process = 0;
  bool closed = false;
  bool disk_full = false;
  std::uint64_t lost = 0;        ///< records
  std::uint64_t unreadable = 0;  ///< records that mean nothing to this gextrace
  gex::trace::TickSource tick_source = gex::trace::TickSource::monotonic;
  std::uint64_t ticks_per_second = 0;
  gex::trace::Anchor first{};
  gex::trace::Anchor latest{};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> names;
  Clock clock;
  /// The time of the first event, be it kept or not, as `Event::at`.
  std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
  /// By thread, and in the order in which each thread recorded them.
  std::vector<Event> events;

  std::string name_of(Names space, std::uint32_t number) const;
};

/// Which events are kept.
enum class Keep : std::uint8_t {
  all,
  meetings,  ///< messages sent, begins of handlers, and arrivals at collective operations
};

constexpr bool is_meeting(Kind kind) noexcept {
  return kind == Kind::message_sent || kind == Kind::handler_begin || kind == Kind::collective;
}

/// Reads a file; what is damaged in it is left out and counted. Returns nothing, and the reason in
/// `why`, if it is not a trace file of this version.
std::optional<RankTrace> read_file(const std::string& path, std::string& why,
                                   Keep keep = Keep::all);

/// A job as its files show it.
struct Job {
  std::vector<RankTrace> ranks;      ///< in rising order
  std::vector<std::string> remarks;  ///< what is missing, or was left out
  const RankTrace* of(std::uint32_t rank) const noexcept;
};

/// Reads FILE.0, FILE.1, ... of a job, or the files themselves if `paths` are names of files. Only
/// `wanted` ranks, if that is not empty. The reason in `why` if there is nothing to read.
std::optional<Job> read_job(const std::vector<std::string>& paths,
                            const std::vector<std::uint32_t>& wanted, std::string& why,
                            Keep keep = Keep::all);

}  // namespace gextrace
