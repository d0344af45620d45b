#include "summary.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace gextrace {

namespace {

using gex::trace::Collective;

void add(Tally& tally, std::int64_t ns, std::uint64_t bytes) {
  ++tally.count;
  tally.ns += ns;
  tally.bytes += bytes;
}

class Adder {
 public:
  Adder(const RankTrace& trace, const RankSpans& spans, const std::vector<bool>& kept,
        const Filter& filter, Summary& summary)
      : trace_(trace), spans_(spans), kept_(kept), filter_(filter), summary_(summary) {}

  void run() {
    RankSummary rank;
    rank.rank = trace_.rank;
    rank.host = trace_.host;
    rank.process = trace_.process;
    rank.closed = trace_.closed;
    rank.events = trace_.events.size();
    rank.lost = trace_.lost;
    if (!trace_.events.empty()) rank.begin = rank.end = trace_.events.front().at;
    for (const Event& event : trace_.events) {
      rank.begin = std::min(rank.begin, event.at);
      rank.end = std::max(rank.end, event.at);
      add_event(event);
    }
    for (std::uint32_t i = 0; i < kept_.size(); ++i)
      if (kept_[i]) add_span(i, rank);
    summary_.ranks.push_back(rank);
  }

 private:
  void add_event(const Event& event) {
    if (!filter_.overlaps(event.at, event.at)) return;
    if (event.kind == Kind::collective) {
      const bool barrier = event.detail == static_cast<std::uint8_t>(Collective::barrier);
      ++(barrier ? summary_.barriers : summary_.collectives);
    }
    if (event.kind != Kind::message_sent) return;
    PairSummary& pair = summary_.pairs[{trace_.rank, event.peer}];
    const bool own = (event.what & 0xff) < gex::trace::first_client_handler;
    add(own ? pair.own_messages : pair.messages, 0, event.bytes);
  }

  void add_span(std::uint32_t index, RankSummary& rank) {
    const Span& span = spans_.spans[index];
    const std::int64_t length = span.end - span.begin;
    switch (span.kind) {
      case SpanKind::call:
        if (is_outermost(spans_, span)) rank.calls += length;
        add_call(span, length);
        break;
      case SpanKind::handler: {
        rank.handlers += length;
        const bool own = (span.what & 0xff) < gex::trace::first_client_handler;
        add((own ? summary_.own_handlers : summary_.handlers)[name(span)], length, span.bytes);
        break;
      }
      case SpanKind::wait:
        rank.waiting += length - span.handlers;
        add(summary_.waits[{name(span), waited_for(span)}], length - span.handlers, 0);
        break;
      case SpanKind::annotation:
        add(summary_.intervals[name(span)], length, 0);
        break;
      case SpanKind::questions:
        rank.questions.count += span.bytes;
        rank.questions.ns += length;
        break;
    }
  }

  void add_call(const Span& span, std::int64_t length) {
    const char* const way = memory_way_of(span);
    CallSummary& call =
        summary_.calls[way == nullptr ? name(span) : name(span) + ", device memory " + way];
    if (call.kind.empty()) call.kind = trace_.name_of(Names::classes, span.what);
    const bool refused = (span.detail & gex::trace::refused) != 0;
    if (refused) ++call.refused;
    add(call.all, length, refused ? 0 : span.bytes);
    call.waiting += span.waiting;
    if (span.peer == gex::trace::no_peer) return;
    add(call.peers[span.peer], length, refused ? 0 : span.bytes);
    if (refused) return;
    if (call.kind == "put")
      add(summary_.pairs[{trace_.rank, span.peer}].puts, length, span.bytes);
    else if (call.kind == "get")
      add(summary_.pairs[{span.peer, trace_.rank}].gets, length, span.bytes);
    else if (call.kind == "atomic")
      add(summary_.pairs[{trace_.rank, span.peer}].atomics, length, span.bytes);
  }

