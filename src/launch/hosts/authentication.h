#pragma once
// The root's listener: accepts the connections of guardians and keeps each until its handshake
// (auth_handshake.h) is complete. Anything may connect, so that the number of pending connections,
// and the time of each, are limited: of too many one goes at once, the oldest of the address that
// has the most. Thousands of silent connections therefore keep no guardian waiting, and what comes
// from another address than they do is not closed for them at all.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/os_file.h"
#include "launch/event_loop.h"
#include "launch/hosts/auth_handshake.h"
#include "launch/hosts/secret.h"

namespace gex::launch {

/// Thread rules: one thread.
class Authentication final : public Timed {
 public:
  /// Called with the connection of a peer that has proven that it has the secret, the number of the
  /// host that it has named, which may be any, and the keys of the connection's frames.
  using Authenticated =
      std::function<void(std::uint32_t host, os::FileDescriptor socket, const LinkKeys& keys)>;

  /// `program` is the prefix of messages; `hosts` is how many will connect.
  Authentication(const char* program, std::uint32_t hosts, EventLoop& loop,
                 Authenticated authenticated);

  /// Accepts connections to `listener` from now on.
  void serve(const Secret& secret, os::FileDescriptor listener);
  /// Refuses further connections; those that are pending may go on.
  void stop();

  Deadline next_deadline() const override;
  void meet_deadlines() override;

 private:
  struct PendingConnection {
    std::unique_ptr<AuthHandshake> handshake;
    EventLoop::Watch watch;
  };

  void make_room();
  void pause();
  void watch_listener();
  void accept_connections();
  void continue_handshake(int socket);
  void report_refused(const std::string& address);

  const char* program_;
  std::uint32_t hosts_;
  EventLoop& loop_;
  Authenticated authenticated_;
  Secret secret_{Secret::Bytes{}};
  os::FileDescriptor listener_;
  EventLoop::Watch listener_watch_;
  std::vector<PendingConnection> pending_connections_;  ///< the oldest first
  bool refusal_reported_ = false;
  std::map<std::string, std::size_t> evicted_;  ///< connections, by address
  Deadline listen_at_;                          ///< when accepting, which is paused, resumes
};

}  // namespace gex::launch
