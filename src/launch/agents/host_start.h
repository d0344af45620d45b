#pragma once
// The start message to a gexrun that is started on another host: the job's secret, the address of
// the process that starts it, the command, and the hosts that it starts in turn. It is sent over
// standard input; what follows there is the job's input.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/agents/remote_start.h"
#include "launch/hosts/auth_handshake.h"
#include "launch/hosts/secret.h"
#include "launch/launch_spec.h"

namespace gex::launch {

/// The first argument of a gexrun that gets such a message.
inline constexpr const char* host_part_argument = "--host-part";

/// The exit status of a launch agent that has failed and already reported why.
inline constexpr int reported_status = 119;

struct HostStart {
  Launch launch;     ///< hosts, host, command and the switches
  RootAddress root;  ///< of the root, or of the branch that starts the host
  Secret secret{Secret::Bytes{}};
  std::string directory;                 ///< the command's working directory
  std::vector<std::string> environment;  ///< NAME=VALUE
  RemoteStart remote;
  std::vector<std::uint32_t> below;  ///< the hosts that this one starts (host_tree.h)
};

/// The message as bytes, with a prefix that contains their number.
std::string pack(const HostStart& start);

/// Size of the prefix.
inline constexpr std::size_t start_prefix = 16;

/// The number of bytes that follow the prefix; empty if the prefix is invalid.
std::optional<std::size_t> packed_size(std::string_view prefix);

/// Reads such a message, with its prefix, and nothing of what follows. Returns "" or why there is
/// none.
std::string read_start_message(int descriptor, std::string& message);

/// Parses the bytes that follow the prefix; empty if they are invalid.
std::optional<HostStart> unpack(std::string_view body);

}  // namespace gex::launch
