#include "filter.h"

#include <fnmatch.h>

#include <algorithm>
#include <map>

#include "base/number_ranges.h"

namespace gextrace {

bool Filter::has_rank(std::uint32_t rank) const {
  return ranks.empty() || std::binary_search(ranks.begin(), ranks.end(), rank);
}

bool Filter::has_name(const std::string& name) const {
  return calls.empty() || std::any_of(calls.begin(), calls.end(), [&](const std::string& pattern) {
           return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
         });
}

bool parse_ranks(const std::string& text, std::vector<std::uint32_t>& ranks) {
  constexpr std::uint32_t limit = 1U << 20;
  const bool is_list = gex::for_each_range(text, [&](std::uint32_t first, std::uint32_t last) {
    if (last >= limit) return false;
    for (std::uint32_t rank = first; rank <= last; ++rank) ranks.push_back(rank);
    return true;
  });
  if (!is_list) return false;
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return true;
}

std::string handler_name(const RankTrace& trace, std::uint16_t what, std::uint8_t detail) {
  const std::uint32_t number = gex::trace::handler_of(what, detail);
  std::string name = trace.name_of(Names::handlers, number);
  // The library's own handlers are those of every endpoint.
  const std::uint32_t index = number & 0xff;
  if (name.empty() && index < gex::trace::first_client_handler)
    name = trace.name_of(Names::handlers, index);
  return name.empty() ? "handler " + std::to_string(index) : name;
}

std::string name_of(const RankTrace& trace, const Span& span) {
  switch (span.kind) {
    case SpanKind::handler:
      return handler_name(trace, span.what, span.detail);
    case SpanKind::wait: {
      const std::string cause = trace.name_of(Names::causes, span.what);
      return cause.empty() ? "wait" : cause;
    }
    case SpanKind::annotation: {
      const std::string given = trace.name_of(Names::annotations, span.what);
      return given.empty() ? "interval" : given;
    }
    case SpanKind::call:
    case SpanKind::questions:
      break;
  }
  const std::string name = trace.name_of(Names::calls, span.what);
  return name.empty() ? "call " + std::to_string(span.what) : name;
}

const char* memory_way_of(const Span& span) {
  return span.kind == SpanKind::call ? gex::name_of(gex::trace::memory_way_of(span.detail))
                                     : nullptr;
}

std::vector<bool> kept(const Filter& filter, const RankTrace& trace, const RankSpans& spans) {
  std::vector<bool> keeps(spans.spans.size());
  if (!filter.has_rank(trace.rank)) return keeps;
  // By kind, number and the bits of a handler's endpoint.
  std::map<std::uint64_t, bool> names;
  for (std::size_t i = 0; i < keeps.size(); ++i) {
    const Span& span = spans.spans[i];
    if (!filter.overlaps(span.begin, span.end)) continue;
    if (filter.calls.empty() || (span.parent != Span::none && keeps[span.parent])) {
      keeps[i] = true;
      continue;
    }
    if (span.kind == SpanKind::wait) continue;
    const std::uint64_t key = std::uint64_t{span.what} << 16 | std::uint64_t{span.detail} << 8 |
                              static_cast<std::uint64_t>(span.kind);
    const auto [at, made] = names.emplace(key, false);
    if (made) at->second = filter.has_name(name_of(trace, span));
    keeps[i] = at->second;
  }
  return keeps;
}

}  // namespace gextrace
