#pragma once
// The root's links to the guardians of the job's hosts (link.h): frames, heartbeats, timeouts.

#include <cstdint>
#include <vector>

#include "launch/channel.h"
#include "launch/event_loop.h"
#include "launch/hosts/link.h"
#include "launch/hosts/root_hosts.h"

namespace gex::launch {

/// Thread rules: one thread.
class HostConnections final : public Timed {
 public:
  HostConnections(const RootHosts& hosts, EventLoop& loop, HostEvents& events);

  /// Begins the exchange of frames with the host, on an authenticated connection.
  void connect(std::uint32_t host, os::FileDescriptor socket, const LinkKeys& keys);
  void close(std::uint32_t host);
  /// Returns true if the host is this machine: both ends of its connection have the same address.
  bool is_here(std::uint32_t host) const;

  // To hosts that are connected.
  void send(std::uint32_t host, const job::FrameHeader& header);
  void send_all(const job::FrameHeader& header);
  void send_all(const job::FrameHeader& header, const SharedBytes& body);

  Deadline next_deadline() const override;
  void meet_deadlines() override;

 private:
  struct Line {
    Link link;
    EventLoop::Watch watch;
  };

  void flush(std::uint32_t host);
  void receive_from(std::uint32_t host);
  void send_heartbeats();

  EventLoop& loop_;
  HostEvents& events_;
  std::vector<Line> lines_;
  Deadline heartbeat_at_;
};

}  // namespace gex::launch
