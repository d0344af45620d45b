#include "observe/trace.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/env.h"
#include "base/error.h"
#include "base/os_memory_limits.h"
#include "base/trace_file.h"
#include "core/process.h"
#include "core/thread.h"
#include "observe/thread_part.h"
#include "observe/trace_sums.h"
#include "observe/traced_ranks.h"

namespace gex::trace {

namespace {

/// Calls on a thread's stack, one within another: a call, a handler that it polls, a reply.
constexpr unsigned max_depth = 16;
/// How often the clocks are compared, for a process that is killed.
constexpr std::uint64_t anchor_interval_ns = 10'000'000;

Tick anchor_interval = 0;

/// A call that has begun.
struct Frame {
  Record* begin;
  std::uint32_t peer;
  std::uint64_t bytes;
  std::uint64_t operation;
  bool has_peer;
  MemoryWay memory_way;
};

}  // namespace

/// A thread's part of the trace.
struct ThreadTrace {
  ThreadTrace(std::uint32_t thread, RecordSink* sink) noexcept
      : cursor(TraceFile::instance(), thread, sink), operations(std::uint64_t{thread} << 48 | 1U) {}

  Record& add(Kind kind, std::uint8_t detail, std::uint16_t what, std::uint32_t peer,
              std::uint64_t bytes, std::uint64_t id, Tick at) noexcept {
    return cursor.add(static_cast<std::uint8_t>(kind), detail, what, peer, bytes, id, at);
  }
  Frame* innermost() noexcept {
    return depth > 0 && depth <= max_depth ? &frames[depth - 1] : nullptr;
  }

