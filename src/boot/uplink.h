#pragma once
// A guardian's coordinator in a job of several hosts: passes on to gexrun what it is told, and to
// the guardian what gexrun asks of it.

#include <optional>
#include <string>

#include "boot/coordinator.h"
#include "boot/link.h"
#include "boot/rendezvous.h"

namespace gex::boot {

/// Thread rules: one thread.
class Uplink final : public Coordinator {
 public:
  /// `guardian` is asked what the root asks of all; `page` learns who tells of errors.
  Uplink(os::FileDescriptor root, const HostParts& hosts, Guardians& guardian, JobPage& page);

  void joined(std::uint32_t rank, pid_t process) override;
  void contribute(std::uint32_t sequence, SharedBytes bytes) override;
  void left(std::uint32_t rank, std::uint32_t sequence, const Departure& departure) override;
  void gone(std::uint32_t rank, pid_t process) override;
  void waits_in_vain(std::uint32_t absent) override;
  void end(const Ending& ending, const std::string& text) override;
  void asks_to_tell() override;
  void interrupted(int signal) override;
  /// Also waits until the root has heard everything, or is lost.
  void finished(bool lost_output) override;

  int socket() const noexcept { return link_.socket(); }
  /// What is to be sent waits for the socket to be writable.
  bool blocked() const noexcept { return blocked_; }
  void flush() { blocked_ = !link_.flush(); }

  /// Reads what the root has sent. False: the root is gone, or talks nonsense.
  bool hear();

  Deadline next_deadline() const;
  /// Sends a heartbeat if it is time: for who does much before the deadlines are met again.
  void beat();
  /// Sends heartbeats. For how many seconds the root has been silent, when that is too long.
  std::optional<int> meet_deadlines();

 private:
  void tell(FrameKind kind, std::uint32_t rank, int code);
  bool take(const Received& frame);
  bool take_gathered(const Received& frame);

  const HostParts& hosts_;
  Guardians& guardian_;
  JobPage& page_;
  Link link_;
  bool blocked_ = false;
  Deadline beat_at_;
  std::vector<std::byte> gathered_;  ///< pieces of an exchange whose last has not come yet
  FrameHeader gathering_;            ///< of its first piece
};

}  // namespace gex::boot
