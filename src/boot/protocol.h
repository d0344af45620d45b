#pragma once
// What the ranks of a host and their guardian say to each other.
//
// Each rank holds one end of an AF_UNIX SOCK_SEQPACKET pair, the guardian the other. A packet is
// one frame: a fixed header, up to `max_payload` bytes, at most one descriptor. Packets keep
// frames whole, so a thread (or a signal handler) can say `end` while another is in the middle of
// an exchange, and a process that shares the socket by mistake cannot tear the stream.
//
// Guardian and ranks may be of different builds (gexrun installed here, the program linked there):
// the version travels in GEX_JOB and is checked before anything is sent. Nothing received is
// trusted: `receive` checks the shape of a frame, the receiver its content.
//
// In a job of several hosts the guardians talk to gexrun in the same frames, over streams (link.h).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/os_file.h"

namespace gex::boot {

inline constexpr std::uint32_t protocol_version = 5;

enum class FrameKind : std::uint32_t {
  // From a rank.
  hello = 1,    ///< the process has joined
  gather,       ///< a piece of this rank's contribution to an exchange
  share,        ///< share_descriptor among the ranks in the payload (32 bits each), by `owner`
  leave,        ///< exit, return from main, gasnet_exit: a Departure; waits for farewell or ending
  end,          ///< ends the job at once, as a fatal error does, or follows who has ended it
  exec_failed,  ///< the program could not be executed; `code` is errno, `count` a StartStep
  telling,      ///< is about to tell of an error; the job page answers
  vain_wait,    ///< waits in a collective call for `first`, which has left without making it
  // From the guardian.
  welcome = 64,  ///< the job page, and the number of each rank's host (32 bits each); lies in the
                 ///< socket before the rank starts
  gathered,      ///< a piece of everybody's contributions
  shared,        ///< the descriptor (to all but the rank that gave it)
  farewell,      ///< every rank has left with 0; `code` 1: and none keeps MPI
  ending,        ///< the job is being ended
  // From a guardian to the root of a job of several hosts; `first` is a rank. See Coordinator.
  host_joined = 128,  ///< `code` is the process
  host_gather,        ///< a piece of what the host's ranks contribute to an exchange
  host_left,          ///< a Departure; `sequence` is that of the exchange left before
  host_gone,          ///< `code` is the process
  host_waits_in_vain,
  host_end,  ///< `code`, `first`, `death`; the payload is the text
  host_asks_to_tell,
  host_interrupted,  ///< `code` is the signal
  host_finished,     ///< `code` 1: output was lost
  // From the root to a guardian. See Guardians.
  job_gathered = 192,  ///< a piece of everybody's contributions
  job_absent,          ///< `first`, `sequence`
  job_farewell,        ///< `code` as of farewell
  job_end,             ///< `code`, `first`, `death`; `count` is the haste
  job_signal,          ///< `code`
  job_tell,            ///< `code` 1: tell of the error, 0: somebody else has
  // Both ways.
  heartbeat = 255,
};

/// What is done between the guardian's fork and the program of a rank.
enum class StartStep : std::uint32_t { execute, keep_connection, redirect_input, redirect_output };

struct FrameHeader {
  FrameKind kind{};
  std::uint32_t sequence = 0;  ///< gather, gathered: number of the exchange, from 0
  std::uint64_t total = 0;     ///< gather, gathered: bytes of the whole
  std::uint64_t offset = 0;    ///< gather, gathered: where this piece belongs
  std::uint32_t first = 0;     ///< hello, and between guardians and root: a rank
  std::uint32_t count = 0;     ///< leave, host_left, job_end
  std::int32_t code = 0;       ///< leave, end, exec_failed, farewell
  std::uint32_t owner = 0;     ///< share
  std::uint32_t bytes = 0;     ///< on a stream (link.h): size of the payload behind the header
  std::uint32_t death = 0;     ///< host_end, job_end: 1 if the rank died
};
static_assert(sizeof(FrameHeader) == 48);

/// How a rank leaves the job.
struct Departure {
  int code = 0;          ///< what it ends with
  bool by_exit = false;  ///< it called exit or returned from main, not gasnet_exit
  /// MPI is initialized in this process, and it will not be able to finalize it.
  bool keeps_mpi = false;

  /// Whether the others are to come to their end as well: not by exit(0) or a return from main.
  bool ends_job() const noexcept { return code != 0 || !by_exit; }
};

/// The same in `code` and `count` of a frame.
void put_departure(FrameHeader& header, const Departure& departure) noexcept;
Departure departure_of(const FrameHeader& header) noexcept;

/// Bytes of one frame's payload. Small enough for any sensible limit on socket buffers.
inline constexpr std::size_t max_payload = 32 * 1024;

/// Bytes that all ranks together may contribute to one exchange.
inline constexpr std::uint64_t max_exchange = std::uint64_t{1} << 30;

enum class Sent { whole, would_block, no_descriptors, closed };

/// Sends one frame, with a copy of `descriptor` unless that is -1. With `wait` false it never
/// blocks. Async-signal-safe. `no_descriptors`: the kernel has too many descriptors in flight for
/// this user; try again later.
Sent send_frame(int socket, const FrameHeader& header, std::span<const std::byte> payload,
                int descriptor, bool wait) noexcept;

/// One received frame; its payload is valid until the next `receive` into the same buffer.
struct Received {
  enum class Outcome { frame, would_block, closed, malformed } outcome = Outcome::closed;
  FrameHeader header;
  std::span<const std::byte> payload;
  os::FileDescriptor descriptor;  ///< close-on-exec
  int sender = 0;  ///< process id by the kernel's word, where the receiver asked for it
};

/// Room for one frame.
class FrameBuffer {
 public:
  FrameBuffer() : bytes_(sizeof(FrameHeader) + max_payload + 1) {}
  std::span<std::byte> bytes() noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

Received receive_frame(int socket, FrameBuffer& buffer, bool wait) noexcept;

/// Takes one frame, of which only the header is kept, without waiting. Needs no buffer that other
/// threads or an interrupted call may be using; async-signal-safe.
Received::Outcome receive_header(int socket, FrameHeader& header) noexcept;

/// What GEX_JOB tells a process: which descriptor is its control socket, and who it is.
struct Membership {
  int control = -1;
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
};

/// The value of GEX_JOB for a rank whose control socket is `control`: "VERSION:FD:RANK:SIZE:INODE".
/// The inode lets `parse_membership` tell the socket from another descriptor of that number.
std::string format_membership(const Membership& membership);

/// Checks every part of a GEX_JOB value, the named descriptor included. On failure the optional is
/// empty and `why` says what is wrong.
std::optional<Membership> parse_membership(std::string_view text, std::string& why);

/// The process id of the guardian whose control socket `descriptor` may be: of who made it, if it
/// is a socket of that kind; otherwise 0.
int maker_of_control_socket(int descriptor) noexcept;

/// The control socket keeps clear of the low numbers that shell scripts redirect.
inline constexpr int lowest_control_descriptor = 100;

}  // namespace gex::boot
