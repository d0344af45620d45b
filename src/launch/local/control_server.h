#pragma once
// The guardian's side of the control protocol (job/protocol.h): a connection to each rank of this
// host, the messages that ranks send, and the answers.
//
// Frames that a rank does not receive wait in that rank's channel. What concerns the whole job goes
// to the coordinator; what a rank does wrong ends the job.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "launch/channel.h"
#include "launch/event_loop.h"
#include "launch/local/local_job.h"
#include "launch/local/local_processes.h"
#include "launch/local/rank_observer.h"
#include "launch/rendezvous.h"

namespace gex::launch {

/// Thread rules: one thread.
class ControlServer final : public Timed {
 public:
  ControlServer(LocalJob& job, EventLoop& loop, LocalProcesses& processes, RankObserver& observer);

  /// Sets what the welcome of each rank contains besides the list of hosts.
  void set_page_file(os::FileDescriptor file);

  /// Makes the connection of a rank that is to be started, with the welcome in it, so that joining
  /// does not wait. Returns the rank's end, or an empty descriptor and sets errno.
  os::FileDescriptor open(std::uint32_t rank);
  /// Handles the messages of the ranks whose connections are open, from now on.
  void serve();
  /// Takes over the connection of `process`, which has joined as the rank.
  void adopt(std::uint32_t rank, pid_t process, os::FileDescriptor socket);

  /// Handles the frames of the rank that have arrived.
  void receive_from(std::uint32_t rank);

  // Answers and decisions of the coordinator: see Guardians.
  void gathered(std::uint32_t sequence, const SharedBytes& bytes);
  void absent(std::uint32_t rank, std::uint32_t sequence);
  void release(bool finalize);
  /// Sends the ranks the end of the job.
  void announce_end(int code);

  Deadline next_deadline() const override;
  /// Retries what could not be sent.
  void meet_deadlines() override;

 private:
  /// The connection of a rank.
  struct Line {
    Channel channel;
    EventLoop::Watch watch;
  };

  Line& at(std::uint32_t rank) noexcept { return lines_[job_.index_of(rank)]; }
  void watch(std::uint32_t rank);
  void send(std::uint32_t rank, const job::FrameHeader& header,
            SharedDescriptor descriptor = nullptr);
  void send_all(const job::FrameHeader& header);
  void queue_welcome(std::uint32_t rank);
  void flush(std::uint32_t rank);

  void handle_frame(std::uint32_t rank, job::Received frame);
  void handle_hello(std::uint32_t rank, pid_t process);
  void handle_gather(std::uint32_t rank, const job::Received& frame);
  void handle_share(std::uint32_t rank, job::Received& frame);
  void handle_leave(std::uint32_t rank, const job::Departure& departure);
  void handle_wait_on_exited_rank(std::uint32_t rank, std::uint32_t peer);
  void handle_exec_failure(std::uint32_t rank, int error, job::StartStep step);
  void handle_close(std::uint32_t rank);
  void detect_waits_on_exited_ranks();

  LocalJob& job_;
  EventLoop& loop_;
  LocalProcesses& processes_;
  RankObserver& observer_;
  std::vector<Line> lines_;  ///< as LocalJob::ranks
  SharedDescriptor page_file_;
  SharedBytes host_numbers_;  ///< the payload of FrameKind::welcome
  job::FrameBuffer frame_;
  Gather gather_;
  Sharing sharing_;
  /// The first rank of the job that has left, and the exchange that it has left before.
  struct Absence {
    std::uint32_t rank;
    std::uint32_t sequence;
  };
  std::optional<Absence> absence_;
  bool is_finalizing_ = false;  ///< all ranks have left, and may exchange again
  bool starved_ = false;        ///< some channel waits for descriptors in flight to be received
};

}  // namespace gex::launch
