#pragma once
// The links of a root, or of an agent that starts hosts, to the hosts that it starts (link.h):
// frames, heartbeats, timeouts.
//
// There is one link for each of these: to its guardian or, where its agent starts others, to that
// agent, through which its own guardian and the others are reached (launch/agents/branch.h). Frames
// bear the number of the host that they are from or for.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/channel.h"
#include "launch/event_loop.h"
#include "launch/hosts/host_tree.h"
#include "launch/hosts/link.h"
#include "launch/hosts/root_hosts.h"

namespace gex::launch {

/// Thread rules: one thread.
class HostConnections final : public Timed {
 public:
  HostConnections(const RootHosts& hosts, const HostTree& tree, EventLoop& loop,
                  HostEvents& events);

  /// The other end of a link.
  struct Peer {
    std::uint32_t host;
    bool is_agent;  ///< that starts others
  };
  /// Begins the exchange of frames with a peer that has named this number when it authenticated
  /// itself: that of its host, to which an agent that starts others adds the number of hosts. Empty
  /// if no such link is expected: the connection is closed.
  std::optional<Peer> connect(std::uint32_t number, os::FileDescriptor socket,
                              const LinkKeys& keys);
  /// Closes the link to the host's guardian.
  void close(std::uint32_t host);
  /// Returns true if the host is this machine: both ends of its connection have the same address.
  bool is_here(std::uint32_t host) const;

  // To hosts that are connected.
  void send(std::uint32_t host, job::FrameHeader header);
  void send_all(job::FrameHeader header);
  void send_all(job::FrameHeader header, const SharedBytes& body);
  /// Forwards a frame to all hosts, as it is.
  void forward_all(const job::FrameHeader& header, const SharedBytes& payload);
  /// Sends a frame about a host to the agents that start others by which it is reached.
  void send_to_agents(std::uint32_t host, job::FrameHeader header);

  /// "3 connections; received 40 messages ...": what all links have sent and received.
  std::string describe_counts() const;

  Deadline next_deadline() const override;
  void meet_deadlines() override;

 private:
  struct Line {
    Link link;
    EventLoop::Watch watch;
  };

  void close_line(std::uint32_t host);
  void flush(std::uint32_t host);
  void receive_from(std::uint32_t host);
  bool handle_frame(std::uint32_t host, const job::Received& frame);
  void lose(std::uint32_t host, const std::string& why);
  void send_heartbeats();

  const RootHosts& hosts_;
  const HostTree& tree_;
  EventLoop& loop_;
  HostEvents& events_;
  std::vector<Line> lines_;  ///< by host
  LinkCounts closed_;        ///< of links that are closed
  std::uint32_t connected_count_ = 0;
  Deadline heartbeat_at_;
};

}  // namespace gex::launch
