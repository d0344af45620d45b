#include "spans.h"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace gextrace {

namespace {

/// Builds the spans of one thread after the other.
class Builder {
 public:
  Builder(const RankTrace& trace, Annotations annotations)
      : trace_(trace), has_annotations_(annotations == Annotations::shown) {
    result_.span_of_event.assign(trace.events.size(), Span::none);
    for (const auto& [key, text] : trace.names)
      if (key.first == static_cast<std::uint32_t>(Names::classes) && text == "synchronize")
        synchronizes_.insert(key.second);
  }

  RankSpans build() {
    for (std::uint32_t i = 0; i < trace_.events.size(); ++i) {
      const Event& event = trace_.events[i];
      if (i == 0 || event.thread != thread_) begin_thread(event);
      add(i, event);
      latest_ = std::max(latest_, event.at);
    }
    end_thread();
    connect_waits();
    connect_operations();
    return std::move(result_);
  }

 private:
  void begin_thread(const Event& event) {
    end_thread();
    thread_ = event.thread;
    start_ = latest_ = event.at;
  }

  void end_thread() {
    while (!open_.empty()) {
      result_.spans[open_.back()].unfinished = true;
      close(latest_);
    }
  }

  std::uint32_t open(SpanKind kind, const Event& event) {
    Span span{.kind = kind};
    span.detail = event.detail;
    span.what = event.what;
    span.thread = event.thread;
    span.peer = event.peer;
    span.bytes = event.bytes;
    span.id = event.id;
    span.begin = span.end = event.at;
    if (!open_.empty()) span.parent = open_.back();
    const auto index = static_cast<std::uint32_t>(result_.spans.size());
    result_.spans.push_back(span);
    open_.push_back(index);
    return index;
  }

  void close(std::int64_t at) {
    Span& span = result_.spans[open_.back()];
    open_.pop_back();
    span.end = at;
    if (span.parent == Span::none) return;
    Span& parent = result_.spans[span.parent];
    const std::int64_t length = span.end - span.begin;
    if (span.kind == SpanKind::handler) {
      parent.handlers += length;
    } else {
      parent.handlers += span.handlers;
      parent.waiting += span.kind == SpanKind::wait ? length - span.handlers : span.waiting;
    }
  }

  static bool ends(SpanKind kind, const Event& event, const Span& span) {
    if (span.kind != kind || span.what != event.what) return false;
    return kind != SpanKind::handler || span.id == event.id;
  }

  /// The end of the innermost such span. What is open within it has lost its end; a span without a
  /// begin began before what the file holds.
  void finish(SpanKind kind, const Event& event) {
    const auto match = std::find_if(open_.rbegin(), open_.rend(), [&](std::uint32_t index) {
      return ends(kind, event, result_.spans[index]);
    });
    if (match == open_.rend()) {
      if (!open_.empty()) return;
      Event begin = event;
      begin.at = start_;
      result_.spans[open(kind, begin)].begun_before = true;
    } else {
      for (auto inner = match - open_.rbegin(); inner > 0; --inner) close(event.at);
    }
    Span& span = result_.spans[open_.back()];
    if (kind == SpanKind::call) {
      span.peer = event.peer;
      span.bytes = event.bytes;
      span.id = event.id;
      span.detail = event.detail;
      if ((event.detail & gex::trace::has_number) != 0) {
        span.operation = event.id;
        span.id = event.id == named_operation_ ? event_of_named_ : 0;
      }
    }
    close(event.at);
  }

  void add(std::uint32_t index, const Event& event) {
    switch (event.kind) {
      case Kind::call_begin:
        open(SpanKind::call, event);
        break;
      case Kind::call_end:
        finish(SpanKind::call, event);
        break;
      case Kind::handler_begin:
        result_.span_of_event[index] = open(SpanKind::handler, event);
        break;
      case Kind::handler_end:
        finish(SpanKind::handler, event);
        break;
      case Kind::wait_begin:
        open(SpanKind::wait, event);
        break;
      case Kind::wait_end:
        finish(SpanKind::wait, event);
        break;
      case Kind::annotation_begin:
        if (has_annotations_) open(SpanKind::annotation, event);
        break;
      case Kind::annotation_end:
        if (has_annotations_) finish(SpanKind::annotation, event);
        break;
      case Kind::questions:
        open(SpanKind::questions, event);
        close(static_cast<std::int64_t>(event.id));
        break;
      case Kind::message_sent:
      case Kind::collective:
        if (!open_.empty()) result_.span_of_event[index] = open_.back();
        break;
      case Kind::operation_done:
        done_.emplace(event.id, event.at);
        break;
      case Kind::event_of_operation:
        named_operation_ = event.id;
        event_of_named_ = event.bytes;
        break;
      case Kind::local_done:
      case Kind::call:  // two events by now
      case Kind::none:
        break;
    }
  }

  /// A call that returns an event and one that waits for it have the same id; so has a later
  /// operation whose event is the same object again.
  void connect_waits() {
    std::vector<std::uint32_t> order(result_.spans.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t one, std::uint32_t other) {
      return result_.spans[one].end < result_.spans[other].end;
    });
    result_.waited_for.assign(result_.spans.size(), Span::none);
    std::unordered_map<std::uint64_t, std::uint32_t> made;
    for (const std::uint32_t index : order) {
      const Span& span = result_.spans[index];
      if (span.kind != SpanKind::call || span.id == 0 || (span.detail & gex::trace::not_ready) != 0)
        continue;
      const bool waits = waits_for_event(span);
      const auto found = made.find(span.id);
      if (waits && found != made.end()) {
        result_.waited_for[index] = found->second;
        result_.operations.push_back({found->second, span.end});
        made.erase(found);
      } else if (!waits) {
        made[span.id] = index;
      }
    }
  }

  bool waits_for_event(const Span& span) const { return synchronizes_.contains(span.what); }

  /// Completion as it was recorded is more exact than the return of the call that waited for it.
  void connect_operations() {
    if (done_.empty()) return;
    std::unordered_map<std::uint32_t, std::size_t> by_call;
    for (std::size_t i = 0; i < result_.operations.size(); ++i)
      by_call[result_.operations[i].call] = i;
    for (std::uint32_t index = 0; index < result_.spans.size(); ++index) {
      const Span& span = result_.spans[index];
      if (span.operation == 0) continue;
      const auto found = done_.find(span.operation);
      if (found == done_.end()) continue;
      const auto known = by_call.find(index);
      if (known != by_call.end())
        result_.operations[known->second].end = found->second;
      else
        result_.operations.push_back({index, found->second});
    }
  }

  const RankTrace& trace_;
  const bool has_annotations_;
  RankSpans result_;
  std::vector<std::uint32_t> open_;
  std::uint32_t thread_ = 0;
  std::int64_t start_ = 0;
  std::int64_t latest_ = 0;
  std::unordered_map<std::uint64_t, std::int64_t> done_;
  std::set<std::uint32_t> synchronizes_;  ///< numbers of calls that wait or test
  std::uint64_t named_operation_ = 0;     ///< whose event was recorded last
  std::uint64_t event_of_named_ = 0;
};

}  // namespace

RankSpans spans_of(const RankTrace& trace, Annotations annotations) {
  return Builder(trace, annotations).build();
}

bool is_outermost(const RankSpans& spans, const Span& span) {
  const Span* outer = &span;
  while (outer->parent != Span::none) {
    outer = &spans.spans[outer->parent];
    if (outer->kind != SpanKind::annotation) return false;
  }
  return true;
}

}  // namespace gextrace
