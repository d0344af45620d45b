#include "phases.h"

#include <algorithm>
#include <map>
#include <utility>

namespace gextrace {

namespace {

/// Messages and their bytes.
struct Volume {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  bool operator==(const Volume&) const = default;
};
/// By kind of step and the peer's offset, from 1 to the number of ranks.
using Volumes = std::map<std::pair<Step::Kind, std::uint32_t>, Volume>;

/// One rank's part in a phase.
struct Part {
  double before = 0, beside = 0, after = 0;
  std::uint32_t rounds = 0;
  Volumes volumes;
  std::uint32_t collective = no_collective;

  static constexpr std::uint32_t no_collective = ~0U;
};

std::vector<Part> parts_of(const Programs& programs, std::uint32_t rank) {
  const auto ranks = static_cast<std::uint32_t>(programs.ranks.size());
  std::vector<Part> parts(1);
  bool has_begun = false;  // what is not awaited
  double last = 0;         // computing since the last step that waits
  const auto end_part = [&] {
    (parts.back().volumes.empty() ? parts.back().before : parts.back().after) += last;
    last = 0;
    has_begun = false;
  };
  for (const Step& step : programs.ranks[rank].steps) {
    Part& part = parts.back();
    switch (step.kind) {
      case Step::Kind::compute:
        last += step.ns;
        break;
      case Step::Kind::put:
      case Step::Kind::get:
      case Step::Kind::send: {
        (part.volumes.empty() ? part.before : part.beside) += std::exchange(last, 0);
        const std::uint32_t offset = (step.peer + ranks - rank) % ranks;
        Volume& volume = part.volumes[{step.kind, offset == 0 ? ranks : offset}];
        ++volume.messages;
        volume.bytes += step.bytes;
        has_begun = true;
        break;
      }
      case Step::Kind::await:
      case Step::Kind::handle:
        part.beside += std::exchange(last, 0);
        if (std::exchange(has_begun, false)) ++part.rounds;
        break;
      case Step::Kind::arrive:
        end_part();
        part.collective = step.number;
        parts.emplace_back();
        break;
      case Step::Kind::await_collective:
        break;
    }
  }
  end_part();
  return parts;
}

std::string text_of(Step::Kind kind) {
  return kind == Step::Kind::put ? "puts" : kind == Step::Kind::get ? "gets" : "messages";
}

/// Returns by how much the first exceeds the second; nothing if it lacks something of that.
std::optional<Volumes> difference(const Volumes& one, const Volumes& other) {
  Volumes more = one;
  for (const auto& [key, volume] : other) {
    const auto found = more.find(key);
    if (found == more.end() || found->second.messages < volume.messages ||
        found->second.bytes < volume.bytes)
      return std::nullopt;
    found->second.messages -= volume.messages;
    found->second.bytes -= volume.bytes;
    if (found->second.messages == 0) more.erase(found);
  }
  return more;
}

/// Adds the traffic of one kind; false if its peers are neither all others alike, nor few.
/// `by_all`: not by rank 0 alone.
bool add_traffic(std::vector<Traffic>& traffic, Step::Kind kind, const Volumes& volumes,
                 std::uint32_t ranks, bool by_all) {
  std::vector<std::pair<std::uint32_t, Volume>> others;
  for (const auto& [key, volume] : volumes)
    if (key.first == kind && key.second != ranks) others.emplace_back(key.second, volume);
  if (others.empty()) return true;
  const auto add = [&](std::int64_t offset, const Volume& volume) {
    const auto messages = static_cast<double>(volume.messages);
    traffic.push_back({kind, offset, messages, static_cast<double>(volume.bytes) / messages});
  };
  const bool alike = std::all_of(others.begin(), others.end(), [&](const auto& one) {
    return one.second == others.front().second;
  });
  if (others.size() == ranks - 1 && alike) {
    add(by_all ? Traffic::all : Traffic::with_first, others.front().second);
    return true;
  }
  if (!by_all || others.size() > ranks / 2) return false;
  for (const auto& [offset, volume] : others)
    add(offset > ranks / 2 ? std::int64_t{offset} - ranks : std::int64_t{offset}, volume);
  return true;
}

/// Takes what each rank does with rank 0 out of the volumes of that kind. Nothing if they differ.
std::optional<Volume> take_with_first(std::vector<Volumes>& volumes, Step::Kind kind) {
  const auto ranks = static_cast<std::uint32_t>(volumes.size());
  std::optional<Volume> common;
  for (std::uint32_t rank = 1; rank < ranks; ++rank) {
    const auto found = volumes[rank].find({kind, ranks - rank});
    const Volume one = found != volumes[rank].end() ? found->second : Volume();
    if (common.value_or(one) != one) return std::nullopt;
    common = one;
    if (found != volumes[rank].end()) volumes[rank].erase(found);
  }
  return common;
}

/// The traffic of a phase by its ranks' volumes; false, with the reason, if they are not alike.
/// `is_first_alike`: rank 0 does no more than the others.
bool find_traffic(std::vector<Traffic>& traffic, const std::vector<Volumes>& volumes,
                  bool& is_first_alike, std::string& why) {
  const auto ranks = static_cast<std::uint32_t>(volumes.size());
  for (std::uint32_t rank = 1; rank < ranks; ++rank) {
    if (volumes[rank] == volumes.back()) continue;
    why = "rank " + std::to_string(rank) +
          " sends to other ranks, as far from itself, or other bytes than rank " +
          std::to_string(ranks - 1) + " does";
    return false;
  }
  const std::optional<Volumes> more = difference(volumes.front(), volumes.back());
  for (const Step::Kind kind : {Step::Kind::put, Step::Kind::get, Step::Kind::send}) {
    if (more && add_traffic(traffic, kind, volumes.back(), ranks, true) &&
        add_traffic(traffic, kind, *more, ranks, false))
      continue;
    why = "the peers of " + text_of(kind) + " are neither all others alike nor few";
    return false;
  }
  is_first_alike = more->empty();
  return true;
}

/// As above; what all do with rank 0 may be beside what they do with others.
bool find_traffic_and_of_first(std::vector<Traffic>& traffic, std::vector<Volumes> volumes,
                               bool& is_first_alike, std::string& why) {
  if (find_traffic(traffic, volumes, is_first_alike, why)) return true;
  traffic.clear();
  for (const Step::Kind kind : {Step::Kind::put, Step::Kind::get, Step::Kind::send}) {
    const std::optional<Volume> common = take_with_first(volumes, kind);
    if (!common) return false;
    const auto messages = static_cast<double>(common->messages);
    if (common->messages != 0)
      traffic.push_back(
          {kind, Traffic::with_first, messages, static_cast<double>(common->bytes) / messages});
  }
  std::string other;
  if (!find_traffic(traffic, volumes, is_first_alike, other)) return false;
  is_first_alike = false;
  return true;
}

/// The phase of that number. False, with the reason, if the ranks' parts are not alike.
bool make_phase(Phase& phase, std::uint32_t number, const std::vector<std::vector<Part>>& parts,
                std::string& why) {
  phase.number = number;
  std::vector<Volumes> volumes;
  volumes.reserve(parts.size());
  for (const std::vector<Part>& of_rank : parts) volumes.push_back(of_rank[number].volumes);
  bool is_first_alike = true;
  if (!find_traffic_and_of_first(phase.traffic, volumes, is_first_alike, why)) {
    why += between(number);
    return false;
  }
  for (const std::vector<Part>& of_rank : parts) {
    const Part& part = of_rank[number];
    const bool counts = is_first_alike || &of_rank == &parts.front();
    const double share = !counts ? 0 : is_first_alike ? 1.0 / static_cast<double>(parts.size()) : 1;
    phase.before += part.before * share;
    phase.beside += part.beside * share;
    phase.after += part.after * share;
    phase.rounds = std::max(phase.rounds, static_cast<double>(part.rounds));
  }
  return true;
}

}  // namespace

std::string between(std::uint32_t phase) {
  return " between collective operations " + std::to_string(phase) + " and " +
         std::to_string(phase + 1);
}

bool keep_between(std::vector<Phase>& phases, std::uint32_t first, std::uint32_t last,
                  std::string& why) {
  if (last >= phases.size()) {
    why = "there are " + std::to_string(phases.size() - 1) +
          " collective operations of all ranks, and no number " + std::to_string(last);
    return false;
  }
  phases.erase(phases.begin() + last, phases.end());
  phases.erase(phases.begin(), phases.begin() + first);
  return true;
}

std::optional<std::vector<Phase>> phases_of(const Programs& programs, std::string& why) {
  const auto ranks = static_cast<std::uint32_t>(programs.ranks.size());
  const std::string of_ranks = " (" + std::to_string(ranks) + " ranks)";
  for (const ProgramCollective& collective : programs.collectives) {
    if (collective.members.size() == ranks) continue;
    why = "a collective operation of " + std::to_string(collective.members.size()) +
          " ranks: only those of all ranks can be scaled" + of_ranks;
    return std::nullopt;
  }
  std::vector<std::vector<Part>> parts;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    parts.push_back(parts_of(programs, rank));
    if (parts.back().size() == parts.front().size()) continue;
    why = "rank " + std::to_string(rank) +
          " takes part in other collective operations than rank 0" + of_ranks;
    return std::nullopt;
  }
  std::vector<Phase> phases(parts.front().size());
  for (std::uint32_t number = 0; number < phases.size(); ++number) {
    Phase& phase = phases[number];
    if (!make_phase(phase, number, parts, why)) {
      why += of_ranks;
      return std::nullopt;
    }
    const std::uint32_t collective = parts.front()[number].collective;
    if (collective == Part::no_collective) continue;
    phase.collective = programs.collectives[collective].shape;
    phase.collective_bytes = static_cast<double>(programs.collectives[collective].bytes);
  }
  return phases;
}

}  // namespace gextrace
