#pragma once
// The control protocol between the ranks of a host and their guardian.
//
// Each rank holds one end of an AF_UNIX SOCK_SEQPACKET pair, the guardian the other. A packet is
// one frame: a fixed header, up to `max_payload` bytes, at most one descriptor. Packets are sent
// whole, so a thread (or a signal handler) can send `end` while another is in the middle of an
// exchange, and a process that shares the socket by mistake cannot corrupt the stream.
//
// Guardian and ranks may be of different builds (gexrun installed here, the program linked there):
// the version is part of GEX_JOB and is checked before anything is sent. Received data is not
// trusted: `receive_frame` checks the sizes of a frame, its receiver checks the content.
//
// With several hosts, guardians and gexrun exchange the same frames over streams
// (launch/hosts/link.h).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/os_file.h"

namespace gex::job {

inline constexpr std::uint32_t protocol_version = 8;

/// Name of the guardian's process. A rank without GEX_JOB recognizes its guardian by it (job.cc).
inline constexpr const char* guardian_name = "gex-guardian";

/// Seconds between heartbeats of guardians and root, and without any until one counts as lost.
inline constexpr double heartbeat_interval = 0.5;
inline constexpr double heartbeat_timeout = 4;

enum class FrameKind : std::uint32_t {
  // From a rank.
  hello = 1,     ///< the process has joined
  gather,        ///< a piece of this rank's contribution to an exchange; `count` is an Exchange
  share,         ///< share_descriptor among the ranks in the payload (32 bits each), by `owner`
  leave,         ///< exit, return from main, gasnet_exit: a Departure; waits for release or ending
  end,           ///< ends the job at once, as a fatal error does, or confirms that it ends
  exec_failed,   ///< the program could not be executed; `code` is errno, `count` a StartStep
  error_report,  ///< asks to report an error; the job page answers
  wait_on_exited_rank,  ///< waits in a collective call for rank `first`, which has left
  status,               ///< the descriptor of its status (rank_status.h)
  // From the guardian.
  welcome = 64,  ///< the job page, and the number of each rank's host (32 bits each), packed
  ///< (packed_table.h), in pieces; the first lies in the socket before the rank starts
  gathered,  ///< a piece of the result of an exchange, or the descriptor of a file with all of it
  shared,    ///< the descriptor (to all but the rank that gave it)
  release,   ///< every rank has left with 0 and may exit; `code` 1: finalize (job/finalizer.h)
  ending,    ///< the job is being ended
  // From a guardian to the root of a job of several hosts; `first` is a rank. See Coordinator.
  host_joined = 128,  ///< `count` RankEvents, packed (packed_table.h); `code` is the process
  host_gather,        ///< a piece of the host's contribution to an exchange; `count` as of gather
  host_left,  ///< so many too: a Departure each; `sequence` is that of the exchange left before
  host_gone,  ///< as host_joined
  host_wait_on_exited_rank,
  host_end,  ///< `code`, `first`, `death`; the payload is the text
  host_error_report,
  host_interrupted,  ///< `code` is the signal
  host_finished,     ///< `code` 1: output was lost
  /// `code`: observed_progress, observed_polls; in milliseconds, `count`: the longest wait,
  /// `sequence`: how long no rank has computed or begun an operation. From an agent: of all hosts
  /// that are reached through it
  host_observed,
  host_collected,  ///< a piece of the host's reports of its ranks, number `sequence`
  // From an agent that starts hosts (launch/agents/branch.h), which also forwards the frames above.
  host_connected,  ///< the host's guardian is connected
  /// The host is lost; `code` 1: its remote shell does not reach it. The payload is the text, none
  /// if the cause is reported already.
  host_lost,
  host_fault,  ///< ends the job for an error of rank `first`; the payload is the text
  // From the root to a guardian. See Guardians.
  job_gathered = 192,  ///< a piece of the result of an exchange; `count` as of gather
  job_absent,          ///< `first`, `sequence`
  job_release,         ///< `code` as of release
  job_end,             ///< `code`, `first`, `death`; `count` is a Teardown
  job_signal,          ///< `code`
  job_error_report,    ///< `code` 1: report the error, 0: another rank reports one
  job_observe,         ///< `count`: the interval of host_observed, in milliseconds
  job_collect,         ///< asks for reports number `sequence`; `count` is a Collection
  // From the root to the agents by which a host is reached, about that host.
  branch_kill,
  branch_retire,  ///< `code` is a Retirement
  // Both ways.
  heartbeat = 255,
};

/// Bits of `code` of host_observed.
inline constexpr std::int32_t observed_progress = 1;
inline constexpr std::int32_t observed_polls = 2;

/// `owner` of a frame from the root to all hosts.
inline constexpr std::uint32_t every_host = UINT32_MAX;

/// Why a host is done.
enum class Retirement : std::int32_t {
  lost,
  finished,
  moved,  ///< the root starts it itself
};

/// A step between the guardian's fork and the execution of a rank's program.
enum class StartStep : std::uint32_t { execute, keep_connection, redirect_input, redirect_output };

struct FrameHeader {
  FrameKind kind{};
  std::uint32_t sequence = 0;  ///< gather, gathered: number of the exchange, from 0
  std::uint64_t total = 0;     ///< gather, gathered: bytes of the whole
  std::uint64_t offset = 0;    ///< gather, gathered: where this piece belongs
  std::uint32_t first = 0;     ///< hello, and between guardians and root: a rank
  std::uint32_t count = 0;     ///< gather, host_gather, job_gathered, leave, host_left, job_end
  std::int32_t code = 0;       ///< leave, end, exec_failed, release
  /// share; between agents and root: the number of the host that the frame is from or for
  std::uint32_t owner = 0;
  std::uint32_t bytes =
      0;  ///< on a stream (launch/hosts/link.h): size of the payload behind the header
  std::uint32_t death = 0;  ///< host_end, job_end: 1 if the rank died
};
static_assert(sizeof(FrameHeader) == 48);

/// An event of a rank: the fields of the header of a frame that is about it alone.
struct RankEvent {
  std::uint32_t rank = 0;
  std::int32_t code = 0;
  std::uint32_t count = 0;
  std::uint32_t sequence = 0;
};
static_assert(sizeof(RankEvent) == 16);

/// Events of one frame; packed they always fit.
inline constexpr std::size_t max_events = 1024;

/// The way in which the contributions to an exchange are combined.
enum class Exchange : std::uint32_t {
  all,      ///< all of them, in rank order
  least,    ///< of numbers of 64 bits, each the least that a rank has given: as large for any job
  on_host,  ///< those of the ranks of the same host; nothing is sent between hosts
};

/// Bytes of one rank's contribution to an exchange of `least`: one frame.
inline constexpr std::size_t max_least = 256;

/// How a rank leaves the job.
struct Departure {
  int code = 0;          ///< the exit status
  bool by_exit = false;  ///< it called exit or returned from main, not gasnet_exit
  /// A library that all ranks would finalize together is open in this process, which cannot
  /// finalize it.
  bool stays_open = false;

