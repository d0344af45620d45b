#include "supernode.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace sparse {
namespace {

/// One column of the factor.
struct Column {
  std::vector<int> rows;  ///< Below the diagonal, if the column is the last of its supernode.
  long count = 0;         ///< The number of those rows.
  int subtree = 1;        ///< Columns of the subtree of the elimination tree that ends here.
  std::vector<int> children;
  bool is_last = true;  ///< The last of its supernode.
  // The part of its supernode up to here.
  long width = 1;
  long zeros = 0;  ///< Entries that are stored for the sake of fewer supernodes.
};

/// Adds rows of a child of `column`, which is one of them.
void merge(std::vector<int>& rows, const std::vector<int>& more, int column) {
  std::vector<int> merged;
  merged.reserve(rows.size() + more.size());
  std::set_union(rows.begin(), rows.end(), std::upper_bound(more.begin(), more.end(), column),
                 more.end(), std::back_inserter(merged));
  rows = std::move(merged);
}

/// True if `column` goes on with the supernode of the child before it: that adds few zeros.
bool is_chained(const Column& column, const Column& child, double zeros) {
  const long more = child.zeros + child.width * (column.count + 1 - child.count);
  const long width = child.width + 1;
  return double(more) <= zeros * double(width * (width + 2 * column.count)) / 2;
}

/// Finds the rows of column `j` from the matrix and its children, and which of those end a
/// supernode.
void join_children(std::vector<Column>& columns, int j, const Analysis& how) {
  Column& column = columns[std::size_t(j)];
  for (const int c : column.children) {
    merge(column.rows, columns[std::size_t(c)].rows, j);
    column.subtree += columns[std::size_t(c)].subtree;
  }
  column.count = long(column.rows.size());
  if (column.subtree <= how.relaxed) column.width = column.subtree;
  int first = j + 1 - column.subtree;
  for (const int c : column.children) {
    Column& child = columns[std::size_t(c)];
    first += child.subtree;
    if (first != c + 1) throw std::invalid_argument("columns of a subtree are not consecutive");
    if (column.subtree <= how.relaxed) {
      child.is_last = false;
    } else if (c == j - 1 && is_chained(column, child, how.zeros)) {
      child.is_last = false;
      column.zeros = child.zeros + child.width * (column.count + 1 - child.count);
      column.width = child.width + 1;
    }
    if (!child.is_last) child.rows = {};
  }
  if (!column.rows.empty()) columns[std::size_t(column.rows.front())].children.push_back(j);
}

/// Cuts a supernode into pieces of nearly equal width.
void split(const Supernode& whole, int widest, std::vector<Supernode>& pieces) {
  const int count = widest > 0 ? (whole.width() + widest - 1) / widest : 1;
  for (int i = 0; i < count; ++i) {
    const auto cut = [&](int k) { return whole.begin + int(long(whole.width()) * k / count); };
    Supernode piece{cut(i), cut(i + 1), {}, -1};
    for (int row = piece.end; row < whole.end; ++row) piece.rows.push_back(row);
    piece.rows.insert(piece.rows.end(), whole.rows.begin(), whole.rows.end());
    pieces.push_back(std::move(piece));
  }
}

}  // namespace

std::vector<Supernode> analyze(const Matrix& matrix, const Analysis& how) {
  std::vector<Column> columns(std::size_t(matrix.order()));
  std::vector<Supernode> supernodes;
  for (int j = 0; j < matrix.order(); ++j) {
    const auto begin = matrix.rows.begin() + matrix.begins[std::size_t(j)];
    const auto end = matrix.rows.begin() + matrix.begins[std::size_t(j) + 1];
    columns[std::size_t(j)].rows.assign(begin + 1, end);
    join_children(columns, j, how);
  }
  int begin = 0;
  for (int j = 0; j < matrix.order(); ++j) {
    Column& column = columns[std::size_t(j)];
    if (!column.is_last) continue;
    split({begin, j + 1, std::move(column.rows), -1}, how.widest, supernodes);
    begin = j + 1;
  }
  const std::vector<int> of = supernode_of_columns(supernodes);
  for (Supernode& supernode : supernodes) {
    if (!supernode.rows.empty()) supernode.parent = of[std::size_t(supernode.rows.front())];
  }
  return supernodes;
}

std::vector<int> supernode_of_columns(const std::vector<Supernode>& supernodes) {
  std::vector<int> of;
  for (std::size_t k = 0; k < supernodes.size(); ++k) {
    of.resize(std::size_t(supernodes[k].end), int(k));
  }
  return of;
}

}  // namespace sparse
