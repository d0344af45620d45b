#include "launch/local/adoption.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "job/rank_set.h"
#include "launch/report.h"

namespace gex::launch {

namespace {

/// Seconds from the end of the launcher to SIGKILL.
constexpr double lost_launcher_grace = 2;

/// Seconds in which ranks may still join a job that ends. Ranks that the launcher started together
/// with the others join soon or not at all.
constexpr double late_join_grace = 2;

/// How many connections may be pending whose process has not identified itself as a rank.
constexpr std::size_t max_pending_connections = 1024;

}  // namespace

Adoption::Adoption(LocalJob& job, EventLoop& loop, LocalProcesses& processes,
                   ControlServer& control, RankTeardown& teardown)
    : job_(job), loop_(loop), processes_(processes), control_(control), teardown_(teardown) {
}

void Adoption::serve() {
  listener_watch_ = loop_.watch(job_.launch.adopts, [this] { accept_connections(); });
  join_deadline_ = after(job_.launch.join_limit);
  // A parent process 1 is no launcher.
  if (job_.launch.launcher <= 1) return;
  launcher_.reset(static_cast<int>(syscall(SYS_pidfd_open, job_.launch.launcher, 0)));
  if (launcher_) launcher_watch_ = loop_.watch(launcher_.get(), [this] { handle_launcher_exit(); });
}

/// Ends the job: no process waits for the ranks or reads their output any more. Some launchers end
/// the ranks themselves.
void Adoption::handle_launcher_exit() {
  launcher_watch_.reset();
  launcher_.reset();
  if (job_.ending || job_.all_gone()) return;
  teardown_.kill_after(lost_launcher_grace);
  job_.request_end({.code = 1}, "the launcher (pid " + std::to_string(job_.launch.launcher) +
                                    ") has ended before its ranks; the job is ended");
}

void Adoption::accept_connections() {
  for (;;) {
    os::FileDescriptor socket(
        accept4(job_.launch.adopts, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
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
        report(job_.launch.program_name, "refused a connection of user %u on %s (reported once)",
               unsigned{peer.uid}, job_.part.name.c_str());
      }
      continue;
    }
    const int number = socket.get();
    pending_connections_.push_back(
        {Channel(std::move(socket)), peer.pid,
         loop_.watch(number, [this, number] { handle_pending_connection(number); })});
  }
}

void Adoption::handle_pending_connection(int socket) {
  const auto found =
      std::find_if(pending_connections_.begin(), pending_connections_.end(),
                   [socket](auto& connection) { return connection.channel.socket() == socket; });
  if (found == pending_connections_.end()) return;
  const job::Received frame = found->channel.receive(frame_);
  if (frame.outcome == job::Received::Outcome::would_block) return;
  PendingConnection connection = std::move(*found);
  pending_connections_.erase(found);
  const std::uint32_t rank = frame.header.first;
  if (frame.outcome == job::Received::Outcome::frame &&
      frame.header.kind == job::FrameKind::hello && job_.part.ranks.contains(rank) &&
      job_.at(rank).process == 0) {
    adopt(rank, std::move(connection));
  } else if (frame.outcome != job::Received::Outcome::closed &&
             !std::exchange(refused_connection_reported_, true)) {
    report(job_.launch.program_name,
           "refused a connection to the guardian of %s that is not from a rank (reported once)",
           job_.part.name.c_str());
  }
}

void Adoption::adopt(std::uint32_t rank, PendingConnection connection) {
  connection.watch.reset();
  if (const int error = processes_.adopt(rank, connection.process); error != 0) {
    if (error == ESRCH)
      job_.died(rank, "ended before it had joined the job");
    else
      job_.fault(rank, std::string("cannot be watched: ") + std::strerror(error));
    return;
  }
  control_.adopt(rank, connection.process, connection.channel.release());
  if (std::all_of(job_.ranks.begin(), job_.ranks.end(),
                  [](const LocalRank& one) { return one.joined; })) {
    stop_listening();
  }
}

/// All ranks have joined or are given up: connections from now on do not belong to the job.
void Adoption::stop_listening() {
  listener_watch_.reset();
  shutdown(job_.launch.adopts, SHUT_RDWR);
  pending_connections_.clear();
  join_deadline_.reset();
}

void Adoption::shorten() {
  if (join_deadline_) join_deadline_ = after(late_join_grace);
}

void Adoption::meet_deadlines() {
  if (met(join_deadline_)) handle_join_timeout();
}

void Adoption::handle_join_timeout() {
  if (job_.ending) {
    give_up_missing_ranks();
    return;
  }
  // The end of the job sets an earlier deadline, after which the missing ranks are given up.
  join_deadline_ = after(job_.launch.join_limit);
  job::RankSet missing;
  for (const std::uint32_t rank : job_.part.ranks) {
    if (!job_.at(rank).joined) missing.add(rank);
  }
  job_.request_end({1, missing.front()}, job::describe_ranks(missing) + " of host " +
                                             job_.part.name + " did not join the job");
}

/// Stops waiting for the ranks that have not joined.
void Adoption::give_up_missing_ranks() {
  stop_listening();
  for (LocalRank& rank : job_.ranks) {
    if (rank.process == 0 && !rank.gone) job_.mark_gone(rank);
  }
}

}  // namespace gex::launch
