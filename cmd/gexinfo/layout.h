#pragma once
// Text in columns and lines of limited width.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "../output.h"

namespace gexinfo {

/// Lines are kept within this where the words allow it.
inline constexpr std::size_t line_width = 96;

using gex::cmd::printable;

/// Prints words from `column` on, where the output stands now, and continues lines there.
void print_wrapped(std::string_view text, std::size_t column);

/// "  label                 value": a fact, its value wrapped.
void print_fact(std::string_view label, std::string_view value);

/// Rows of cells that are printed left-aligned under one another.
class Table {
 public:
  /// Numbers are aligned right.
  void align_right(std::size_t column);
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// The last cell of a row is wrapped.
  void print(std::size_t indent) const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> right_;
};

}  // namespace gexinfo
