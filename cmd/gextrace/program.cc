#include "program.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "recording.h"

namespace gextrace {

namespace {

using gex::trace::first_client_handler;
using gex::trace::handler_of;

constexpr std::int64_t not_recorded = std::numeric_limits<std::int64_t>::max();
/// Polls that follow one another faster than this are a loop that waits; slower ones lie in work.
/// The longer bound is for those that end with one in which something has come: while nothing
/// comes, a poll may sleep.
constexpr std::int64_t polls_of_a_wait_ns = 1000;
constexpr std::int64_t sleeping_polls_of_a_wait_ns = 100'000;

bool is_of_client(const Event& event) {
  return (handler_of(event.what, event.detail) & 0xff) >= first_client_handler;
}

/// The collectives of a job by team, kind and number.
class Collectives {
 public:
  std::uint32_t number_of(const Event& arrival) {
    const auto next = static_cast<std::uint32_t>(all_.size());
    const auto [found, is_new] =
        numbers_.try_emplace({arrival.id, arrival.detail, arrival.bytes}, next);
    if (is_new) all_.push_back({CollectiveShape::barrier, {}, 0});
    if (is_new) sizes_.push_back(arrival.peer);
    return found->second;
  }
  void add_member(std::uint32_t number, std::uint32_t rank, CollectiveShape shape,
                  std::uint64_t bytes) {
    all_[number].shape = shape;
    all_[number].members.push_back(rank);
    all_[number].bytes = std::max(all_[number].bytes, bytes);
  }
  /// Empty if all members of all of them were recorded.
  std::string missing() const {
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i].members.size() != sizes_[i])
        return "of a collective operation of " + std::to_string(sizes_[i]) +
               " ranks the traces show " + std::to_string(all_[i].members.size()) +
               ": all ranks' files are needed, without lost records";
    return {};
  }
  std::vector<ProgramCollective> take() { return std::move(all_); }

 private:
  std::map<std::tuple<std::uint64_t, std::uint8_t, std::uint64_t>, std::uint32_t> numbers_;
  std::vector<ProgramCollective> all_;
  std::vector<std::uint32_t> sizes_;
};

/// By the name of its call.
CollectiveShape shape_of(const Event& arrival, const std::string& call) {
  if (arrival.detail == static_cast<std::uint8_t>(gex::trace::Collective::barrier))
    return CollectiveShape::barrier;
  if (call.find("roadcast") != call.npos) return CollectiveShape::broadcast;
  if (call.find("ReduceToOne") != call.npos) return CollectiveShape::reduce_to_one;
  if (call.find("ReduceToAll") != call.npos) return CollectiveShape::reduce_to_all;
  return CollectiveShape::blocks;
}

/// Reads the program of one rank.
class Reader {
 public:
  Reader(const RankTrace& trace, const RankSpans& spans, Collectives& collectives)
      : trace_(trace),
        spans_(spans.spans),
        collectives_(collectives),
        message_of_event_(trace.events.size(), Span::none),
        events_in_(spans.spans.size()),
        end_of_(spans.spans.size(), not_recorded) {
    for (const auto& [key, text] : trace.names)
      if (key.first == static_cast<std::uint32_t>(Names::classes)) classes_[key.second] = text;
    for (std::uint32_t event = 0; event < trace.events.size(); ++event) {
      const std::uint32_t span = spans.span_of_event[event];
      if (span != Span::none && trace.events[event].kind != Kind::handler_begin)
        events_in_[span].push_back(event);
      if (span != Span::none && trace.events[event].kind == Kind::handler_begin)
        begin_of_handler_[span] = event;
    }
    for (const Operation& operation : spans.operations) end_of_[operation.call] = operation.end;
  }

  /// This event sends the message of that number, or begins its handler.
  void set_message(std::uint32_t event, std::uint32_t message) {
    message_of_event_[event] = message;
  }

