#include "perfetto.h"

#include <algorithm>
#include <set>
#include <string>

namespace gextrace {

namespace {

/// A text between quotation marks.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      result += '?';
    else
      result += c;
  }
  return result + '"';
}

/// The begin or the end of an arrow.
struct ArrowEnd {
  std::uint32_t span;
  bool begins;
  bool is_reply;
  std::uint64_t number;
};

class TimelineWriter {
 public:
  TimelineWriter(std::FILE* file, const Job& job, const std::vector<RankSpans>& spans,
                 const Filter& filter)
      : file_(file), job_(job), spans_(spans) {
    for (std::size_t i = 0; i < job.ranks.size(); ++i)
      kept_.push_back(kept(filter, job.ranks[i], spans[i]));
  }

  void write(const Messages& messages) {
    attach(messages.arrows);
    std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", file_);
    for (std::uint32_t i = 0; i < job_.ranks.size(); ++i) {
      if (std::find(kept_[i].begin(), kept_[i].end(), true) == kept_[i].end()) continue;
      write_names(i);
      std::size_t next = 0;
      for (std::uint32_t s = 0; s < kept_[i].size(); ++s) {
        if (!kept_[i][s]) continue;
        write_span(i, s);
        for (; next < ends_[i].size() && ends_[i][next].span == s; ++next)
          write_end_of_arrow(i, ends_[i][next]);
      }
      for (const Operation& operation : spans_[i].operations)
        if (kept_[i][operation.call]) write_operation(i, operation);
    }
    std::fputs("\n]}\n", file_);
  }

 private:
  /// Begins an event: what all have. Times are microseconds.
  void begin(char phase, std::uint32_t rank, std::uint32_t thread, std::int64_t at) {
    std::fprintf(file_, "%s\n{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u,\"ts\":%lld.%03lld",
                 first_ ? "" : ",", phase, job_.ranks[rank].rank, thread,
                 static_cast<long long>(at / 1000), static_cast<long long>(at % 1000));
    first_ = false;
  }
  void end() { std::fputs("}", file_); }

