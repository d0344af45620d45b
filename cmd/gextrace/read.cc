#include "read.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

namespace gextrace {

namespace {

using gex::trace::ChunkHeader;
using gex::trace::FileHeader;
using gex::trace::Name;
using gex::trace::Record;

/// A text of a field that should end in a zero byte.
template <std::size_t size>
std::string text_of(const char (&field)[size]) {
  return {field, strnlen(field, size)};
}

/// Reads up to `bytes` at `offset`; how many there were.
std::size_t read_at(std::ifstream& file, std::uint64_t offset, void* to, std::size_t bytes) {
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  if (!file) return 0;
  file.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  return static_cast<std::size_t>(file.gcount());
}

/// Null if the header is one that can be read, else what is wrong with it.
std::optional<std::string> flaw_of(const FileHeader& header) {
  using namespace gex::trace;
  if (std::memcmp(header.magic, magic, sizeof magic) != 0) return "not a trace file of libgex";
  if (header.byte_order != byte_order_mark) return "written on a machine with another byte order";
  if (header.version != format_version)
    return "version " + std::to_string(header.version) + " of the format; this gextrace reads " +
           std::to_string(format_version);
  if (header.record_bytes < sizeof(Record) || header.name_bytes < sizeof(Name) ||
      header.header_bytes < sizeof(FileHeader) || header.max_names > 1U << 20 ||
      header.chunk_bytes < sizeof(ChunkHeader) + header.record_bytes ||
      header.chunk_bytes > 64U << 20 || header.rank >= header.job_size ||
      header.ticks_per_second == 0)
    return "its header is damaged";
  return std::nullopt;
}

/// Nothing, and the reason in `why`, if it is not the header of a trace file of this version.
std::optional<FileHeader> read_header(std::ifstream& file, const std::string& path,
                                      std::string& why) {
  if (!file) {
    why = path + ": " + std::strerror(errno);
    return std::nullopt;
  }
  FileHeader header{};
  const std::size_t got = read_at(file, 0, &header, sizeof header);
  const auto flaw = got < sizeof header ? "not a trace file of libgex: too short" : flaw_of(header);
  if (!flaw) return header;
  why = path + ": " + *flaw;
  return std::nullopt;
}

void read_names(std::ifstream& file, const FileHeader& header, RankTrace& trace) {
  const std::uint32_t count = std::min(header.name_count, header.max_names);
  std::vector<char> bytes(std::size_t{count} * header.name_bytes);
  const std::size_t got = read_at(file, header.header_bytes, bytes.data(), bytes.size());
  for (std::size_t at = 0; at + header.name_bytes <= got; at += header.name_bytes) {
    Name name;
    std::memcpy(&name, &bytes[at], sizeof name);
    if (name.space != 0) trace.names[{name.space, name.number}] = text_of(name.text);
  }
}

struct Chunk {
  std::uint32_t thread;
  std::vector<Event> events;
};

bool is_readable(const Record& record, const RankTrace& trace) {
  return record.kind <= static_cast<std::uint8_t>(gex::trace::last_kind) &&
         record.ticks + trace.ticks_per_second >= trace.first.ticks &&
         record.ticks < std::uint64_t{1} << 62 &&
         (record.kind != static_cast<std::uint8_t>(Kind::call) ||
          (record.id >= record.ticks && record.id < std::uint64_t{1} << 62));
}

bool is_kept(const Record& record, Keep keep) {
  return keep == Keep::all || is_meeting(static_cast<Kind>(record.kind));
}

/// Adds the record, a whole call as its begin and its end.
void add(const Record& record, std::uint32_t thread, std::vector<Event>& events) {
  Event event{static_cast<std::int64_t>(record.ticks),
              record.id,
              record.bytes,
              record.peer,
              thread,
              record.what,
              record.detail,
              static_cast<Kind>(record.kind)};
  if (event.kind != Kind::call) return events.push_back(event);
  event.id = 0;
  event.kind = Kind::call_begin;
  events.push_back(event);
  event.at = static_cast<std::int64_t>(record.id);
  event.kind = Kind::call_end;
  events.push_back(event);
}

void read_chunks(std::ifstream& file, const FileHeader& header, RankTrace& trace, Keep keep) {
  std::vector<char> bytes(header.chunk_bytes);
  std::map<std::uint64_t, Chunk> chunks;
  for (std::uint32_t index = 0; index < header.max_chunks; ++index) {
    const std::uint64_t offset = header.first_chunk + std::uint64_t{index} * header.chunk_bytes;
    const std::size_t got = read_at(file, offset, bytes.data(), bytes.size());
    if (got < sizeof(ChunkHeader)) break;
    ChunkHeader chunk_header;
    std::memcpy(&chunk_header, bytes.data(), sizeof chunk_header);
    if (chunk_header.sequence == 0) continue;
    Chunk chunk{chunk_header.thread, {}};
    std::uint64_t readable = 0;
    std::uint64_t unreadable = 0;
    for (std::size_t at = sizeof chunk_header; at + header.record_bytes <= got;
         at += header.record_bytes) {
      Record record;
      std::memcpy(&record, &bytes[at], sizeof record);
      if (record.kind == 0) continue;
      if (!is_readable(record, trace)) {
        ++unreadable;
        continue;
      }
      ++readable;
      trace.earliest = std::min(trace.earliest, static_cast<std::int64_t>(record.ticks));
      if (is_kept(record, keep)) add(record, chunk_header.thread, chunk.events);
    }
    trace.unreadable += unreadable;
    // A number that another chunk has is not this one's: its header is damaged.
    if (!chunks.emplace(chunk_header.sequence, std::move(chunk)).second)
      trace.unreadable += readable;
  }
  std::map<std::uint32_t, std::vector<Event>> by_thread;
  for (auto& [sequence, chunk] : chunks) {
    std::vector<Event>& events = by_thread[chunk.thread];
    events.insert(events.end(), chunk.events.begin(), chunk.events.end());
    chunk.events = {};
  }
  for (auto& [thread, events] : by_thread) {
    // A message's record has the time before it was sent, and is written after.
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& one, const Event& other) { return one.at < other.at; });
    if (trace.events.empty())
      trace.events = std::move(events);
    else
      trace.events.insert(trace.events.end(), events.begin(), events.end());
    events = {};
  }
}

