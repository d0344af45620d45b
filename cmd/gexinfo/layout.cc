#include "layout.h"

#include <algorithm>
#include <cstdio>

namespace gexinfo {

namespace {

constexpr std::size_t fact_indent = 2;
constexpr std::size_t fact_column = 24;
constexpr std::size_t column_gap = 2;

void print_blanks(std::size_t count) {
  std::printf("%*s", static_cast<int>(count), "");
}

}  // namespace

void print_wrapped(std::string_view text, std::size_t column) {
  const std::string line = printable(text);
  std::string_view left = line;
  std::size_t at = column;
  while (!left.empty()) {
    const std::size_t blank = left.find(' ');
    const std::string_view word = left.substr(0, blank);
    if (at != column) {
      if (at + 1 + word.size() > line_width) {
        std::putchar('\n');
        print_blanks(column);
        at = column;
      } else {
        std::putchar(' ');
        ++at;
      }
    }
    std::fwrite(word.data(), 1, word.size(), stdout);
    at += word.size();
    left.remove_prefix(blank == left.npos ? left.size() : blank + 1);
  }
  std::putchar('\n');
}

void print_fact(std::string_view label, std::string_view value) {
  print_blanks(fact_indent);
  std::fwrite(label.data(), 1, label.size(), stdout);
  const std::size_t at = fact_indent + label.size();
  print_blanks(at + column_gap <= fact_column ? fact_column - at : column_gap);
  print_wrapped(value, fact_column);
}

void Table::align_right(std::size_t column) {
  if (right_.size() <= column) right_.resize(column + 1, false);
  right_[column] = true;
}

void Table::print(std::size_t indent) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    if (widths.size() < row.size()) widths.resize(row.size(), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows_) {
    print_blanks(indent);
    std::size_t at = indent;
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      const std::size_t blanks = widths[i] - row[i].size();
      const bool right = i < right_.size() && right_[i];
      if (right) print_blanks(blanks);
      const std::string cell = printable(row[i]);
      std::fwrite(cell.data(), 1, cell.size(), stdout);
      print_blanks(column_gap + (right ? 0 : blanks));
      at += widths[i] + column_gap;
    }
    if (row.empty()) continue;
    const std::size_t last = row.size() - 1;
    if (last < right_.size() && right_[last]) {
      print_blanks(widths[last] - row[last].size());
      at += widths[last] - row[last].size();
    }
    print_wrapped(row[last], at);
  }
}

}  // namespace gexinfo