  /// Where the client's work begins: after the last call that sets up at the start.
  void find_begin() {
    if (spans_.empty()) return;
    thread_ = spans_.front().thread;
    cursor_ = spans_.front().begin;
    for (std::uint32_t i = 0; i < spans_.size(); ++i) {
      const Span& span = spans_[i];
      if (span.parent != Span::none || span.kind != SpanKind::call) continue;
      const std::string& of_class = class_of(span);
      if (of_class == "set-up" || of_class == "query") {
        first_ = i + 1;
        cursor_ = span.end;
      } else if (of_class != "poll") {
        return;
      }
    }
  }
  std::int64_t begin() const { return cursor_; }

  /// Returns false, with the reason, if not all can be read.
  bool read(std::string& why) {
    for (std::uint32_t i = first_; i < spans_.size();) {
      if (spans_[i].parent != Span::none) {  // of a call before the first
        ++i;
        continue;
      }
      if (spans_[i].thread != thread_) {
        why = "rank " + std::to_string(trace_.rank) +
              " has calls of several threads: only programs of one thread a rank are replayed";
        return false;
      }
      i = read_span(i);
    }
    await_until(not_recorded);
    return true;
  }
  RankProgram take() { return std::move(program_); }
  std::int64_t end() const { return cursor_; }
  std::uint64_t set_up_calls() const { return set_up_calls_; }

 private:
  /// Operations that have begun and are not awaited yet.
  struct Pending {
    Step::Kind kind;
    std::uint32_t number;
    std::int64_t end;
  };

  const std::string& class_of(const Span& span) const {
    static const std::string none;
    const auto found = classes_.find(span.what);
    return found != classes_.end() ? found->second : none;
  }

  void compute_until(std::int64_t at) {
    if (at > cursor_) {
      const auto ns = static_cast<double>(at - cursor_);
      if (!program_.steps.empty() && program_.steps.back().kind == Step::Kind::compute)
        program_.steps.back().ns += ns;
      else
        program_.steps.push_back({.kind = Step::Kind::compute, .ns = ns});
    }
    cursor_ = std::max(cursor_, at);
  }

  /// True if these polls are a loop that waits.
  bool is_wait(std::uint32_t index) const {
    const Span& span = spans_[index];
    const bool something_comes = index + 1 < spans_.size() &&
                                 spans_[index + 1].parent == Span::none &&
                                 class_of(spans_[index + 1]) == "poll";
    const std::int64_t each = something_comes ? sleeping_polls_of_a_wait_ns : polls_of_a_wait_ns;
    const auto polls = static_cast<std::int64_t>(std::max<std::uint64_t>(span.bytes, 1));
    return span.end - span.begin < polls * each;
  }

  /// Takes a span with all within it; returns the index behind them.
  std::uint32_t read_span(std::uint32_t index) {
    const Span& span = spans_[index];
    compute_until(span.begin);
    switch (span.kind) {
      case SpanKind::annotation:  // left out
        break;
      case SpanKind::questions:
        if (is_wait(index))
          cursor_ = span.end;
        else
          compute_until(span.end);
        return index + 1;
      case SpanKind::handler: {
        const auto begin = begin_of_handler_.find(index);
        const bool of_client =
            begin != begin_of_handler_.end() && is_of_client(trace_.events[begin->second]);
        if (of_client && message_of_event_[begin->second] != Span::none)
          program_.steps.push_back(
              {.kind = Step::Kind::handle, .number = message_of_event_[begin->second]});
        const std::uint32_t next = read_within(index);
        if (of_client) compute_until(span.end);
        cursor_ = std::max(cursor_, span.end);
        return next;
      }
      case SpanKind::call:
      case SpanKind::wait: {
        const std::size_t arrivals = pending_.size();
        begin_operation(index);
        const std::uint32_t next = read_within(index);
        cursor_ = std::max(cursor_, span.end);
        if (span.kind == SpanKind::call) end_call(index, arrivals);
        return next;
      }
    }
    return index + 1;
  }