  Cursor cursor;
  unsigned depth = 0;
  Frame frames[max_depth];
  Tick next_anchor = 0;
  std::uint64_t operations;     ///< the next one's number
  ThreadTrace* next = nullptr;  ///< of those whose records are added up
};

namespace {

/// Where the sums go of a rank that is not traced; empty: it is.
char sums_path[PATH_MAX];
std::atomic<ThreadTrace*> summed{nullptr};
std::atomic<bool> sums_added{false};

ThreadTrace* make_thread_trace(std::uint32_t thread) {
  if (sums_path[0] == '\0') return new ThreadTrace(thread, nullptr);
  auto* const made = new ThreadTrace(thread, &make_thread_sums());
  made->next = summed.load(std::memory_order_relaxed);
  // Release: `finish` reads those in the list.
  while (!summed.compare_exchange_weak(made->next, made, std::memory_order_release,
                                       std::memory_order_relaxed)) {
  }
  return made;
}

/// Records of other threads meanwhile may be left out.
void add_sums_of_rank() noexcept {
  if (sums_added.exchange(true, std::memory_order_relaxed)) return;
  for (ThreadTrace* one = summed.load(std::memory_order_acquire); one != nullptr; one = one->next)
    one->cursor.flush();
  const int error = add_sums(sums_path, process().job->size());
  if (error != 0) warn("GEX_TRACE: cannot write %s: %s", sums_path, std::strerror(error));
}

/// Kept for the life of the process, as the thread's record is.
ThreadTrace& own_trace() noexcept {
  ThreadRecord& thread = this_thread();
  observe::ThreadPart& part = observe::part_of(thread);
  if (part.trace == nullptr) [[unlikely]]
    part.trace = make_thread_trace(thread.number);
  return *part.trace;
}

/// Calls as they are numbered in records: from 0.
constexpr std::uint16_t record_of(Call call) noexcept {
  return static_cast<std::uint16_t>(call);
}

void name(Names space, std::uint32_t number, const char* text) noexcept {
  TraceFile::instance().name(static_cast<std::uint32_t>(space), number, text);
}

/// Ranks on this host.
std::uint32_t ranks_here() {
  const job::Job& job = *process().job;
  std::uint32_t count = 0;
  for (std::uint32_t rank = 0; rank < job.size(); ++rank)
    if (job.host_of(rank) == job.host_of(job.rank())) ++count;
  return count;
}

void name_calls() {
  for (unsigned i = 0; i < static_cast<unsigned>(Call::count); ++i) {
    name(Names::calls, i, name_of(static_cast<Call>(i)));
    name(Names::classes, i, name_of(kind_of(static_cast<Call>(i))));
  }
  for (unsigned i = 0; i < wait_causes; ++i) name(Names::causes, i, cause_names[i]);
}

}  // namespace

void start() {
  const std::string file = env::text(env::Variable::trace);
  const env::Memory wanted = env::memory(env::Variable::trace_bytes);
  const Process& self = process();
  // A program that a rank has started would replace the rank's own trace.
  if (file.empty() || self.job->nested()) return;
  if (file.back() == '/')
    fatal("GEX_TRACE='%s': expected the name of a file, to which ranks append their number",
          file.c_str());
  const std::string ranks = env::text(env::Variable::trace_ranks);
  const std::optional<bool> named =
      names_rank(ranks, self.job->rank(), self.job->host_of(self.job->rank()));
  if (!named)
    fatal("GEX_TRACE_RANKS='%s': expected ranks (0-3,64), every:N or hosts:N", ranks.c_str());
  const std::uint64_t bytes = wanted.bytes_per_process(os::physical_memory(), ranks_here());
  if (speaks_for_job())
    inform("tracing to %s.RANK, at most %s each%s%s", file.c_str(), os::format_bytes(bytes).c_str(),
           ranks.empty() ? "" : ", ranks ", ranks.c_str());
  // A job that this rank starts would replace files.
  ::unsetenv(env::describe(env::Variable::trace).name);
  const std::string sums = file + ".sums";
  // Before a rank ends, which cannot be before this one has come so far.
  if (self.job->rank() == 0) ::unlink(sums.c_str());
  if (*named) {
    const std::string path = file + "." + std::to_string(self.job->rank());
    const std::string why = TraceFile::instance().open(
        path, bytes, {.rank = self.job->rank(), .job_size = self.job->size()});
    if (!why.empty()) fatal("GEX_TRACE: %s", why.c_str());
    name_calls();
  } else {
    if (sums.size() >= sizeof sums_path) fatal("GEX_TRACE='%s' is too long a name", file.c_str());
    std::memcpy(sums_path, sums.c_str(), sums.size() + 1);
  }
  anchor_interval = ns_to_ticks(anchor_interval_ns);
  gex_proc_.observed |= GEX_OBSERVED_TRACE_;
  std::atexit([] { finish(); });
  // A child shares the file's pages and would write over its parent's records.
  ::pthread_atfork(nullptr, nullptr, [] { gex_proc_.observed &= ~GEX_OBSERVED_TRACE_; });
}

void finish() noexcept {
  if (!traced()) return;
  if (sums_path[0] != '\0')
    add_sums_of_rank();
  else
    TraceFile::instance().close();
}

void detail::call_begin(Call call) noexcept {
  ThreadTrace& self = own_trace();
  const Tick at = ticks();
  if (at >= self.next_anchor) [[unlikely]] {
    self.next_anchor = at + anchor_interval;
    TraceFile::instance().anchor();
  }
  Record& record = self.add(Kind::call_begin, 0, record_of(call), no_peer, 0, 0, at);
  if (self.depth++ < max_depth)
    self.frames[self.depth - 1] = {&record, no_peer, 0, 0, false, MemoryWay::host};
}

namespace {

/// Makes the begin of a call that has found nothing a record of its own, or part of the one before.
void count_question(ThreadTrace& self, Call call, Tick at) noexcept {
  Record& begin = *self.cursor.last();
  const Tick begun = begin.ticks;
  self.cursor.take_back();
  Record* const before = self.cursor.last();
  if (before != nullptr && before->kind == static_cast<std::uint8_t>(Kind::questions)) {
    before->id = at;
    ++before->bytes;
    if (before->what != record_of(call)) before->detail = 1;
    return;
  }
  self.add(Kind::questions, 0, record_of(call), no_peer, 1, at, begun);
}

/// Makes the begin of a call in which nothing else was recorded the record of the whole call, which
/// takes half the space of two.
void complete_call(Record& begin, const Frame& frame, std::uint8_t call_detail, Tick at) noexcept {
  begin.peer = frame.peer;
  begin.bytes = frame.bytes;
  begin.detail = call_detail;
  begin.id = at;
  // Release: a process that is killed leaves a begin or the whole.
  __atomic_store_n(&begin.kind, static_cast<std::uint8_t>(Kind::call), __ATOMIC_RELEASE);
}

}  // namespace

void detail::call_end(Call call, std::uint64_t id, std::uint8_t call_detail) noexcept {
  ThreadTrace& self = own_trace();
  const Tick at = ticks();
  Frame frame{nullptr, no_peer, 0, 0, false, MemoryWay::host};
  if (const Frame* innermost = self.innermost()) frame = *innermost;
  if (self.depth > 0) --self.depth;
  const bool found_nothing = call == Call::am_poll || (call_detail & not_ready) != 0;
  const bool is_alone = frame.begin != nullptr && self.cursor.last() == frame.begin;
  if (is_alone && found_nothing && role_of(call) == CallRole::asks)
    return count_question(self, call, at);
  if (frame.has_peer) call_detail |= has_peer;
  call_detail |= detail_of(frame.memory_way);
  if (is_alone && id == 0 && frame.operation == 0)
    return complete_call(*frame.begin, frame, call_detail, at);
  if (frame.operation != 0) {
    if (id != 0) self.add(Kind::event_of_operation, 0, 0, no_peer, id, frame.operation, at);
    id = frame.operation;
    call_detail |= has_number;
  }
  self.add(Kind::call_end, call_detail, record_of(call), frame.peer, frame.bytes, id, at);
}

void detail::transfer(std::uint32_t peer, std::size_t bytes) noexcept {
  ThreadTrace& self = own_trace();
  Frame* const frame = self.innermost();
  if (frame == nullptr) return;
  frame->peer = peer;
  frame->bytes = bytes;
  frame->has_peer = true;
  // For a call that never returns.
  if (!self.cursor.holds(frame->begin)) return;
  frame->begin->peer = peer;
  frame->begin->bytes = bytes;
}

void detail::memory_way(MemoryWay way) noexcept {
  if (Frame* const frame = own_trace().innermost()) frame->memory_way = way;
}

void wait_begins(WaitCause cause) noexcept {
  own_trace().add(Kind::wait_begin, 0, static_cast<std::uint16_t>(cause), no_peer, 0, 0, ticks());
}

void wait_ends(WaitCause cause) noexcept {
  own_trace().add(Kind::wait_end, 0, static_cast<std::uint16_t>(cause), no_peer, 0, 0, ticks());
}

void detail::collective(Collective kind, std::uint64_t team, std::uint32_t number,
                        std::uint32_t members) noexcept {
  own_trace().add(Kind::collective, static_cast<std::uint8_t>(kind), 0, members, number, team,
                  ticks());
}

std::uint64_t operation_begun() noexcept {
  ThreadTrace& self = own_trace();
  const std::uint64_t id = self.operations;
  ++self.operations;
  if (Frame* const frame = self.innermost()) frame->operation = id;
  return id;
}

void operation_withdrawn() noexcept {
  if (Frame* const frame = own_trace().innermost()) frame->operation = 0;
}

void detail::operation_done(std::uint64_t id) noexcept {
  own_trace().add(Kind::operation_done, 0, 0, no_peer, 0, id, ticks());
}

void detail::local_done(std::uint64_t id) noexcept {
  own_trace().add(Kind::local_done, 0, 0, no_peer, 0, id, ticks());
}

namespace {

/// The numbers of the names of intervals; those that find no place have a common one.
class AnnotationNames {
 public:
  std::uint16_t number_of(const char* text) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = numbers_.find(std::string_view(text));
    if (found != numbers_.end()) return found->second;
    const auto number = static_cast<std::uint16_t>(numbers_.size());
    if (number == max_names) return number;
    name(Names::annotations, number, number + 1 == max_names ? "other intervals" : text);
    numbers_.emplace(text, number);
    return number;
  }

