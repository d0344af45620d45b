#pragma once
// The ranks' doings as spans of time: calls, handlers and waits, one within another.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "match.h"
#include "read.h"

namespace gextrace {

enum class SpanKind : std::uint8_t { call, handler, wait, questions, annotation };

struct Span {
  static constexpr std::uint32_t none = ~0U;

  SpanKind kind;
  std::uint8_t detail = 0;
  std::uint16_t what = 0;
  std::uint32_t thread = 0;
  std::uint32_t peer = gex::trace::no_peer;
  std::uint32_t parent = none;  ///< index of the span around it
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint64_t bytes = 0;
  std::uint64_t id = 0;         ///< of a call: the event that it returns, or waits for
  std::uint64_t operation = 0;  ///< the number of what it leaves in flight
  std::int64_t handlers = 0;    ///< ns of it in which handlers ran
  std::int64_t waiting = 0;     ///< ns of it in which it waited, and no handler ran
  bool begun_before = false;    ///< its begin was overwritten
  bool unfinished = false;      ///< the rank's trace ends within it
};

/// An operation that its call has left in flight.
struct Operation {
  std::uint32_t call;  ///< index of its span
  std::int64_t end;    ///< when it was complete
};

struct RankSpans {
  std::vector<Span> spans;  ///< in the order of their begins, thread by thread
  std::vector<Operation> operations;
  /// By event, for messages sent, collectives and handlers: the span that it is in, or begins.
  std::vector<std::uint32_t> span_of_event;
  /// By span: of a wait for an event, the span of the call that made it.
  std::vector<std::uint32_t> waited_for;
};

/// Intervals that layers above the interface have named are spans, around those of calls, or are
/// left out.
enum class Annotations : std::uint8_t { shown, left_out };

/// The spans of a rank, whose events are converted.
RankSpans spans_of(const RankTrace& trace, Annotations annotations = Annotations::shown);

/// Returns true if the span is in no call, handler or wait.
bool is_outermost(const RankSpans& spans, const Span& span);

}  // namespace gextrace
