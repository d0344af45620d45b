#pragma once
// What gexrun tells the gexrun that it starts on another host, over that one's standard input: the
// job's secret, where to connect, and what to run. What follows on standard input is the job's.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "boot/greeting.h"
#include "boot/launch_spec.h"
#include "boot/secret.h"

namespace gex::boot {

struct HostStart {
  Launch launch;  ///< hosts, host, command and the switches
  RootAddress root;
  Secret secret{Secret::Bytes{}};
  std::string directory;                 ///< where to run the command
  std::vector<std::string> environment;  ///< NAME=VALUE
};

/// The whole as bytes, with a beginning that says how many there are.
std::string pack(const HostStart& start);

/// Size of that beginning.
inline constexpr std::size_t start_prefix = 16;

/// How many bytes follow such a beginning; none when it is not one.
std::optional<std::size_t> packed_size(std::string_view prefix);

/// The inverse of `pack`, of what follows the beginning; none when that is not in order.
std::optional<HostStart> unpack(std::string_view body);

}  // namespace gex::boot
