#include "coll/plan.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace gex::coll {

namespace {

/// Calls `child(vertex)` for the children of a vertex of a binomial tree, nearest first.
template <class Child>
void for_each_child(std::uint32_t vertex, std::uint32_t size, Child child) {
  const std::uint64_t reach = vertex == 0 ? size : vertex & -vertex;
  for (std::uint64_t step = 1; step < reach && vertex + step < size; step *= 2)
    child(static_cast<std::uint32_t>(vertex + step));
}
constexpr std::uint32_t parent_of(std::uint32_t vertex) noexcept {
  return vertex & (vertex - 1);
}

/// A member's place in the two trees that are grown from a root.
struct Tree {
  const Groups& groups;
  Trees trees;
  gex_Rank_t root;
  std::uint32_t root_group;
  std::uint32_t root_position;

  Tree(const Groups& of, gex_Rank_t top, Trees which)
      : groups(of),
        trees(which),
        root(top),
        root_group(of.group_of(top)),
        root_position(of.position_of(top)) {}

  /// Returns true if a member has a place in them.
  bool has(gex_Rank_t rank) const { return trees == Trees::both || member_vertex(rank) == 0; }

  /// The member of a group through which it is reached.
  gex_Rank_t leader(std::uint32_t group) const { return leader_of(groups, group, root); }
  std::uint32_t first_position(std::uint32_t group) const {
    return group == root_group ? root_position : 0;
  }

  /// The member at a vertex of a group's tree, and the group at a vertex of the tree of groups.
  gex_Rank_t member_at(std::uint32_t group, std::uint32_t vertex) const {
    const Groups::Members members = groups.members(group);
    return members[(first_position(group) + vertex) % members.size()];
  }
  std::uint32_t group_at(std::uint32_t vertex) const {
    return (root_group + vertex) % groups.count();
  }
  std::uint32_t member_vertex(gex_Rank_t rank) const {
    const std::uint32_t group = groups.group_of(rank);
    const std::uint32_t size = groups.members(group).size();
    return (groups.position_of(rank) + size - first_position(group)) % size;
  }
  std::uint32_t group_vertex(gex_Rank_t rank) const {
    return (groups.group_of(rank) + groups.count() - root_group) % groups.count();
  }
};

/// Adds the children in the own group.
void add_children_in_group(std::vector<gex_Rank_t>& to, const Tree& tree, gex_Rank_t me) {
  if (tree.trees == Trees::between) return;
  const std::uint32_t group = tree.groups.group_of(me);
  for_each_child(tree.member_vertex(me), tree.groups.members(group).size(),
                 [&](std::uint32_t child) { to.push_back(tree.member_at(group, child)); });
}

/// Adds all children.
void add_children(std::vector<gex_Rank_t>& to, const Tree& tree, gex_Rank_t me) {
  add_children_in_group(to, tree, me);
  if (tree.member_vertex(me) != 0) return;
  for_each_child(tree.group_vertex(me), tree.groups.count(),
                 [&](std::uint32_t child) { to.push_back(tree.leader(tree.group_at(child))); });
}

gex_Rank_t parent(const Tree& tree, gex_Rank_t me) {
  if (const std::uint32_t vertex = tree.member_vertex(me); vertex != 0)
    return tree.member_at(tree.groups.group_of(me), parent_of(vertex));
  const std::uint32_t vertex = tree.group_vertex(me);
  return vertex == 0 ? GEX_RANK_INVALID : tree.leader(tree.group_at(parent_of(vertex)));
}

/// The largest subtree first: it takes longest.
void add_receivers(Plan& plan, const Tree& tree, gex_Rank_t me) {
  const auto before = static_cast<std::ptrdiff_t>(plan.receivers.size());
  add_children(plan.receivers, tree, me);
  std::reverse(plan.receivers.begin() + before, plan.receivers.end());
}

/// All ranks as one group.
Groups one_group(gex_Rank_t size) {
  return Groups(std::vector<std::uint32_t>(size, 0));
}

/// Calls `make(groups)` with groups in which the order of ranks is kept if it must be.
template <class Make>
void in_order(const Groups& groups, bool ordered, Make make) {
  if (ordered && !groups.in_rank_order())
    make(one_group(groups.size()));
  else
    make(groups);
}

}  // namespace

Groups::Groups(const std::vector<std::uint32_t>& neighborhood_of) {
  const auto size = static_cast<gex_Rank_t>(neighborhood_of.size());
  std::unordered_map<std::uint32_t, std::uint32_t> group_of_neighborhood;
  std::vector<std::uint32_t> groups(size);
  std::vector<std::uint32_t> sizes;
  bool are_runs = true;
  for (gex_Rank_t rank = 0; rank < size; ++rank) {
    const auto [found, added] = group_of_neighborhood.emplace(
        neighborhood_of[rank], static_cast<std::uint32_t>(sizes.size()));
    if (added) sizes.push_back(0);
    groups[rank] = found->second;
    ++sizes[found->second];
    // A group that goes on after another has begun.
    are_runs = are_runs && found->second + 1 == sizes.size();
  }
  begins_.reserve(sizes.size() + 1);
  begins_.push_back(0);
  for (const std::uint32_t members : sizes) begins_.push_back(begins_.back() + members);
  if (are_runs) return;
  ranks_.resize(size);
  std::vector<gex_Rank_t> next(begins_.begin(), begins_.end() - 1);
  for (gex_Rank_t rank = 0; rank < size; ++rank) ranks_[next[groups[rank]]++] = rank;
  group_of_ = std::move(groups);
}