/// Returns true if there is such a file. A folder may have the name that ranks have appended to.
bool exists(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_directory(status);
}

std::string seconds_between(std::uint64_t earlier, std::uint64_t later) {
  return std::to_string((later - earlier) / 1'000'000'000) + " s";
}

/// Returns why a trace is of another run than the reference, which is the lowest rank's; empty if
/// it is not.
std::string other_run(const RankTrace& one, const RankTrace& reference) {
  if (one.job_size != reference.job_size)
    return "of a job of " + std::to_string(one.job_size) + " ranks, not " +
           std::to_string(reference.job_size);
  // Ranks of a job start together; the clocks of hosts may differ.
  constexpr std::uint64_t slack = 60'000'000'000;
  if (one.latest.realtime_ns + slack < reference.first.realtime_ns)
    return "of a run that ended " +
           seconds_between(one.latest.realtime_ns, reference.first.realtime_ns) + " earlier";
  if (reference.latest.realtime_ns + slack < one.first.realtime_ns)
    return "of a run that began " +
           seconds_between(reference.latest.realtime_ns, one.first.realtime_ns) + " later";
  return {};
}

}  // namespace

std::int64_t Clock::ns_of(std::uint64_t ticks) const noexcept {
  const auto since = static_cast<std::int64_t>(ticks - first_tick);
  return std::llround(start_ns + static_cast<double>(since) * ns_per_tick) + correction;
}

std::string RankTrace::name_of(Names space, std::uint32_t number) const {
  const auto found = names.find({static_cast<std::uint32_t>(space), number});
  return found == names.end() ? std::string() : found->second;
}

std::optional<RankTrace> read_file(const std::string& path, std::string& why, Keep keep) {
  std::ifstream file(path, std::ios::binary);
  const std::optional<FileHeader> read = read_header(file, path, why);
  if (!read) return std::nullopt;
  const FileHeader& header = *read;
  RankTrace trace;
  trace.path = path;
  trace.rank = header.rank;
  trace.job_size = header.job_size;
  trace.host = text_of(header.host);
  trace.boot_id = text_of(header.boot_id);
  trace.program = text_of(header.program);
  trace.process = header.process;
  trace.closed = header.closed != 0;
  trace.disk_full = header.disk_full != 0;
  trace.lost = header.lost_records;
  trace.tick_source = header.tick_source;
  trace.ticks_per_second = header.ticks_per_second;
  trace.first = header.first;
  trace.latest = header.latest[header.latest_index & 1];
  read_names(file, header, trace);
  read_chunks(file, header, trace, keep);
  return trace;
}

const RankTrace* Job::of(std::uint32_t rank) const noexcept {
  const auto found =
      std::lower_bound(ranks.begin(), ranks.end(), rank,
                       [](const RankTrace& one, std::uint32_t other) { return one.rank < other; });
  return found != ranks.end() && found->rank == rank ? &*found : nullptr;
}