  /// The call that made the operation of a wait, where that is known; else the one that waits.
  std::string waited_for(const Span& wait) const {
    if (wait.parent == Span::none) return "";
    const std::uint32_t made = spans_.waited_for[wait.parent];
    return name(spans_.spans[made != Span::none ? made : wait.parent]);
  }

  std::string name(const Span& span) const { return name_of(trace_, span); }

  const RankTrace& trace_;
  const RankSpans& spans_;
  const std::vector<bool>& kept_;
  const Filter& filter_;
  Summary& summary_;
};

/// The arrivals of the members of a team at one operation.
struct Arrivals {
  std::uint32_t count = 0;
  std::uint32_t last_rank = 0;
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  std::int64_t last_but_one = std::numeric_limits<std::int64_t>::min();

  void add(std::uint32_t rank, std::int64_t at) {
    ++count;
    if (at > last) {
      last_but_one = last;
      last = at;
      last_rank = rank;
    } else {
      last_but_one = std::max(last_but_one, at);
    }
  }
};

std::map<std::uint32_t, Tally> last_arrivals(const Job& job, const Filter& filter) {
  // By team, kind and number.
  std::map<std::tuple<std::uint64_t, std::uint8_t, std::uint64_t>, Arrivals> operations;
  std::map<std::uint32_t, Tally> last;
  for (const RankTrace& trace : job.ranks) {
    for (const Event& event : trace.events) {
      if (event.kind != Kind::collective || !filter.overlaps(event.at, event.at)) continue;
      const std::tuple key(event.id, event.detail, event.bytes);
      Arrivals& arrivals = operations[key];
      arrivals.add(trace.rank, event.at);
      if (arrivals.count != event.peer) continue;
      if (arrivals.count > 1)
        add(last[arrivals.last_rank], arrivals.last - arrivals.last_but_one, 0);
      operations.erase(key);
    }
  }
  return last;
}

/// All but what ranks do by themselves, which `Adder` adds.
Summary summarize_meetings(const Job& job, const Messages& messages, const Filter& filter) {
  Summary summary;
  const RankTrace& first = job.ranks.front();
  summary.job_size = first.job_size;
  summary.program = first.program;
  summary.conduit =
      first.name_of(Names::facts, static_cast<std::uint32_t>(gex::trace::Fact::conduit));
  summary.remarks = job.remarks;
  for (const RankTrace& trace : job.ranks) {
    if (!filter.has_rank(trace.rank)) continue;
    for (const Event& event : trace.events) {
      if (!filter.overlaps(event.at, event.at)) continue;
      if (event.kind == Kind::message_sent) ++summary.messages_sent;
      if (event.kind == Kind::handler_begin) ++summary.messages_handled;
    }
  }
  summary.last_arrivals = last_arrivals(job, filter);
  for (const Arrow& arrow : messages.arrows) {
    const RankTrace& from = job.ranks[arrow.from.rank];
    const RankTrace& to = job.ranks[arrow.to.rank];
    if (!filter.has_rank(from.rank) || !filter.has_rank(to.rank)) continue;
    const std::int64_t begin = from.events[arrow.from.event].at;
    const std::int64_t end = to.events[arrow.to.event].at;
    if (!filter.overlaps(begin, end)) continue;
    ++summary.arrows;
    if (end < begin) ++summary.backwards;
  }
  return summary;
}

}  // namespace

Summarizer::Summarizer(const Outline& outline, const std::vector<std::string>& paths,
                       const Filter& filter)
    : summary_(summarize_meetings(outline.job, outline.messages, filter)), filter_(filter) {
  for (const std::string& path : paths) {
    auto sums = read_sums(path);
    if (sums && sums->job_size == summary_.job_size) summary_.untraced = *std::move(sums);
  }
}

void Summarizer::survey(const ShownRank& rank) {
  Adder(rank.recording.trace, rank.recording.spans, rank.kept, filter_, summary_).run();
}

}  // namespace gextrace