  /// The messages, collectives and spans directly within a span, by their times.
  std::uint32_t read_within(std::uint32_t index) {
    std::size_t event = 0;
    const std::vector<std::uint32_t>& events = events_in_[index];
    std::uint32_t next = index + 1;
    const auto before = [&](std::int64_t at) {
      for (; event < events.size() && trace_.events[events[event]].at <= at; ++event)
        read_event(events[event], spans_[index]);
    };
    while (next < spans_.size() && spans_[next].parent == index) {
      before(spans_[next].begin);
      // Within a call only handlers count, as read_span has it.
      if (spans_[index].kind != SpanKind::handler) cursor_ = spans_[next].begin;
      next = read_span(next);
    }
    before(not_recorded);
    return next;
  }

  void read_event(std::uint32_t index, const Span& span) {
    const Event& event = trace_.events[index];
    if (event.kind == Kind::collective) {
      const std::uint32_t number = collectives_.number_of(event);
      const std::string call = trace_.name_of(Names::calls, span.what);
      collectives_.add_member(number, trace_.rank, shape_of(event, call), span.bytes);
      program_.steps.push_back({.kind = Step::Kind::arrive, .number = number});
      pending_.push_back({Step::Kind::await_collective, number, not_recorded});
    } else if (is_of_client(event) && message_of_event_[index] != Span::none) {
      program_.steps.push_back({.kind = Step::Kind::send,
                                .peer = event.peer,
                                .number = message_of_event_[index],
                                .bytes = event.bytes});
    }
  }

  void begin_operation(std::uint32_t index) {
    const Span& span = spans_[index];
    if (span.kind != SpanKind::call) return;
    const std::string& of_class = class_of(span);
    const bool gets = of_class == "get" || of_class == "atomic";
    if (of_class == "set-up") ++set_up_calls_;
    if ((!gets && of_class != "put") || (span.detail & gex::trace::refused) != 0 ||
        span.peer == gex::trace::no_peer)
      return;
    const std::uint32_t number = program_.operations++;
    program_.steps.push_back({.kind = gets ? Step::Kind::get : Step::Kind::put,
                              .peer = span.peer,
                              .number = number,
                              .bytes = span.bytes});
    pending_.push_back({Step::Kind::await, number, end_of_[index]});
  }

  /// `arrivals`: what was pending when the call began.
  void end_call(std::uint32_t index, std::size_t arrivals) {
    const Span& span = spans_[index];
    const std::string& of_class = class_of(span);
    for (std::size_t i = arrivals; i < pending_.size(); ++i)
      if (pending_[i].kind == Step::Kind::await_collective) pending_[i].end = end_of_[index];
    const bool blocks = is_blocking(span);
    if ((of_class == "synchronize" && (span.detail & gex::trace::not_ready) == 0) ||
        (of_class == "collective" && blocks)) {
      await_until(span.end);
    } else if (blocks) {
      for (; arrivals < pending_.size(); pending_.pop_back()) await(pending_.back());
    }
  }

  bool is_blocking(const Span& span) const {
    const std::string name = trace_.name_of(Names::calls, span.what);
    return name.find("NB") == name.npos && name.find("nb") == name.npos &&
           name.find("otify") == name.npos;
  }

  void await(const Pending& one) {
    program_.steps.push_back({.kind = one.kind, .number = one.number});
  }
  /// Awaits what was complete by that time, and what does not show when it was.
  void await_until(std::int64_t at) {
    std::erase_if(pending_, [&](const Pending& one) {
      if (one.end > at && one.end != not_recorded) return false;
      await(one);
      return true;
    });
  }

