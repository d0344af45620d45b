#pragma once
// A guardian's connection to the root of a job of several hosts: forwards calls of Coordinator to
// the root, and the root's calls of Guardians to the guardian.
//
// That ranks have joined, left or ended is sent for several of them at once: for all ranks of the
// host as a rule, and for those that have after `max_event_delay`, or before any other frame.

#include <functional>
#include <optional>
#include <string>

#include "launch/coordinator.h"
#include "launch/event_loop.h"
#include "launch/hosts/link.h"
#include "launch/rendezvous.h"

namespace gex::launch {

/// Seconds until the root has what has happened to some ranks of a host, and not to the others.
inline constexpr double max_event_delay = 0.05;

/// Thread rules: one thread.
class Uplink final : public Coordinator, public Timed {
 public:
  /// Called when the root is lost, with the reason for the user.
  using Lost = std::function<void(const std::string& why)>;

  /// Forwards the root's calls to the `guardian` of host number `host`, and its permission to
  /// report an error to `page`.
  Uplink(os::FileDescriptor root, const LinkKeys& keys, const job::HostParts& hosts,
         std::uint32_t host, Guardians& guardian, job::JobPage& page);

  void joined(std::uint32_t rank, pid_t process) override;
  void contribute(std::uint32_t sequence, job::Exchange kind, SharedBytes bytes) override;
  void left(std::uint32_t rank, std::uint32_t sequence, const job::Departure& departure) override;
  void gone(std::uint32_t rank, pid_t process) override;
  void report_exited_peer(std::uint32_t peer) override;
  void end(const job::Ending& ending, const std::string& text) override;
  void request_error_report() override;
  void interrupted(int signal) override;
  /// Also waits until the root has received all frames, or is lost.
  void observed(const Observation& observation) override;
  void collected(std::uint32_t number, SharedBytes reports) override;
  void finished(bool lost_output) override;

  /// Handles the root's frames in the turns of this loop.
  void serve(EventLoop& loop, Lost lost);

  /// Handles the frames that have arrived. Returns false if the connection is closed or a frame is
  /// malformed.
  bool receive();

  /// Sends a heartbeat if one is due, for callers that do not run the loop for long.
  void send_heartbeat();
  Deadline next_deadline() const override;
  /// Sends a heartbeat if one is due, and checks those of the root.
  void meet_deadlines() override;

 private:
  void flush();
  void send(job::FrameKind kind, std::uint32_t rank, int code);
  template <typename... Body>
  void queue(const job::FrameHeader& header, Body&&... body);
  void add_event(job::FrameKind kind, const job::RankEvent& event);
  void queue_events();
  bool handle_frame(const job::Received& frame);
  bool handle_gathered(const job::Received& frame);
  SharedBytes take_gathered();

  const job::HostParts& hosts_;
  std::uint32_t host_;
  Guardians& guardian_;
  job::JobPage& page_;
  Link link_;
  EventLoop::Watch watch_;
  Lost lost_;
  bool blocked_ = false;  ///< frames wait for the socket to be writable
  Deadline heartbeat_at_;
  std::vector<job::RankEvent> events_;  ///< of one kind, to be sent
  job::FrameKind event_kind_{};
  Deadline events_at_;               ///< at the latest
  std::vector<std::byte> gathered_;  ///< pieces of an incomplete exchange
  job::FrameHeader gathering_;       ///< the header of its first piece
  SharedBytes on_host_;  ///< what the ranks of this host have given to an exchange on each host
};

}  // namespace gex::launch
