#include "tree.h"

#include <cmath>

namespace extend_add {
namespace {

/// The places of a supernode's rows in its parent's front: both are in ascending order.
std::vector<int> places(const sparse::Supernode& child, const sparse::Supernode& parent) {
  std::vector<int> found;
  int at = 0;
  for (const int row : child.rows) {
    while (parent.row(at) != row) ++at;
    found.push_back(at);
  }
  return found;
}

/// A share of the ranks, as real numbers: a share of less than a rank is on one, and neighbors may
/// have a rank in common.
struct Share {
  double begin;
  double end;
};

/// `first` to `last` are the ranks to choose from.
void place_on(Front& front, const Share& share, int first, int last, int block) {
  // Sums of shares are wrong by rounding.
  constexpr double least = 1e-6;
  front.first_rank = std::clamp(int(share.begin + least), first, last);
  const int behind = std::clamp(int(std::ceil(share.end - least)), first + 1, last + 1);
  front.rank_count = std::max(behind - front.first_rank, 1);
  const int side = int(std::sqrt(front.rank_count));
  front.rows = {block, side};
  front.columns = {block, front.rank_count / side};
}

}  // namespace

Tree make_tree(const std::vector<sparse::Supernode>& supernodes, int ranks, int block) {
  Tree tree;
  std::vector<double> work;
  for (const sparse::Supernode& supernode : supernodes) {
    Front front{supernode.order(), supernode.width(), supernode.parent, {}, {}, 0, 1, {}, {}};
    if (front.parent >= 0) front.place = places(supernode, supernodes[std::size_t(front.parent)]);
    tree.push_back(std::move(front));
    work.push_back(double(supernode.order()) * supernode.order());
  }
  double all = 0;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (tree[i].parent < 0) {
      all += work[i];
      continue;
    }
    tree[std::size_t(tree[i].parent)].children.push_back(int(i));
    work[std::size_t(tree[i].parent)] += work[i];
  }
  std::vector<Share> shares(tree.size());
  double next_root = 0;
  for (std::size_t i = tree.size(); i-- > 0;) {
    if (tree[i].parent < 0) {
      shares[i] = {next_root, next_root + ranks * work[i] / all};
      next_root = shares[i].end;
      place_on(tree[i], shares[i], 0, ranks - 1, block);
    } else {
      const Front& parent = tree[std::size_t(tree[i].parent)];
      place_on(tree[i], shares[i], parent.first_rank, parent.first_rank + parent.rank_count - 1,
               block);
    }
    double of_children = 0;
    for (const int child : tree[i].children) of_children += work[std::size_t(child)];
    double begin = shares[i].begin;
    for (const int child : tree[i].children) {
      const double width =
          (shares[i].end - shares[i].begin) * work[std::size_t(child)] / of_children;
      shares[std::size_t(child)] = {begin, begin + width};
      begin += width;
    }
  }
  return tree;
}

}  // namespace extend_add