  void write_names(std::uint32_t i) {
    const RankTrace& trace = job_.ranks[i];
    begin('M', i, 0, 0);
    std::fprintf(file_, ",\"name\":\"process_name\",\"args\":{\"name\":%s}",
                 quoted("rank " + std::to_string(trace.rank) + " on " + trace.host).c_str());
    end();
    begin('M', i, 0, 0);
    std::fprintf(file_, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%u}",
                 trace.rank);
    end();
    std::set<std::uint32_t> threads;
    for (const Span& span : spans_[i].spans) threads.insert(span.thread);
    for (const std::uint32_t thread : threads) {
      begin('M', i, thread, 0);
      std::fprintf(file_, ",\"name\":\"thread_name\",\"args\":{\"name\":\"thread %u\"}", thread);
      end();
    }
  }

  void write_span(std::uint32_t i, std::uint32_t index) {
    static constexpr const char* categories[] = {"call", "handler", "wait", "questions",
                                                 "annotation"};
    const RankTrace& trace = job_.ranks[i];
    const Span& span = spans_[i].spans[index];
    const std::int64_t length = span.end - span.begin;
    begin('X', i, span.thread, span.begin);
    std::fprintf(file_, ",\"dur\":%lld.%03lld,\"cat\":\"%s\",\"name\":%s,\"args\":{",
                 static_cast<long long>(length / 1000), static_cast<long long>(length % 1000),
                 categories[static_cast<unsigned>(span.kind)],
                 quoted(name_of(trace, span)).c_str());
    const char* separator = "";
    const auto number = [&](const char* name, std::uint64_t value) {
      std::fprintf(file_, "%s\"%s\":%llu", separator, name, static_cast<unsigned long long>(value));
      separator = ",";
    };
    const auto text = [&](const char* name, const std::string& value) {
      std::fprintf(file_, "%s\"%s\":%s", separator, name, quoted(value).c_str());
      separator = ",";
    };
    if (span.kind == SpanKind::questions) {
      number("calls", span.bytes);
    } else if (span.kind != SpanKind::wait) {
      if (span.peer != gex::trace::no_peer)
        number(span.kind == SpanKind::handler ? "from" : "peer", span.peer);
      if (span.bytes != 0) number("bytes", span.bytes);
    }
    const std::uint32_t made = spans_[i].waited_for[index];
    if (made != Span::none) {
      const Span& origin = spans_[i].spans[made];
      text("operation", name_of(trace, origin));
      if (origin.peer != gex::trace::no_peer) number("operation_peer", origin.peer);
    }
    if (const char* const way = memory_way_of(span)) text("device_memory", way);
    if (span.kind == SpanKind::call && (span.detail & gex::trace::refused) != 0)
      text("result", "no room");
    if (span.begun_before) text("begin", "before the trace");
    if (span.unfinished) text("end", "after the trace");
    std::fputs("}", file_);
    end();
  }

  /// With a number that is local to its process: Perfetto would lay tracks for all ranks together.
  void write_operation(std::uint32_t i, const Operation& operation) {
    const RankTrace& trace = job_.ranks[i];
    const Span& call = spans_[i].spans[operation.call];
    const std::string name = quoted(name_of(trace, call) + " in flight");
    for (const bool begins : {true, false}) {
      begin(begins ? 'b' : 'e', i, call.thread, begins ? call.begin : operation.end);
      std::fprintf(file_, ",\"cat\":\"operation\",\"id2\":{\"local\":\"%u\"},\"name\":%s",
                   operation.call, name.c_str());
      if (begins && call.peer != gex::trace::no_peer)
        std::fprintf(file_, ",\"args\":{\"peer\":%u,\"bytes\":%llu}", call.peer,
                     static_cast<unsigned long long>(call.bytes));
      end();
    }
  }

  bool is_kept(const Place& place) const {
    const std::uint32_t span = spans_[place.rank].span_of_event[place.event];
    return span != Span::none && kept_[place.rank][span];
  }

  /// Sorts the ends of arrows by the spans that they belong to.
  void attach(const std::vector<Arrow>& arrows) {
    ends_.resize(job_.ranks.size());
    std::uint64_t number = 0;
    for (const Arrow& arrow : arrows) {
      if (!is_kept(arrow.from) || !is_kept(arrow.to)) continue;
      ++number;
      const Event& from = job_.ranks[arrow.from.rank].events[arrow.from.event];
      const bool is_reply = (from.detail & gex::trace::is_reply) != 0;
      for (const bool begins : {true, false}) {
        const Place& place = begins ? arrow.from : arrow.to;
        ends_[place.rank].push_back(
            {spans_[place.rank].span_of_event[place.event], begins, is_reply, number});
      }
    }
    for (std::vector<ArrowEnd>& ends : ends_)
      std::stable_sort(ends.begin(), ends.end(), [](const ArrowEnd& one, const ArrowEnd& other) {
        return one.span < other.span;
      });
  }

  /// At the time of the span's begin and right behind it: Perfetto gives an arrow to the span of
  /// the track that began last, which at a later time may be one within this span that has ended.
  void write_end_of_arrow(std::uint32_t i, const ArrowEnd& arrow) {
    const Span& span = spans_[i].spans[arrow.span];
    begin(arrow.begins ? 's' : 'f', i, span.thread, span.begin);
    std::fprintf(file_, "%s,\"cat\":\"message\",\"name\":\"%s\",\"id\":%llu",
                 arrow.begins ? "" : ",\"bp\":\"e\"", arrow.is_reply ? "reply" : "request",
                 static_cast<unsigned long long>(arrow.number));
    end();
  }

  std::FILE* file_;
  const Job& job_;
  const std::vector<RankSpans>& spans_;
  std::vector<std::vector<bool>> kept_;
  bool first_ = true;
  std::vector<std::vector<ArrowEnd>> ends_;  ///< by rank, sorted by span
};

}  // namespace

void write_perfetto(std::FILE* file, const Job& job, const std::vector<RankSpans>& spans,
                    const Messages& messages, const Filter& filter) {
  TimelineWriter(file, job, spans, filter).write(messages);
}

}  // namespace gextrace
