#include "launch/hang/rank_classes.h"

#include <algorithm>
#include <cctype>
#include <type_traits>
#include <utility>

#include "launch/hang/report_archive.h"

namespace gex::launch {

namespace {

/// Returns the first wait of a rank that has a peer.
template <class Report>
auto first_awaited(Report& rank) noexcept -> decltype(&*rank.threads.front().wait) {
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
  if (OpReport* const awaited = first_awaited(rank)) awaited->peer = rank.rank;
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

/// The class of one rank.
RankClass class_of(const RankReport& rank) {
  RankClass made;
  made.example = rank;
  made.members = only(rank.rank);
  if (const OpReport* const awaited = awaited_of(rank))
    made.members.runs.front().peer = awaited->peer;
  made.min_cpu_s = made.max_cpu_s = rank.cpu_s;
  for (const ThreadReport& thread : rank.threads) {
    if (thread.wait) made.max_age_s = std::max(made.max_age_s, thread.wait->age_s.value_or(0));
    made.max_age_s = std::max(made.max_age_s, thread.condition_s.value_or(0));
  }
  return made;
}

/// Adds another part of a class, but does not join its runs to others.
void add(RankClass& to, const RankClass& part) {
  if (to.members.empty()) {
    to = part;
    return;
  }
  to.min_cpu_s = std::min(to.min_cpu_s, part.min_cpu_s);
  to.max_cpu_s = std::max(to.max_cpu_s, part.max_cpu_s);
  to.max_age_s = std::max(to.max_age_s, part.max_age_s);
  to.members.count += part.members.count;
  to.members.runs.insert(to.members.runs.end(), part.members.runs.begin(), part.members.runs.end());
  if (part.example.rank < to.example.rank) to.example = part.example;
}

/// Joins runs. Those that are left out still count.
void join_runs(RankClass& one) {
  const std::uint64_t count = one.members.count;
  one.members = joined(std::move(one.members.runs));
  one.members.count = count;
}

/// Leaves out the classes of the fewest ranks if they are too many, and runs beyond their part.
void limit(RankClasses& classes) {
  std::vector<std::pair<std::uint64_t, const std::string*>> by_ranks;
  for (const auto& [key, one] : classes.by_key) by_ranks.emplace_back(one.members.count, &key);
  std::ranges::sort(by_ranks, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : *a.second < *b.second;
  });
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < by_ranks.size(); ++i) {
    const auto& [ranks, key] = by_ranks[i];
    // An example is as long as its key, but for names of hosts.
    bytes += key->size();
    if (i == 0 || (i < RankClasses::max_classes && bytes <= RankClasses::max_example_bytes))
      continue;
    classes.left_out += ranks;
    classes.by_key.erase(classes.by_key.find(*key));
  }
  for (auto& [key, one] : classes.by_key) {
    const std::size_t runs = RankClasses::max_runs / classes.by_key.size();
    if (one.members.runs.size() > runs) one.members.runs.resize(runs);
  }
}

}  // namespace

const OpReport* awaited_of(const RankReport& rank) noexcept {
  return first_awaited(rank);
}

RankClasses classes_of(const std::vector<RankReport>& ranks) {
  RankClasses made;
  for (const RankReport& rank : ranks) add(made.by_key[key_of(rank)], class_of(rank));
  for (auto& [key, one] : made.by_key) join_runs(one);
  limit(made);
  return made;
}

RankClasses each_alone(const std::vector<RankReport>& ranks) {
  RankClasses made;
  for (const RankReport& rank : ranks)
    made.by_key.insert_or_assign(std::to_string(rank.rank), class_of(rank));
  return made;
}

RankClasses alike(const std::vector<RankClass>& classes) {
  RankClasses made;
  for (const RankClass& one : classes) add(made.by_key[key_of(one.example)], one);
  for (auto& [key, one] : made.by_key) join_runs(one);
  return made;
}

RankClasses merge(RankClasses one, const RankClasses& other) {
  one.left_out += other.left_out;
  for (const auto& [key, part] : other.by_key) {
    RankClass& to = one.by_key[key];
    const bool is_new = to.members.empty();
    add(to, part);
    if (!is_new) join_runs(to);
  }
  limit(one);
  return one;
}

std::uint64_t ranks_in(const RankClasses& classes) {
  std::uint64_t ranks = classes.left_out;
  for (const auto& [key, one] : classes.by_key) ranks += one.members.count;
  return ranks;
}

std::vector<RankClass> by_rank(const RankClasses& classes) {
  std::vector<RankClass> all;
  for (const auto& [key, one] : classes.by_key) all.push_back(one);
  std::ranges::sort(all, {}, [](const RankClass& one) { return one.example.rank; });
  return all;
}

RankClasses completed(RankClasses classes, const RankClasses& earlier) {
  if (ranks_in(classes) >= ranks_in(earlier)) return classes;
  std::vector<RankRun> known;
  for (const auto& [key, one] : classes.by_key)
    known.insert(known.end(), one.members.runs.begin(), one.members.runs.end());
  for (const auto& [key, one] : earlier.by_key) {
    RankClass missing = one;
    missing.members = joined(without(one.members.runs, known));
    if (missing.members.empty()) continue;
    RankClass& to = classes.by_key[key];
    add(to, missing);
    join_runs(to);
  }
  return classes;
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
  archive.field(one.members.runs);
  archive.field(one.members.count);
  archive.field(one.min_cpu_s);
  archive.field(one.max_cpu_s);
  archive.field(one.max_age_s);
}

/// Returns true if numbers, the last behind the first by a distance, are those of ranks.
bool is_in_range(std::int64_t first, std::int64_t distance) noexcept {
  constexpr std::int64_t max = UINT32_MAX;
  return first >= 0 && first <= max && first + distance >= 0 && first + distance <= max;
}

/// Returns true if the runs of a class that comes from another process have such ranks and peers.
bool is_valid(const RankClass& one) noexcept {
  const OpReport* const awaited = awaited_of(one.example);
  std::vector<std::int64_t> distances;
  const auto add = [&](const OpReport& op) {
    if (op.peer && &op != awaited)
      distances.push_back(std::int64_t{*op.peer} - std::int64_t{one.example.rank});
  };
  for (const ThreadReport& thread : one.example.threads)
    if (thread.wait) add(*thread.wait);
  for (const OpReport& op : one.example.operations) add(op);
  return !one.members.runs.empty() &&
         std::ranges::all_of(one.members.runs, [&](const RankRun& run) {
           const std::int64_t behind_first = std::int64_t{run.count} - 1;
           const auto length = behind_first * run.stride;
           return run.count > 0 && run.stride > 0 && run.count - 1 <= UINT32_MAX / run.stride &&
                  is_in_range(run.first, length) && run.peer.has_value() == (awaited != nullptr) &&
                  (!run.peer || is_in_range(*run.peer, behind_first * run.peer_stride)) &&
                  std::ranges::all_of(distances, [&](std::int64_t distance) {
                    return is_in_range(run.first + distance, length);
                  });
         });
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
    if (!is_valid(one)) return std::nullopt;
    one.members.count = std::max(one.members.count, one.members.listed());
    join_runs(one);
    std::string key = key_of(one.example);
    classes.by_key.insert_or_assign(std::move(key), std::move(one));
  }
  return classes;
}

}  // namespace gex::launch