std::uint32_t Groups::group_of(gex_Rank_t rank) const noexcept {
  if (!in_rank_order()) return group_of_[rank];
  const auto behind = std::upper_bound(begins_.begin(), begins_.end(), rank);
  return static_cast<std::uint32_t>(behind - begins_.begin() - 1);
}

std::uint32_t Groups::position_of(gex_Rank_t rank) const noexcept {
  const std::uint32_t group = group_of(rank);
  if (in_rank_order()) return rank - begins_[group];
  const auto begin = ranks_.begin() + begins_[group];
  return static_cast<std::uint32_t>(
      std::lower_bound(begin, ranks_.begin() + begins_[group + 1], rank) - begin);
}

std::size_t Groups::bytes() const noexcept {
  return (begins_.capacity() + ranks_.capacity() + group_of_.capacity()) * sizeof begins_[0];
}

void Plan::clear() noexcept {
  contributors.clear();
  rounds.clear();
  receivers.clear();
  collector = result_sender = GEX_RANK_INVALID;
  collector_gets_result = makes_result = false;
}

void plan_broadcast(Plan& plan, const Groups& groups, gex_Rank_t root, gex_Rank_t me, Trees trees) {
  plan.clear();
  const Tree tree(groups, root, trees);
  if (!tree.has(me)) return;
  plan.result_sender = parent(tree, me);
  add_receivers(plan, tree, me);
}

void plan_reduce_to_one(Plan& plan, const Groups& groups, gex_Rank_t root, gex_Rank_t me,
                        bool ordered, Trees trees) {
  plan.clear();
  in_order(groups, ordered, [&](const Groups& grouped) {
    const gex_Rank_t top = ordered ? 0 : root;
    const Tree tree(grouped, top, trees);
    if (tree.has(me)) {
      add_children(plan.contributors, tree, me);
      plan.collector = parent(tree, me);
    }
    if (top == root) {
      plan.makes_result = me == root;
      return;
    }
    // In the order of ranks it is rank 0 that has the result, and sends it to the root.
    if (me == top) {
      plan.collector = root;
      plan.collector_gets_result = true;
    }
    if (me == root) plan.result_sender = top;
  });
}

void plan_reduce_to_all(Plan& plan, const Groups& groups, gex_Rank_t me, bool ordered,
                        Trees trees) {
  plan.clear();
  in_order(groups, ordered, [&](const Groups& grouped) {
    const Tree tree(grouped, 0, trees);
    if (!tree.has(me)) return;
    add_children(plan.contributors, tree, me);
    plan.collector = plan.result_sender = parent(tree, me);
    plan.makes_result = plan.collector == GEX_RANK_INVALID;
    add_receivers(plan, tree, me);
  });
}

void plan_quick_reduce_to_all(Plan& plan, const Groups& groups, gex_Rank_t me, bool ordered,
                              Trees trees) {
  if (ordered && !groups.in_rank_order()) {
    // Each rank its own group.
    std::vector<std::uint32_t> apart(groups.size());
    for (gex_Rank_t rank = 0; rank < groups.size(); ++rank) apart[rank] = rank;
    plan_quick_reduce_to_all(plan, Groups(apart), me, ordered, trees);
    return;
  }
  plan.clear();
  const Tree tree(groups, 0, trees);
  if (!tree.has(me)) return;
  add_children_in_group(plan.contributors, tree, me);
  if (tree.member_vertex(me) != 0) {
    plan.collector = plan.result_sender = parent(tree, me);
    add_children_in_group(plan.receivers, tree, me);
    return;
  }
  // The groups take part through their first members.
  const FoldedGroups folded(groups.count());
  const std::uint32_t group = groups.group_of(me);
  const auto first = [&](std::uint32_t of) { return groups.members(of)[0]; };
  plan.makes_result = true;
  if (folded.is_paired(group)) {
    if (group % 2 == 1) {
      plan.collector = plan.result_sender = first(group - 1);
      plan.makes_result = false;
      add_children_in_group(plan.receivers, tree, me);
      return;
    }
    plan.contributors.push_back(first(group + 1));
    plan.receivers.push_back(first(group + 1));
  }
  add_children_in_group(plan.receivers, tree, me);
  const std::uint32_t index = folded.index_of(group);
  for (std::uint32_t distance = 1; distance < folded.count; distance *= 2) {
    const std::uint32_t partner = index ^ distance;
    plan.rounds.push_back({first(folded.group_at(partner)), partner < index});
  }
}

}  // namespace gex::coll
