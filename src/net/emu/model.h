#pragma once
// The network that emu pretends to be: a LogGP model, from GEX_EMU.
//
// Every rank has a port, through which all that it sends leaves and all that it is sent arrives. A
// message or transfer of s bytes occupies the sender's processor for the send overhead, then its
// port for s / bandwidth (at least 1 / rate; and on one link, which is from one rank to another,
// two of them are at least the gap apart), arrives a latency later, and a message is then handled
// after the receive overhead. All of that is time that passes, not time that a processor spends.
//
// A put or get of several pieces is one of all their bytes.
//
//   put    reusable after overhead + s / bandwidth; complete two latencies after that
//   get    complete after overhead + two latencies + s / bandwidth
//   AM     one way: send overhead + s / bandwidth + latency + receive overhead
//   flood  one each max(s / bandwidth, gap, 1 / rate, overhead)

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gex::net::emu {

/// Times in nanoseconds, bandwidths in bytes a second. 0: none, no limit.
struct Model {
  double latency = 0;
  double send_overhead = 0;
  double receive_overhead = 0;
  double gap = 0;
  double bandwidth = 0;  ///< of a port, in each direction
  double rate = 0;       ///< messages a second that leave a port
  double bisection = 0;  ///< bytes a second between the lower and the upper half of the ranks
  /// A put or get of more than 4 KiB whose local memory is in no segment costs this in addition.
  double registration = 0;
  double cache = 0;         ///< bytes of such memory that stay registered
  double jitter = 0;        ///< the latency of each message is longer by up to so much
  std::uint32_t depth = 0;  ///< puts and gets under way to one rank
  /// Pieces at either end of one put or get; 0: it has none of several.
  std::uint32_t pieces = 0;
  std::uint32_t total = 0;  ///< messages of a kind under way to one rank; 0: all that queues hold
  bool native = true;       ///< put and get by the network; otherwise by messages
  bool atomics = true;      ///< atomic operations by the network; otherwise by messages

  /// Returns true if operations take time.
  bool has_time() const noexcept;
};

/// A network with a name.
struct Preset {
  const char* name;
  const char* what;  ///< one line: the network, and the source of the figures
  const char* settings;
};
std::span<const Preset> presets() noexcept;

/// Reads a value of GEX_EMU: the name of a preset, settings `key=value`, or both, separated by
/// commas, each overriding those before it. Empty, with one line in `why`, if there is a mistake.
std::optional<Model> parse_model(std::string_view text, std::string& why);

/// In one line: what differs from no model.
std::string describe(const Model& model);

}  // namespace gex::net::emu
