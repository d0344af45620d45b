#pragma once
// The plan of a team's barriers, by where its members are. Every member comes to an equal plan.
//
// The lowest of the members that share memory leads: it waits for the flags of its neighborhood,
// meets the other leaders by dissemination, and raises a flag that the others watch. So a barrier
// takes log2(neighborhoods) messages of each neighborhood, however many members that has.
//
// All are values, for any number of ranks.

#include <cstdint>
#include <vector>

namespace gex::team {

/// Dissemination: in round k each of `count` participants reports to the one that is 2^k further
/// on.
struct Dissemination {
  std::uint32_t count;

  constexpr unsigned rounds() const noexcept {
    unsigned rounds = 0;
    while ((std::uint64_t{1} << rounds) < count) ++rounds;
    return rounds;
  }
  constexpr std::uint32_t to(std::uint32_t self, unsigned round) const noexcept {
    return static_cast<std::uint32_t>((self + (std::uint64_t{1} << round)) % count);
  }
  constexpr std::uint32_t from(std::uint32_t self, unsigned round) const noexcept {
    return static_cast<std::uint32_t>((self + std::uint64_t{count} - (std::uint64_t{1} << round)) %
                                      count);
  }
};

enum class BarrierShape : std::uint8_t {
  flags,     ///< all members share memory
  leaders,   ///< some do, in several neighborhoods
  messages,  ///< none do, or some are of one process
};

struct BarrierPlan {
  BarrierShape shape = BarrierShape::messages;
  std::vector<std::uint32_t> leaders;  ///< of each neighborhood its lowest member, rising
  std::vector<std::uint32_t> near;     ///< members of the own neighborhood, rising
  std::vector<bool> has_flag;          ///< by member: it shares memory with another one

  /// The plan of a team of `size` members, of which this process is `own`. `process_of(member)`
  /// returns its jobrank, `neighborhood_of(jobrank)` a number below `neighborhoods`.
  template <class ProcessOf, class NeighborhoodOf>
  static BarrierPlan of(std::uint32_t size, std::uint32_t own, std::uint32_t neighborhoods,
                        std::uint32_t processes, ProcessOf process_of,
                        NeighborhoodOf neighborhood_of) {
    BarrierPlan plan;
    std::vector<std::uint32_t> members(neighborhoods);
    std::vector<bool> seen(processes);
    bool apart = true;
    const std::uint32_t here = neighborhood_of(process_of(own));
    for (std::uint32_t member = 0; member < size; ++member) {
      const std::uint32_t process = process_of(member);
      const std::uint32_t neighborhood = neighborhood_of(process);
      apart = apart && !seen[process];
      seen[process] = true;
      if (members[neighborhood]++ == 0) plan.leaders.push_back(member);
      if (neighborhood == here) plan.near.push_back(member);
    }
    plan.has_flag.resize(size);
    if (!apart || plan.leaders.size() == size) return plan;
    plan.shape = plan.leaders.size() == 1 ? BarrierShape::flags : BarrierShape::leaders;
    for (std::uint32_t member = 0; member < size; ++member)
      plan.has_flag[member] = members[neighborhood_of(process_of(member))] > 1;
    return plan;
  }
};

}  // namespace gex::team