  const RankTrace& trace_;
  const std::vector<Span>& spans_;
  Collectives& collectives_;
  std::map<std::uint32_t, std::string> classes_;
  std::vector<std::uint32_t> message_of_event_;
  std::vector<std::vector<std::uint32_t>> events_in_;  ///< by span: messages sent, arrivals
  std::unordered_map<std::uint32_t, std::uint32_t> begin_of_handler_;
  std::vector<std::int64_t> end_of_;  ///< by span: when its operation was complete
  RankProgram program_;
  std::vector<Pending> pending_;
  std::uint64_t set_up_calls_ = 0;
  std::uint32_t first_ = 0;
  std::uint32_t thread_ = 0;
  std::int64_t cursor_ = 0;
};

/// Returns why these traces do not show a whole job; empty: they do.
std::string why_not_whole(const Job& job) {
  const std::uint32_t size = job.ranks.front().job_size;
  if (job.ranks.size() != size)
    return "the traces of " + std::to_string(job.ranks.size()) + " of " + std::to_string(size) +
           " ranks are not the whole job";
  for (const RankTrace& trace : job.ranks)
    if (trace.lost != 0)
      return "the trace of rank " + std::to_string(trace.rank) + " has lost " +
             std::to_string(trace.lost) + " records: a larger GEX_TRACE_BYTES keeps them";
  return {};
}

/// The end of a message at one of its ranks.
struct MessageEnd {
  std::uint32_t event;  ///< of the outline
  std::uint32_t message;
};

/// Lists the client's messages, and returns their ends by rank.
std::vector<std::vector<MessageEnd>> list_messages(const Outline& outline,
                                                   std::vector<ProgramMessage>& messages) {
  const Job& job = outline.job;
  std::vector<std::vector<MessageEnd>> ends(job.ranks.size());
  for (const Arrow& arrow : outline.messages.arrows) {
    const Event& sent = job.ranks[arrow.from.rank].events[arrow.from.event];
    if (!is_of_client(sent)) continue;
    const auto number = static_cast<std::uint32_t>(messages.size());
    messages.push_back({arrow.from.rank, arrow.to.rank, sent.bytes});
    ends[arrow.from.rank].push_back({arrow.from.event, number});
    ends[arrow.to.rank].push_back({arrow.to.event, number});
  }
  return ends;
}

}  // namespace

std::optional<Programs> programs_of(const Outline& outline, std::string& why) {
  const Job& job = outline.job;
  why = why_not_whole(job);
  if (!why.empty()) return std::nullopt;
  const std::uint32_t size = job.ranks.front().job_size;
  Programs programs;
  programs.name = job.ranks.front().program;
  std::vector<std::vector<MessageEnd>> ends = list_messages(outline, programs.messages);
  Collectives collectives;
  std::vector<std::int64_t> begins;
  std::int64_t first = not_recorded, last = 0;
  std::uint64_t set_up_calls = 0;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    const std::optional<RankRecording> read =
        read_rank(job.ranks[rank], why, Annotations::left_out);
    if (!read) return std::nullopt;
    if (read->meetings.size() != job.ranks[rank].events.size()) {
      why = job.ranks[rank].path + " has changed while it was read: the job still runs";
      return std::nullopt;
    }
    Reader reader(read->trace, read->spans, collectives);
    for (const MessageEnd& end : ends[rank])
      reader.set_message(read->meetings[end.event], end.message);
    ends[rank] = {};
    reader.find_begin();
    begins.push_back(reader.begin());
    first = std::min(first, reader.begin());
    if (!reader.read(why)) return std::nullopt;
    programs.ranks.push_back(reader.take());
    last = std::max(last, reader.end());
    set_up_calls += reader.set_up_calls();
  }
  for (std::uint32_t rank = 0; rank < size; ++rank)
    programs.ranks[rank].begin_ns = static_cast<double>(begins[rank] - first);
  why = collectives.missing();
  if (!why.empty()) return std::nullopt;
  programs.collectives = collectives.take();
  programs.recorded_ns = static_cast<double>(last - first);
  if (set_up_calls != 0)
    programs.remarks.push_back(std::to_string(set_up_calls) +
                               " calls that set up are counted as no time");
  return programs;
}

}  // namespace gextrace