namespace {

bool is_wanted(const std::vector<std::uint32_t>& wanted, std::uint32_t rank) {
  return wanted.empty() || std::binary_search(wanted.begin(), wanted.end(), rank);
}

/// The ranks of whose traces there is a file of that path, rising.
std::vector<std::uint32_t> ranks_with_file(const std::filesystem::path& path) {
  const std::string prefix = path.filename().string() + ".";
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::vector<std::uint32_t> ranks;
  std::error_code unreadable;
  for (std::filesystem::directory_iterator at(folder, unreadable), none; at != none;
       at.increment(unreadable)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(prefix)) continue;
    std::uint32_t rank = 0;
    std::from_chars(&name[prefix.size()], &name[name.size()], rank);
    // Neither "01" nor "1x".
    if (name == prefix + std::to_string(rank) && exists(at->path())) ranks.push_back(rank);
  }
  std::ranges::sort(ranks);
  return ranks;
}

/// The files of traces. A path without a file of that name stands for those of all wanted ranks of
/// a job, whose number is written to `size`. Nothing, with the reason, where not one of these
/// exists.
std::optional<std::vector<std::string>> find_files(const std::vector<std::string>& paths,
                                                   const std::vector<std::uint32_t>& wanted,
                                                   std::uint32_t& size, std::string& why) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (exists(path)) {
      files.push_back(path);
      continue;
    }
    // The lowest rank's file has the number of ranks; gaps are reported by `remark_on`.
    std::optional<FileHeader> any;
    std::string last_why = path + ".0: " + std::strerror(ENOENT);
    for (const std::uint32_t rank : ranks_with_file(path)) {
      if (any || (!wanted.empty() && rank > wanted.back())) break;
      const std::string name = path + "." + std::to_string(rank);
      std::ifstream file(name, std::ios::binary);
      any = read_header(file, name, last_why);
    }
    if (!any) {
      why = last_why;
      return std::nullopt;
    }
    size = any->job_size;
    for (std::uint32_t rank = 0; rank < size; ++rank)
      if (is_wanted(wanted, rank)) files.push_back(path + "." + std::to_string(rank));
  }
  return files;
}

/// Remarks on what the traces that were read lack; in the order of their ranks.
void remark_on(Job& job, const std::vector<std::uint32_t>& wanted) {
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = 0; rank < job.ranks.front().job_size; ++rank)
    if (is_wanted(wanted, rank) && job.of(rank) == nullptr) missing.push_back(rank);
  if (!missing.empty())
    job.remarks.push_back("no trace of " + std::to_string(missing.size()) + " of " +
                          std::to_string(job.ranks.front().job_size) + " ranks (rank " +
                          std::to_string(missing.front()) +
                          (missing.size() > 1 ? " is the first)" : ")"));
  for (const RankTrace& trace : job.ranks) {
    const std::string who = "rank " + std::to_string(trace.rank) + ": ";
    if (!trace.closed) job.remarks.push_back(who + "its process was ended, or is still running");
    if (trace.disk_full)
      job.remarks.push_back(who + "the disk was full; the latest events are kept");
    if (trace.lost != 0)
      job.remarks.push_back(who + std::to_string(trace.lost) +
                            " early events were overwritten (GEX_TRACE_BYTES)");
    if (trace.unreadable != 0)
      job.remarks.push_back(who + std::to_string(trace.unreadable) +
                            " records are damaged; left out");
  }
}

}  // namespace

std::optional<Job> read_job(const std::vector<std::string>& paths,
                            const std::vector<std::uint32_t>& wanted, std::string& why, Keep keep) {
  std::uint32_t size = 0;
  const auto files = find_files(paths, wanted, size, why);
  if (!files) return std::nullopt;
  Job job;
  std::set<std::uint32_t> found;
  for (const std::string& file : *files) {
    if (size != 0 && !exists(file)) continue;
    std::string flaw;
    std::optional<RankTrace> trace = read_file(file, flaw, keep);
    if (!trace) {
      job.remarks.push_back(flaw + "; left out");
      continue;
    }
    if (!is_wanted(wanted, trace->rank)) continue;
    if (!job.ranks.empty()) {
      if (const std::string other = other_run(*trace, job.ranks.front()); !other.empty()) {
        job.remarks.push_back(file + ": ");
        job.remarks.back().append(other).append("; left out");
        continue;
      }
    }
    if (!found.insert(trace->rank).second) {
      job.remarks.push_back(file + ": rank " + std::to_string(trace->rank) +
                            " is there already; left out");
      continue;
    }
    job.ranks.push_back(*std::move(trace));
  }
  if (job.ranks.empty()) {
    why = job.remarks.empty() ? "no rank of the job is left" : job.remarks.front();
    return std::nullopt;
  }
  std::sort(job.ranks.begin(), job.ranks.end(),
            [](const RankTrace& one, const RankTrace& other) { return one.rank < other.rank; });
  remark_on(job, wanted);
  return job;
}

}  // namespace gextrace