 private:
  static constexpr std::uint16_t max_names = 400;

  std::mutex mutex_;
  std::map<std::string, std::uint16_t, std::less<>> numbers_;
};

void add_annotation(Kind kind, const char* text) noexcept {
  static auto* const names = new AnnotationNames;
  own_trace().add(kind, 0, names->number_of(text), no_peer, 0, 0, ticks());
}

}  // namespace

void detail::annotation_begin(const char* name) noexcept {
  add_annotation(Kind::annotation_begin, name);
}
void detail::annotation_end(const char* name) noexcept {
  add_annotation(Kind::annotation_end, name);
}

namespace {

Record& add_message(Kind kind, const Message& message, Tick at) noexcept {
  const auto detail =
      static_cast<std::uint8_t>(message.detail | message.handler >> 16 << endpoint_shift);
  return own_trace().add(kind, detail, static_cast<std::uint16_t>(message.handler), message.peer,
                         message.bytes, message.number, at);
}

}  // namespace

void message_sent(const Message& message, Tick at) noexcept {
  add_message(Kind::message_sent, message, at);
}

void handler_begin(const Message& message) noexcept {
  // The arrow from the send must not run backwards.
  add_message(Kind::handler_begin, message, ticks_after_loads());
}

void handler_put_off() noexcept {
  own_trace().cursor.take_back();
}

void handler_end(const Message& message) noexcept {
  add_message(Kind::handler_end, message, ticks());
}

void name_handler(std::uint32_t handler, const char* name) noexcept {
  trace::name(Names::handlers, handler, name);
}

void name_fact(Fact fact, const char* text) noexcept {
  trace::name(Names::facts, static_cast<std::uint32_t>(fact), text);
}

}  // namespace gex::trace
