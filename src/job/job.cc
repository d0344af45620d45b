#include "job/job.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "base/os_file.h"
#include "base/os_proc.h"
#include "job/foreign.h"
#include "job/launch_hook.h"
#include "job/limits.h"
#include "job/line_output.h"
#include "job/packed_table.h"
#include "job/place.h"
#include "job/rank_state.h"
#include "job/rank_status.h"
#include "job/rank_variables.h"

namespace gex::job {

std::atomic<RankState*> rank_state{nullptr};

namespace {

RankState& state() noexcept {
  return *rank_state.load(std::memory_order_relaxed);
}

/// Receives the next frame, which must be of `kind`. Ends this rank if the job is ending instead.
Received receive(RankState& self, FrameKind kind) {
  Received frame = receive_frame(self.control.get(), self.frame, /*wait=*/true);
  switch (frame.outcome) {
    case Received::Outcome::frame:
      if (frame.header.kind == kind) {
        ++self.counts.received;
        self.counts.received_bytes += frame.payload.size();
        return frame;
      }
      if (frame.header.kind == FrameKind::ending) Job::current().follow();
      break;
    case Received::Outcome::closed:
      // This rank connects late, to a job that has failed and reported that.
      if (self.origin == Origin::foreign && kind == FrameKind::welcome)
        Job::current().end_at_once(1);
      fatal("the connection to the job's guardian is closed");
    case Received::Outcome::would_block:
    case Received::Outcome::malformed:
      break;
  }
  if (frame.lost_descriptor)
    fatal(
        "cannot receive shared memory from gexrun: this process may have no more open files "
        "(at most %llu, ulimit -n)",
        static_cast<unsigned long long>(os::file_limit()));
  fatal("the job's guardian sent something unexpected (kind %u)",
        static_cast<unsigned>(frame.header.kind));
}

void send(RankState& self, const FrameHeader& header, std::span<const std::byte> payload = {},
          int descriptor = -1) {
  ++self.counts.sent;
  self.counts.sent_bytes += payload.size();
  for (;;) {
    switch (send_frame(self.control.get(), header, payload, descriptor, /*wait=*/true)) {
      case Sent::whole:
        return;
      case Sent::closed:
        fatal("the connection to the job's guardian is closed");
      case Sent::would_block:
      case Sent::no_descriptors:
        // The kernel is short of memory or of descriptors in flight, and signals no end of that.
        if (self.page.ending()) Job::current().follow();
        usleep(1000);
        break;
    }
  }
}

/// Gives the guardian the rank's status to read.
void share_status(RankState& self) {
  const int file = RankStatus::own().share();
  if (file < 0) return;
  FrameHeader status;
  status.kind = FrameKind::status;
  send(self, status, {}, file);
}

/// Sends `hello` and receives the job page, which the guardian has sent before this process began.
/// `hello` goes first: if this is the second process that joins as the rank, there is no welcome to
/// receive, and the guardian must learn of it to end the job.
void join_guardian(RankState& self) {
  FrameHeader hello;
  hello.kind = FrameKind::hello;
  hello.first = self.rank;
  send(self, hello);
  // What a frame's payload lies in is used by the next.
  os::FileDescriptor page;
  std::vector<std::byte> packed;
  for (std::size_t total = 1; packed.size() < total;) {
    Received welcome = receive(self, FrameKind::welcome);
    if (packed.empty()) {
      if (!welcome.descriptor) fatal("the job's guardian sent no job page");
      page = std::move(welcome.descriptor);
      total = welcome.header.total;
    }
    if (welcome.header.total != total || welcome.header.offset != packed.size() ||
        welcome.payload.empty() || welcome.payload.size() > total - packed.size())
      fatal("the job's guardian sent an invalid list of hosts");
    packed.insert(packed.end(), welcome.payload.begin(), welcome.payload.end());
  }
  // A process that has lost its rank lacks the job's size too.
  std::vector<std::uint32_t> hosts;
  if (self.rank != Ending::by_guardian && self.size != 0) {
    auto numbers = unpack_rows<std::uint32_t>(packed, self.size);
    if (!numbers) fatal("the job's guardian sent an invalid list of hosts");
    hosts = std::move(*numbers);
  }
  self.hosts = RankNumbers(hosts);
  RankSet neighbors;
  if (!hosts.empty()) neighbors = self.hosts.ranks_of(self.hosts[self.rank]);
  if (const int error = self.page.map(page.get(), neighbors.size()); error != 0) {
    fatal_system("cannot map the job's page of memory", error);
  }
  self.last_call = self.page.last_call(neighbors.index_of(self.rank));
  share_status(self);
}

/// Waits until `done`, but not longer than a second, so that an error is reported, and ends the
/// rank, in any case.
template <class Condition>
void wait_a_second_for(const Condition& done) noexcept {
  constexpr int max_wait_ms = 1000;
  for (int waited = 0; waited < max_wait_ms && !done(); ++waited) usleep(1000);
}

/// Returns true if this rank may report an error: it is the first of its host to ask, and with
/// several hosts the root has granted it.
bool may_report_error(RankState& self) noexcept {
  if (!self.page.claim_error()) return false;
  if (self.page.error_report() == JobPage::ErrorReport::undecided) {
    FrameHeader error_report;
    error_report.kind = FrameKind::error_report;
    send_frame(self.control.get(), error_report, {}, -1, /*wait=*/false);
    wait_a_second_for(
        [&self] { return self.page.error_report() != JobPage::ErrorReport::undecided; });
  }
  return self.page.error_report() != JobPage::ErrorReport::refused;
}

/// Returns true if this rank reports its error. If not, waits until another rank has reported one
/// and ended the job: a launcher that detects this rank's end first might kill that one too early.
bool claim_error(RankState& self) noexcept {
  if (may_report_error(self)) return true;
  wait_a_second_for([&self] { return self.page.ending(); });
  return false;
}

/// Makes this process the rank of `membership`: from here on its errors and its end are the job's.
void become(const Membership& membership, Origin origin,
            std::unique_ptr<ProcessManager> manager = nullptr) {
  auto* const self = new RankState;
  self->rank = membership.rank;
  self->size = membership.size;
  self->origin = origin;
  if (origin == Origin::singleton) {
    constexpr std::uint32_t only_host[] = {0};
    self->hosts = RankNumbers(only_host);
    self->page.decide_error_report(JobPage::ErrorReport::allowed);
  }
  self->process = getpid();
  self->manager = std::move(manager);
  rank_state.store(self, std::memory_order_release);
  if (origin != Origin::singleton) {
    fcntl(membership.control, F_SETFD, FD_CLOEXEC);
    self->control.reset(membership.control);
    join_guardian(*self);
  }
  set_abort_hook([](int code) noexcept { Job::current().end_at_once(code); });
  // A child that the client has forked is not the rank, and reports its own errors.
  set_first_error_hook(
      []() noexcept { return getpid() != state().process || claim_error(state()); });
}

/// The hook for an error before `join`, which concerns the job too: joins it by the inherited
/// connection, to report the error.
bool claim_error_before_joining() noexcept {
  const auto text = env::value(env::Variable::job);
  if (!text) return true;
  // If this fails in turn, that error is reported without the job.
  unsetenv("GEX_JOB");
  std::string why;
  const auto membership = parse_membership(*text, why);
  if (!membership) return true;
  become(*membership, Origin::gexrun);
  return claim_error(state());
}
[[maybe_unused]] const bool registered = [] {
  set_first_error_hook(claim_error_before_joining);
  return true;
}();

/// Ends a process that gexrun has started as a rank but that has no GEX_JOB, because a wrapper has
/// cleared its environment: it would run as a job of one rank. It is recognized by its control
/// socket, which programs that a joined rank runs do not inherit, and which also serves to end the
/// job.
void refuse_lost_rank() {
  const std::unique_ptr<DIR, int (*)(DIR*)> open_files(opendir("/proc/self/fd"), closedir);
  if (!open_files) return;
  while (const dirent* const entry = readdir(open_files.get())) {
    const int descriptor = std::atoi(entry->d_name);
    if (descriptor <= STDERR_FILENO) continue;
    const int maker = maker_of_control_socket(descriptor);
    if (maker != 0 && os::process_name(maker) == guardian_name) {
      Membership unknown;
      unknown.control = descriptor;
      unknown.rank = Ending::by_guardian;
      become(unknown, Origin::gexrun);
      fatal(
          "this process was started as a rank by gexrun, but GEX_JOB is missing from its "
          "environment (a wrapper removed it?); it would run as a job of one rank");
    }
  }
}

std::uint32_t ranks_to_fork(const std::string& text) {
  const auto ranks = env::parse_integer(text);
  if (!ranks || *ranks < 1 || *ranks > max_ranks) {
    fatal("GASNET_PSHM_NODES='%s' is not a number of ranks from 1 to %u", text.c_str(), max_ranks);
  }
  return static_cast<std::uint32_t>(*ranks);
}

/// Turns this process into the launcher of a job whose ranks are its forks. Returns in the ranks.
Membership fork_ranks(std::uint32_t ranks, const char* asked_by) {
  // Only a warning: libraries may start threads before main, and restart them in forks.
  if (const int others = os::other_threads().value_or(0); others > 0) {
    warn(
        "%s=%u forks inside gex_Client_Init, and %d other thread%s of this process "
        "%s not in the ranks; gexrun -n %u starts each rank as a whole",
        asked_by, ranks, others, others == 1 ? "" : "s", others == 1 ? "is" : "are", ranks);
  }
  // Every rank would write what is buffered in the streams now.
  flush_streams();
  return launch_hook().fork_ranks(ranks);
}

/// Determines this process's rank by its environment. `join` removes the variables afterwards, so
/// that a program that this process executes does not act as the rank.
Membership find_membership(bool nested, Origin& origin, std::unique_ptr<ProcessManager>& manager,
                           const RanksWanted& wanted) {
  if (const auto text = env::value(env::Variable::job)) {
    std::string why;
    const auto membership = parse_membership(*text, why);
    if (!membership) fatal("GEX_JOB='%s': %s", text->c_str(), why.c_str());
    origin = Origin::gexrun;
    return *membership;
  }
  if (const auto text = env::value(env::Variable::pshm_nodes)) {
    origin = Origin::forked;
    return fork_ranks(ranks_to_fork(*text), "GASNET_PSHM_NODES");
  }
  refuse_lost_rank();
  origin = Origin::singleton;
  std::string why;
  if (!nested) manager = find_process_manager(why);
  if (manager) {
    origin = Origin::foreign;
    return join_foreign(*manager);
  }
  if (!why.empty()) {
    fatal("this process is one of several of a launcher, and would run as a job of one rank: %s",
          why.c_str());
  }
  const std::uint32_t ranks = wanted ? wanted() : 0;
  if (ranks == 0) return {};
  origin = Origin::forked;
  return fork_ranks(ranks, "the number of ranks");
}

/// Sends this rank's contribution to the next exchange.
void contribute(RankState& self, Exchange kind, std::span<const std::byte> mine) {
  FrameHeader header;
  header.kind = FrameKind::gather;
  header.count = static_cast<std::uint32_t>(kind);
  header.sequence = self.sequence;
  header.total = mine.size();
  do {
    const auto piece =
        mine.subspan(header.offset, std::min(mine.size() - header.offset, max_payload));
    send(self, header, piece);
    header.offset += piece.size();
  } while (header.offset < mine.size());
}

/// Receives the result of that exchange, which has so many bytes.
Exchanged receive_result(RankState& self, std::size_t bytes) {
  std::vector<std::byte> all;
  do {
    const Received frame = receive(self, FrameKind::gathered);
    const bool is_file = static_cast<bool>(frame.descriptor) && bytes != 0;
    if (frame.header.sequence != self.sequence || frame.header.total != bytes ||
        frame.header.offset != all.size() || frame.payload.size() > bytes - all.size() ||
        (frame.payload.empty() && bytes != 0 && !is_file)) {
      fatal("the job's guardian sent a malformed piece of an exchange");
    }
    if (is_file) {
      ++self.sequence;
      os::Mapping table = os::Mapping::shared(frame.descriptor.get(), 0, bytes);
      if (!table) fatal_system("cannot map what the ranks of the job exchange", errno);
      return Exchanged(std::move(table));
    }
    all.insert(all.end(), frame.payload.begin(), frame.payload.end());
  } while (all.size() < bytes);
  ++self.sequence;
  return Exchanged(std::move(all));
}

RankPlace place_of(const RankState& self) noexcept {
  const RankSet local = self.hosts.ranks_of(self.hosts[self.rank]);
  return {self.rank, self.size, local.index_of(self.rank), local.size()};
}

}  // namespace

Job& Job::current() noexcept {
  // Constant-initialized and without state, since signal handlers call this.
  static constinit Job job;
  return job;
}

Job& Job::join(const RanksWanted& wanted) {
  if (joined()) return current();
  print_by_lines();
  Origin origin = Origin::singleton;
  std::unique_ptr<ProcessManager> manager;
  const bool nested = is_place_of_ancestor();
  const Membership membership = find_membership(nested, origin, manager, wanted);
  unsetenv("GEX_JOB");
  unsetenv("GASNET_PSHM_NODES");
  mark_place();

  set_message_rank(membership.rank);
  become(membership, origin, std::move(manager));
  set_rank_variables(place_of(state()));
  state().nested = nested && origin == Origin::singleton;
  install_exit_handler();
  return current();
}

bool Job::joined() noexcept {
  return rank_state.load(std::memory_order_acquire) != nullptr;
}

std::uint32_t Job::rank() const noexcept {
  return state().rank;
}

std::uint32_t Job::size() const noexcept {
  return state().size;
}

Origin Job::origin() const noexcept {
  return state().origin;
}

bool Job::nested() const noexcept {
  return state().nested;
}

std::uint32_t Job::host_of(std::uint32_t rank) const noexcept {
  return state().hosts[rank];
}

void Job::exchange(std::span<const std::byte> mine, std::span<std::byte> all) {
  if (all.size() != mine.size() * state().size) {
    fatal("exchange of %zu bytes into %zu among %u ranks", mine.size(), all.size(), state().size);
  }
  const Exchanged exchanged = exchange(mine);
  std::ranges::copy(exchanged.bytes(), all.begin());
}

Exchanged Job::exchange(std::span<const std::byte> mine) {
  RankState& self = state();
  if (self.origin == Origin::singleton) return Exchanged({mine.begin(), mine.end()});
  contribute(self, Exchange::all, mine);
  return receive_result(self, mine.size() * self.size);
}

Exchanged Job::exchange_on_host(std::span<const std::byte> mine) {
  RankState& self = state();
  if (self.origin == Origin::singleton) return Exchanged({mine.begin(), mine.end()});
  contribute(self, Exchange::on_host, mine);
  return receive_result(self, mine.size() * self.hosts.ranks_of(self.hosts[self.rank]).size());
}

void Job::least(std::span<std::uint64_t> numbers) {
  RankState& self = state();
  if (self.origin == Origin::singleton) return;
  for (auto left = std::as_writable_bytes(numbers); !left.empty();) {
    const auto bytes = left.first(std::min(left.size(), max_least));
    contribute(self, Exchange::least, bytes);
    std::ranges::copy(receive_result(self, bytes.size()).bytes(), bytes.begin());
    left = left.subspan(bytes.size());
  }
}

StartCounts Job::start_counts() const noexcept {
  StartCounts counts = state().counts;
  counts.exchanges = state().sequence;
  return counts;
}

void Job::barrier() {
  exchange({}, {});
}

int Job::share_descriptor(int descriptor, const RankSet& ranks, std::uint32_t owner) {
  RankState& self = state();
  if (self.origin == Origin::singleton) return descriptor;
  if (ranks.size() * sizeof(std::uint32_t) > max_payload)
    fatal("%u ranks are on one host, which can have at most %zu; use more hosts", ranks.size(),
          max_payload / sizeof(std::uint32_t));
  FrameHeader header;
  header.kind = FrameKind::share;
  header.owner = owner;
  send(self, header, std::as_bytes(std::span(ranks)), descriptor);
  Received answer = receive(self, FrameKind::shared);
  if (self.rank == owner) return descriptor;
  if (!answer.descriptor) fatal("the job's guardian shared no descriptor");
  return answer.descriptor.release();
}

LastCall* Job::last_call() noexcept {
  return state().last_call;
}

void Job::set_idle_poll(void (*poll)(bool serve) noexcept, std::uint32_t ranks_per_core) noexcept {
  state().ranks_per_core.store(std::max(1U, ranks_per_core), std::memory_order_relaxed);
  state().idle_poll.store(poll, std::memory_order_release);
}

}  // namespace gex::job
