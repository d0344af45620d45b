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

class Writer {
 public:
  Writer(std::FILE* file, const Job& job, const std::vector<RankSpans>& spans, const Filter& filter)
      : file_(file), job_(job), spans_(spans) {
    for (std::size_t i = 0; i < job.ranks.size(); ++i)
      kept_.push_back(kept(filter, job.ranks[i], spans[i]));
  }

  void write(const Messages& messages) {
    std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", file_);
    for (std::uint32_t i = 0; i < job_.ranks.size(); ++i) {
      if (std::find(kept_[i].begin(), kept_[i].end(), true) == kept_[i].end()) continue;
      write_names(i);
      for (std::uint32_t s = 0; s < kept_[i].size(); ++s)
        if (kept_[i][s]) write_span(i, s);
      for (const Operation& operation : spans_[i].operations)
        if (kept_[i][operation.call]) write_operation(i, operation);
    }
    for (const Arrow& arrow : messages.arrows) write_arrow(arrow);
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
    static constexpr const char* categories[] = {"call", "handler", "wait", "questions"};
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
    if (span.kind == SpanKind::call && (span.detail & gex::trace::refused) != 0)
      text("result", "no room");
    if (span.begun_before) text("begin", "before the trace");
    if (span.unfinished) text("end", "after the trace");
    std::fputs("}", file_);
    end();
  }

  void write_operation(std::uint32_t i, const Operation& operation) {
    const RankTrace& trace = job_.ranks[i];
    const Span& call = spans_[i].spans[operation.call];
    const std::string name = quoted(name_of(trace, call) + " in flight");
    for (const bool begins : {true, false}) {
      begin(begins ? 'b' : 'e', i, call.thread, begins ? call.begin : operation.end);
      std::fprintf(file_, ",\"cat\":\"operation\",\"id\":\"%u.%u\",\"name\":%s", trace.rank,
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

  void write_arrow(const Arrow& arrow) {
    if (!is_kept(arrow.from) || !is_kept(arrow.to)) return;
    ++arrows_;
    const Event& from = job_.ranks[arrow.from.rank].events[arrow.from.event];
    const Event& to = job_.ranks[arrow.to.rank].events[arrow.to.event];
    const char* const name = (from.detail & gex::trace::is_reply) != 0 ? "reply" : "request";
    begin('s', arrow.from.rank, from.thread, from.at);
    std::fprintf(file_, ",\"cat\":\"message\",\"name\":\"%s\",\"id\":%llu", name,
                 static_cast<unsigned long long>(arrows_));
    end();
    begin('f', arrow.to.rank, to.thread, to.at);
    std::fprintf(file_, ",\"bp\":\"e\",\"cat\":\"message\",\"name\":\"%s\",\"id\":%llu", name,
                 static_cast<unsigned long long>(arrows_));
    end();
  }

  std::FILE* file_;
  const Job& job_;
  const std::vector<RankSpans>& spans_;
  std::vector<std::vector<bool>> kept_;
  bool first_ = true;
  std::uint64_t arrows_ = 0;
};

}  // namespace

void write_perfetto(std::FILE* file, const Job& job, const std::vector<RankSpans>& spans,
                    const Messages& messages, const Filter& filter) {
  Writer(file, job, spans, filter).write(messages);
}

}  // namespace gextrace
