#include "launch/hang/rank_classes.h"

#include <algorithm>
#include <cctype>
#include <type_traits>
#include <utility>

#include "launch/hang/report_archive.h"
#include "launch/hang/report_words.h"

namespace gex::launch {

namespace {

/// Returns the first wait of a rank if that has a peer.
template <class Report>
auto awaited_of(Report& rank) -> decltype(&*rank.threads.front().wait) {
  for (auto& thread : rank.threads)
    if (thread.wait && thread.wait->peer) return &*thread.wait;
  return nullptr;
}

/// A stack without addresses, which differ between processes.
std::string without_addresses(const std::string& stack) {
  std::string out;
  for (std::size_t at = 0; at < stack.size();) {
    if (stack.compare(at, 2, "0x") != 0) {
      out += stack[at++];
      continue;
    }
    out += "0x";
    at += 2;
    while (at < stack.size() && std::isxdigit(static_cast<unsigned char>(stack[at])) != 0) ++at;
  }
  return out;
}

void clear_numbers_of(OpReport& op, std::uint32_t rank) {
  // Relative to the rank, which is what neighbors have in common.
  if (op.peer) *op.peer -= rank;
  if (op.age_s) op.age_s = 0;
}

/// Returns as bytes the report that the ranks of a class have in common.
std::string key_of(const RankReport& report) {
  RankReport rank = report;
  if (OpReport* const awaited = awaited_of(rank)) awaited->peer = rank.rank;
  for (ThreadReport& thread : rank.threads) {
    thread.kernel_thread = 0;
    if (thread.wait) clear_numbers_of(*thread.wait, rank.rank);
    if (thread.condition_s) thread.condition_s = 0;
    thread.backtrace = without_addresses(thread.backtrace);
  }
  for (OpReport& op : rank.operations) clear_numbers_of(op, rank.rank);
  for (TeamReport& team : rank.teams) team.rank = 0;
  rank.rank = 0;
  rank.process = 0;
  rank.host.clear();
  rank.cpu_s = 0;
  std::vector<RankReport> alone;
  alone.push_back(std::move(rank));
  const std::vector<std::byte> bytes = encode(alone);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The report of another rank that does what this one does.
RankReport report_of(const RankReport& example, std::uint32_t rank) {
  RankReport report = example;
  const std::uint32_t distance = rank - example.rank;
  if (distance == 0) return report;
  report.rank = rank;
  // 0 is a process that there is not.
  if (report.process != 0) report.process = -1;
  report.host.clear();
  const auto move = [distance](OpReport& op) {
    if (op.peer) *op.peer += distance;
  };
  for (ThreadReport& thread : report.threads)
    if (thread.wait) move(*thread.wait);
  for (OpReport& op : report.operations) move(op);
  return report;
}

/// Appends a run behind the last one, or to it; true if to it.
bool append_to(RankRun& last, const RankRun& run) {
  if (last.peer.has_value() != run.peer.has_value() || run.first <= last.last()) return false;
  const std::uint32_t stride = run.first - last.last();
  const std::int32_t peer_stride =
      last.peer ? static_cast<std::int32_t>(
                      *run.peer - (*last.peer +
                                   static_cast<std::uint32_t>(last.peer_stride) * (last.count - 1)))
                : 0;
  const auto fits = [&](const RankRun& one) {
    return one.count == 1 || (one.stride == stride && one.peer_stride == peer_stride);
  };
  if (!fits(last) || !fits(run)) return false;
  last.stride = stride;
  last.peer_stride = peer_stride;
  last.count += run.count;
  return true;
}

std::vector<RankRun> joined(std::vector<RankRun> runs) {
  std::sort(runs.begin(), runs.end(),
            [](const RankRun& a, const RankRun& b) { return a.first < b.first; });
  std::vector<RankRun> out;
  for (const RankRun& run : runs)
    if (out.empty() || !append_to(out.back(), run)) out.push_back(run);
  if (out.size() > RankClasses::max_runs) out.resize(RankClasses::max_runs);
  return out;
}

/// Adds a rank, but does not join its run to others.
void add(RankClass& to, const RankReport& rank) {
  RankRun run;
  run.first = rank.rank;
  if (const OpReport* const awaited = awaited_of(rank)) run.peer = awaited->peer;
  to.runs.push_back(run);
  to.min_cpu_s = to.ranks == 0 ? rank.cpu_s : std::min(to.min_cpu_s, rank.cpu_s);
  to.max_cpu_s = std::max(to.max_cpu_s, rank.cpu_s);
  for (const ThreadReport& thread : rank.threads) {
    if (thread.wait) to.max_age_s = std::max(to.max_age_s, thread.wait->age_s.value_or(0));
    to.max_age_s = std::max(to.max_age_s, thread.condition_s.value_or(0));
  }
  if (to.ranks == 0 || rank.rank < to.example.rank) to.example = rank;
  ++to.ranks;
}

/// Takes up another part of a class, but for its runs.
void add(RankClass& to, const RankClass& part) {
  to.ranks += part.ranks;
  to.min_cpu_s = std::min(to.min_cpu_s, part.min_cpu_s);
  to.max_cpu_s = std::max(to.max_cpu_s, part.max_cpu_s);
  to.max_age_s = std::max(to.max_age_s, part.max_age_s);
  to.runs.insert(to.runs.end(), part.runs.begin(), part.runs.end());
  if (part.example.rank < to.example.rank) to.example = part.example;
}

/// Leaves out the classes of the fewest ranks if they are too many.
void limit(RankClasses& classes) {
  if (classes.by_key.size() <= RankClasses::max_classes) return;
  std::vector<std::pair<std::uint64_t, std::string>> by_ranks;
  for (const auto& [key, one] : classes.by_key) by_ranks.emplace_back(one.ranks, key);
  std::sort(by_ranks.begin(), by_ranks.end());
  by_ranks.resize(by_ranks.size() - RankClasses::max_classes);
  for (const auto& [ranks, key] : by_ranks) {
    classes.left_out += ranks;
    classes.by_key.erase(key);
  }
}

}  // namespace

RankClasses classes_of(const std::vector<RankReport>& ranks) {
  RankClasses made;
  for (const RankReport& rank : ranks) add(made.by_key[key_of(rank)], rank);
  for (auto& [key, one] : made.by_key) one.runs = joined(std::move(one.runs));
  limit(made);
  return made;
}

RankClasses merge(RankClasses one, const RankClasses& other) {
  one.left_out += other.left_out;
  for (const auto& [key, part] : other.by_key) {
    const auto [at, is_new] = one.by_key.try_emplace(key);
    if (is_new) {
      at->second = part;
      continue;
    }
    add(at->second, part);
    at->second.runs = joined(std::move(at->second.runs));
  }
  limit(one);
  return one;
}

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, RankRun>
void visit(Archive& archive, T& run) {
  archive.field(run.first);
  archive.field(run.count);
  archive.field(run.stride);
  archive.field(run.peer);
  archive.field(run.peer_stride);
}

template <class Archive, class T>
requires std::is_same_v<std::remove_const_t<T>, RankClass>
void visit(Archive& archive, T& one) {
  visit(archive, one.example);
  archive.field(one.runs);
  archive.field(one.ranks);
  archive.field(one.min_cpu_s);
  archive.field(one.max_cpu_s);
  archive.field(one.max_age_s);
}

std::vector<std::byte> encode(const RankClasses& classes) {
  ReportWriter writer;
  std::vector<RankClass> all;
  for (const auto& [key, one] : classes.by_key) all.push_back(one);
  writer.field(all);
  writer.field(classes.left_out);
  return writer.take();
}

std::optional<RankClasses> decode_classes(std::span<const std::byte> bytes) {
  ReportReader reader(bytes);
  std::vector<RankClass> all;
  RankClasses classes;
  reader.field(all);
  reader.field(classes.left_out);
  if (reader.failed() || !reader.at_end()) return std::nullopt;
  for (RankClass& one : all) {
    const bool valid = std::ranges::all_of(one.runs, [](const RankRun& run) {
      return run.count > 0 && run.first + std::uint64_t{run.count - 1} * run.stride <= UINT32_MAX;
    });
    if (!valid) return std::nullopt;
    std::string key = key_of(one.example);
    classes.by_key.insert_or_assign(std::move(key), std::move(one));
  }
  return classes;
}

std::vector<RankReport> reports_of(const RankClasses& classes, std::uint32_t ranks) {
  std::vector<RankReport> made;
  for (const auto& [key, one] : classes.by_key) {
    for (const RankRun& run : one.runs) {
      for (std::uint32_t i = 0; i < run.count && made.size() < ranks; ++i) {
        const std::uint32_t rank = run.first + i * run.stride;
        if (rank >= ranks) break;
        made.push_back(report_of(one.example, rank));
        OpReport* const awaited = awaited_of(made.back());
        if (awaited != nullptr && run.peer)
          awaited->peer = *run.peer + i * static_cast<std::uint32_t>(run.peer_stride);
      }
    }
  }
  std::ranges::sort(made, {}, &RankReport::rank);
  const auto same_rank = [](const RankReport& a, const RankReport& b) { return a.rank == b.rank; };
  made.erase(std::unique(made.begin(), made.end(), same_rank), made.end());
  return made;
}

std::string list_of(const RankClass& one, std::size_t max_runs) {
  std::string out;
  std::uint64_t listed = 0;
  for (std::size_t i = 0; i < std::min(max_runs, one.runs.size()); ++i) {
    const RankRun& run = one.runs[i];
    if (i != 0) out += ", ";
    out += std::to_string(run.first);
    if (run.count == 2 && run.stride != 1)
      out += ", " + std::to_string(run.last());
    else if (run.count > 1)
      out += "-" + std::to_string(run.last());
    if (run.count > 2 && run.stride > 1) out += text_of(" by %u", run.stride);
    listed += run.count;
  }
  if (listed != one.ranks)
    out += text_of(" and %llu more", static_cast<unsigned long long>(one.ranks - listed));
  return out;
}

}  // namespace gex::launch
