#include "perfetto.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

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

class Timeline : public Output {
 public:
  Timeline(std::FILE* file, const Outline& outline) : file_(file), outline_(outline) {}

  /// Notes the spans in which messages are sent and handled, as far as they are kept.
  void survey(const ShownRank& rank) override {
    span_of_meeting_.push_back(kept_spans(outline_, rank));
    has_spans_.push_back(std::find(rank.kept.begin(), rank.kept.end(), true) != rank.kept.end());
  }

  bool draws(std::uint32_t index) const override { return has_spans_[index]; }

  void begin_drawing() override {
    attach();
    std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", file_);
  }

  void draw(const ShownRank& rank) override {
    rank_ = &rank.recording;
    kept_ = &rank.kept;
    write_rank(ends_[rank.index]);
    ends_[rank.index] = {};
  }

  void end_drawing() override { std::fputs("\n]}\n", file_); }

 private:
  void write_rank(const std::vector<ArrowEnd>& ends) {
    write_names();
    std::size_t next = 0;
    for (std::uint32_t s = 0; s < kept_->size(); ++s) {
      if (!(*kept_)[s]) continue;
      write_span(s);
      for (; next < ends.size() && ends[next].span == s; ++next) write_end_of_arrow(ends[next]);
    }
    for (const Operation& operation : rank_->spans.operations)
      if ((*kept_)[operation.call]) write_operation(operation);
  }

  /// Begins an event: what all have. Times are microseconds.
  void begin(char phase, std::uint32_t thread, std::int64_t at) {
    std::fprintf(file_, "%s\n{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u,\"ts\":%lld.%03lld",
                 first_ ? "" : ",", phase, rank_->trace.rank, thread,
                 static_cast<long long>(at / 1000), static_cast<long long>(at % 1000));
    first_ = false;
  }
  void end() { std::fputs("}", file_); }

  void write_names() {
    const RankTrace& trace = rank_->trace;
    begin('M', 0, 0);
    std::fprintf(file_, ",\"name\":\"process_name\",\"args\":{\"name\":%s}",
                 quoted("rank " + std::to_string(trace.rank) + " on " + trace.host).c_str());
    end();
    begin('M', 0, 0);
    std::fprintf(file_, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%u}",
                 trace.rank);
    end();
    std::set<std::uint32_t> threads;
    for (const Span& span : rank_->spans.spans) threads.insert(span.thread);
    for (const std::uint32_t thread : threads) {
      begin('M', thread, 0);
      std::fprintf(file_, ",\"name\":\"thread_name\",\"args\":{\"name\":\"thread %u\"}", thread);
      end();
    }
  }

  void write_span(std::uint32_t index) {
    static constexpr const char* categories[] = {"call", "handler", "wait", "questions",
                                                 "annotation"};
    const RankTrace& trace = rank_->trace;
    const Span& span = rank_->spans.spans[index];
    const std::int64_t length = span.end - span.begin;
    begin('X', span.thread, span.begin);
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
    const std::uint32_t made = rank_->spans.waited_for[index];
    if (made != Span::none) {
      const Span& origin = rank_->spans.spans[made];
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
  void write_operation(const Operation& operation) {
    const RankTrace& trace = rank_->trace;
    const Span& call = rank_->spans.spans[operation.call];
    const std::string name = quoted(name_of(trace, call) + " in flight");
    for (const bool begins : {true, false}) {
      begin(begins ? 'b' : 'e', call.thread, begins ? call.begin : operation.end);
      std::fprintf(file_, ",\"cat\":\"operation\",\"id2\":{\"local\":\"%u\"},\"name\":%s",
                   operation.call, name.c_str());
      if (begins && call.peer != gex::trace::no_peer)
        std::fprintf(file_, ",\"args\":{\"peer\":%u,\"bytes\":%llu}", call.peer,
                     static_cast<unsigned long long>(call.bytes));
      end();
    }
  }

  /// The span of an event of the outline, if it is kept.
  std::uint32_t span_of(const Place& place) const {
    return span_of_meeting_[place.rank][place.event];
  }

  /// Sorts the ends of arrows by the spans that they belong to.
  void attach() {
    ends_.resize(outline_.job.ranks.size());
    std::uint64_t number = 0;
    for (const Arrow& arrow : outline_.messages.arrows) {
      if (span_of(arrow.from) == Span::none || span_of(arrow.to) == Span::none) continue;
      ++number;
      const Event& from = outline_.job.ranks[arrow.from.rank].events[arrow.from.event];
      const bool is_reply = (from.detail & gex::trace::is_reply) != 0;
      for (const bool begins : {true, false}) {
        const Place& place = begins ? arrow.from : arrow.to;
        ends_[place.rank].push_back({span_of(place), begins, is_reply, number});
      }
    }
    span_of_meeting_ = {};
    for (std::vector<ArrowEnd>& ends : ends_)
      std::stable_sort(ends.begin(), ends.end(), [](const ArrowEnd& one, const ArrowEnd& other) {
        return one.span < other.span;
      });
  }

  /// At the time of the span's begin and right behind it: Perfetto gives an arrow to the span of
  /// the track that began last, which at a later time may be one within this span that has ended.
  void write_end_of_arrow(const ArrowEnd& arrow) {
    const Span& span = rank_->spans.spans[arrow.span];
    begin(arrow.begins ? 's' : 'f', span.thread, span.begin);
    std::fprintf(file_, "%s,\"cat\":\"message\",\"name\":\"%s\",\"id\":%llu",
                 arrow.begins ? "" : ",\"bp\":\"e\"", arrow.is_reply ? "reply" : "request",
                 static_cast<unsigned long long>(arrow.number));
    end();
  }

  std::FILE* file_;
  const Outline& outline_;
  const RankRecording* rank_ = nullptr;      ///< the one that is being written
  const std::vector<bool>* kept_ = nullptr;  ///< its spans
  std::vector<bool> has_spans_;              ///< by rank: one is kept
  /// By rank and event of the outline.
  std::vector<std::vector<std::uint32_t>> span_of_meeting_;
  bool first_ = true;
  std::vector<std::vector<ArrowEnd>> ends_;  ///< by rank, sorted by span
};

}  // namespace

std::unique_ptr<Output> make_timeline(std::FILE* file, const Outline& outline) {
  return std::make_unique<Timeline>(file, outline);
}

}  // namespace gextrace
