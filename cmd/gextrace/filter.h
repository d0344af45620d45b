#pragma once
// Which part of a trace is looked at.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "spans.h"

namespace gextrace {

struct Filter {
  std::vector<std::uint32_t> ranks;                              ///< rising; empty: all
  std::int64_t from = std::numeric_limits<std::int64_t>::min();  ///< ns
  std::int64_t to = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string> calls;  ///< patterns as of a shell, for calls and handlers; empty: all

  bool has_rank(std::uint32_t rank) const;
  bool has_name(const std::string& name) const;
  bool overlaps(std::int64_t begin, std::int64_t end) const { return begin <= to && end >= from; }
};

/// Reads a list of ranks and ranges of them, "0-3,7"; false if it is not one.
bool parse_ranks(const std::string& text, std::vector<std::uint32_t>& ranks);

/// The title of a span: the name of its call or handler, or what is waited for.
std::string name_of(const RankTrace& trace, const Span& span);

/// "by messages", for example: how a put or a get of a device's memory goes; null: it is the
/// host's.
const char* memory_way_of(const Span& span);
std::string handler_name(const RankTrace& trace, std::uint16_t what, std::uint8_t detail);

/// The spans that a filter keeps, by index: those of the ranks, the time, and with patterns only
/// calls and handlers of these names and what lies within them.
std::vector<bool> kept(const Filter& filter, const RankTrace& trace, const RankSpans& spans);

}  // namespace gextrace
