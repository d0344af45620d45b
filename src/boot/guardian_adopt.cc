// The part of the guardian for ranks that another launcher has started: see guardian.h.

#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "boot/guardian.h"
#include "boot/process_tree.h"
#include "boot/rank_set.h"

namespace gex::boot {

namespace {

/// Time from the end of the launcher to SIGKILL.
constexpr double lost_launcher_grace = 2;

/// Time in which ranks may end by themselves after their guardian was killed.
constexpr auto lost_guardian_grace = std::chrono::seconds(1);

/// How many connections may be pending whose process has not identified itself as a rank.
constexpr std::size_t max_pending_connections = 1024;

}  // namespace

/// The process id of each adopted rank, 0 while it has none, in memory that the guardian shares
/// with the process that watches it.
class Guardian::Adopted {
 public:
  explicit Adopted(std::size_t ranks) : count_(ranks) {
    void* const memory = mmap(nullptr, count_ * sizeof(Process), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    processes_ = static_cast<Process*>(memory);
    std::uninitialized_value_construct_n(processes_, count_);
  }
  ~Adopted() {
    if (processes_ != nullptr) munmap(processes_, count_ * sizeof(Process));
  }
  Adopted(const Adopted&) = delete;
  Adopted& operator=(const Adopted&) = delete;

  bool mapped() const noexcept { return processes_ != nullptr; }
  void set(std::uint32_t index, pid_t process) noexcept { processes_[index] = process; }

  /// Kills all of them, after a grace period.
  void kill_later() const {
    // Open the pidfds at once, before a process id can be reused.
    std::vector<os::FileDescriptor> handles;
    for (std::size_t i = 0; i < count_; ++i) {
      const pid_t process = processes_[i];
      if (process > 0) handles.emplace_back(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
    }
    std::this_thread::sleep_for(lost_guardian_grace);
    for (const os::FileDescriptor& handle : handles)
      if (handle) syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0);
  }

 private:
  using Process = std::atomic<pid_t>;
  static_assert(Process::is_always_lock_free);
  std::size_t count_;
  Process* processes_ = nullptr;
};

int Guardian::serve_watched() {
  adopted_ = std::make_shared<Adopted>(ranks_.size());
  const pid_t serving = adopted_->mapped() ? fork() : -1;
  if (serving < 0) fail_start(std::string("cannot start the guardian: ") + std::strerror(errno));
  if (serving == 0) _exit(serve());
  prctl(PR_SET_NAME, "gex-watcher");
  int status = 0;
  while (waitpid(serving, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  // Ranks read the page whenever they poll.
  page_.claim({.code = 1});
  report(launch_.program_name, "the guardian of %s was killed by %s; its ranks are ended",
         part_.name.c_str(), describe_signal(WTERMSIG(status)).c_str());
  adopted_->kill_later();
  return 1;
}

void Guardian::prepare_to_adopt() {
  watch(launch_.adopts, make_tag(from_listener));
  join_deadline_ = after(launch_.join_limit);
  // A parent process 1 is no launcher.
  if (launch_.launcher <= 1) return;
  launcher_.reset(static_cast<int>(syscall(SYS_pidfd_open, launch_.launcher, 0)));
  if (launcher_) watch(launcher_.get(), make_tag(from_launcher));
}

/// Ends the job: no process waits for the ranks or reads their output any more. Some launchers end
/// the ranks themselves.
void Guardian::handle_launcher_exit() {
  launcher_.reset();
  if (ending_ || all_gone()) return;
  kill_at_ = after(lost_launcher_grace);
  request_end({.code = 1}, "the launcher (pid " + std::to_string(launch_.launcher) +
                               ") has ended before its ranks; the job is ended");
}

void Guardian::accept_connections() {
  for (;;) {
    os::FileDescriptor socket(
        accept4(launch_.adopts, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) return;
    struct ucred peer {};
    socklen_t length = sizeof peer;
    // Refuse processes of other users, by the peer's credentials from the kernel.
    if (getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0 || peer.pid <= 0 ||
        pending_connections_.size() == max_pending_connections) {
      continue;
    }
    if (peer.uid != geteuid()) {
      if (!std::exchange(refused_user_reported_, true)) {
        report(launch_.program_name, "refused a connection of user %u on %s (reported once)",
               unsigned{peer.uid}, part_.name.c_str());
      }
      continue;
    }
    watch(socket.get(), make_tag(from_pending, static_cast<std::uint32_t>(socket.get())));
    pending_connections_.push_back({Channel(std::move(socket)), peer.pid});
  }
}

void Guardian::handle_pending_connection(int socket) {
  const auto found =
      std::find_if(pending_connections_.begin(), pending_connections_.end(),
                   [socket](auto& connection) { return connection.channel.socket() == socket; });
  if (found == pending_connections_.end()) return;
  const Received frame = found->channel.receive(frame_);
  if (frame.outcome == Received::Outcome::would_block) return;
  PendingConnection connection = std::move(*found);
  pending_connections_.erase(found);
  const std::uint32_t rank = frame.header.first;
  if (frame.outcome == Received::Outcome::frame && frame.header.kind == FrameKind::hello &&
      part_.ranks.contains(rank) && at(rank).process == 0) {
    adopt(rank, connection.process, connection.channel.release());
  } else if (frame.outcome != Received::Outcome::closed &&
             !std::exchange(refused_connection_reported_, true)) {
    report(launch_.program_name,
           "refused a connection to the guardian of %s that is not from a rank (reported once)",
           part_.name.c_str());
  }
}

void Guardian::adopt(std::uint32_t rank, pid_t process, os::FileDescriptor socket) {
  Rank& self = at(rank);
  self.process = process;
  self.joined_handle.reset(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  const int error = self.joined_handle ? 0 : errno;
  // ESRCH: the process has ended, and its id may be reused.
  if (error != ESRCH) adopted_->set(part_.ranks.index_of(rank), process);
  if (error != 0) {
    self.gone = true;  // its end cannot be detected
    ++gone_count_;
    if (error == ESRCH)
      died(rank, "ended before it had joined the job");
    else
      fault(rank, std::string("cannot be watched: ") + std::strerror(error));
    return;
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = make_tag(from_rank, rank);
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket.get(), &event);
  watch(self.joined_handle.get(), make_tag(from_program, rank));
  self.channel = Channel(std::move(socket));
  FrameHeader welcome;
  welcome.kind = FrameKind::welcome;
  self.channel.queue(welcome, host_numbers_, page_file_);
  if (ending_) {
    FrameHeader ending;
    ending.kind = FrameKind::ending;
    ending.code = page_.end().code;
    self.channel.queue(ending);
  }
  flush(rank);
  handle_hello(rank, process);
  if (std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& one) { return one.joined; })) {
    stop_listening();
  }
}

/// All ranks have joined or are given up: connections from now on do not belong to the job.
void Guardian::stop_listening() {
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, launch_.adopts, nullptr);
  shutdown(launch_.adopts, SHUT_RDWR);
  pending_connections_.clear();
  join_deadline_.reset();
}

void Guardian::handle_adopted_exit(std::uint32_t rank) {
  Rank& self = at(rank);
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, self.joined_handle.get(), nullptr);
  adopted_->set(part_.ranks.index_of(rank), 0);
  // Frames that it sent before it ended come first.
  receive_from(rank);
  self.gone = true;
  self.lost.reset();
  ++gone_count_;
  if (!ending_ && page_.ending()) {
    request_end(page_.end(), {});
  } else if (!ending_ && !self.left) {
    // Only the launcher, its parent, gets the exit status.
    died(rank, "has died" + moment_of(rank) + memory_kills_.explain());
  }
  coordinator().gone(rank, self.process);
}

void Guardian::signal_adopted(const Rank& rank, int number) {
  if (rank.joined_handle) {
    syscall(SYS_pidfd_send_signal, rank.joined_handle.get(), number, nullptr, 0);
  }
}

void Guardian::handle_join_timeout() {
  if (ending_) {
    give_up_missing_ranks();
    return;
  }
  // `end` sets an earlier deadline, after which the missing ranks are given up.
  join_deadline_ = after(launch_.join_limit);
  RankSet missing;
  for (const std::uint32_t rank : part_.ranks) {
    if (!at(rank).joined) missing.add(rank);
  }
  request_end({1, missing.front()},
              describe_ranks(missing) + " of host " + part_.name + " did not join the job");
}

/// Stops waiting for the ranks that have not joined.
void Guardian::give_up_missing_ranks() {
  stop_listening();
  for (Rank& rank : ranks_) {
    if (rank.process != 0 || rank.gone) continue;
    rank.gone = true;
    ++gone_count_;
  }
}

}  // namespace gex::boot
