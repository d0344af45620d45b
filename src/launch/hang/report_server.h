#pragma once
// Answers `gexrun --report`: a socket with an abstract name, by which the processes of the same
// user find the jobs of this machine. See report_client.h for the other end.
//
// A request is one line, the answer all that follows until the end of the connection:
//
//   list              JOB PROGRAM RANKS, one line
//   text PID          the report, if PID is of this job: its launcher, or one of its processes here
//   json PID          the same as JSON
//
// What is not of this job, or no request, has an empty answer.

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/os_file.h"
#include "launch/event_loop.h"
#include "launch/hang/hang_report.h"

namespace gex::launch {

/// The beginning of the abstract names of this user's jobs; a process id follows.
std::string report_socket_prefix();

/// Thread rules: one thread.
class ReportServer {
 public:
  struct Job {
    pid_t launcher = 0;       ///< what users call the job
    std::string description;  ///< for `list`
    std::function<bool(pid_t process)> contains;
    /// Calls its argument with the report, later.
    std::function<void(std::function<void(const HangReport&)>)> request;
  };
  explicit ReportServer(Job job) : job_(std::move(job)) {}

  /// Answers from now on; without a name to be had there are no answers.
  void serve(EventLoop& loop);

 private:
  struct Connection {
    os::FileDescriptor socket;
    EventLoop::Watch watch;
    std::string request;
    std::string answer;
    std::size_t written = 0;
  };
  using Connections = std::unordered_map<int, std::shared_ptr<Connection>>;

  void accept();
  void receive(Connection& connection);
  void answer(Connection& connection);
  void send(Connection& connection);
  void close(int socket) { connections_.erase(socket); }

  Job job_;
  EventLoop* loop_ = nullptr;
  os::FileDescriptor listener_;
  EventLoop::Watch watch_;
  Connections connections_;
};

}  // namespace gex::launch