  /// Returns true if the whole job ends: by any departure but exit(0) or a return from main with 0.
  bool ends_job() const noexcept { return code != 0 || !by_exit; }
};

/// Encodes a departure in `code` and `count` of a frame, and decodes it.
void put_departure(FrameHeader& header, const Departure& departure) noexcept;
Departure departure_of(const FrameHeader& header) noexcept;

/// Bytes of one frame's payload. Small enough for any sensible limit on socket buffers.
inline constexpr std::size_t max_payload = 32 * 1024;

/// Bytes that all ranks together may contribute to one exchange.
inline constexpr std::uint64_t max_exchange = std::uint64_t{1} << 30;

enum class Sent { whole, would_block, no_descriptors, closed };

/// Sends one frame, with a copy of `descriptor` unless that is -1. Never blocks if `wait` is false.
/// Async-signal-safe. Result `no_descriptors`: this user has too many descriptors in flight; retry
/// later.
Sent send_frame(int socket, const FrameHeader& header, std::span<const std::byte> payload,
                int descriptor, bool wait) noexcept;

/// One received frame; its payload is valid until the next frame is received into the same buffer.
struct Received {
  enum class Outcome { frame, would_block, closed, malformed } outcome = Outcome::closed;
  FrameHeader header;
  std::span<const std::byte> payload;
  os::FileDescriptor descriptor;  ///< close-on-exec
  /// `malformed` because this process has no room for the descriptor that came (ulimit -n).
  bool lost_descriptor = false;
  int sender = 0;  ///< process id by SCM_CREDENTIALS, if the receiver asked for it
};

/// A buffer for one received frame.
class FrameBuffer {
 public:
  FrameBuffer() : bytes_(sizeof(FrameHeader) + max_payload + 1) {}
  std::span<std::byte> bytes() noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

Received receive_frame(int socket, FrameBuffer& buffer, bool wait) noexcept;

/// Receives one frame without waiting and keeps only its header. Needs no buffer, which another
/// thread or an interrupted call might be using. Async-signal-safe.
Received::Outcome receive_header(int socket, FrameHeader& header) noexcept;

/// The content of GEX_JOB: a process's control socket, its rank and the size of the job.
struct Membership {
  int control = -1;
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
};

/// The value of GEX_JOB for a rank whose control socket is `control`: "VERSION:FD:RANK:SIZE:INODE".
/// By the inode `parse_membership` distinguishes the socket from another descriptor of that number.
std::string format_membership(const Membership& membership);

/// Parses a GEX_JOB value and checks every part of it, the named descriptor included. On failure
/// the result is empty and `why` is the reason.
std::optional<Membership> parse_membership(std::string_view text, std::string& why);

/// The process id of the creator of `descriptor` if that is a socket of the control socket's type,
/// otherwise 0. The creator of a control socket is the guardian.
int maker_of_control_socket(int descriptor) noexcept;

/// The control socket's lowest descriptor number: shell scripts redirect low numbers.
inline constexpr int lowest_control_descriptor = 100;

}  // namespace gex::job
