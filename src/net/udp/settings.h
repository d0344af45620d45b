#pragma once
// The user's settings in the environment: environment.def.

#include <gex/plugin/conduit.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "net/udp/kernel_socket.h"

namespace gex::net::udp {

/// The variables by which users ask for an address, for messages.
inline constexpr const char* interface_variables = "GEX_UDP_INTERFACE or GASNET_WORKERIP";

struct Settings {
  std::string named;             ///< the interface, address or subnet that is asked for; or empty
  SocketOptions socket;          ///< all but `bind`
  bool covers_bulk = true;       ///< `EndpointSettings::covers_bulk`
  std::uint32_t depth = 0;       ///< requests unanswered at a peer; 0: the conduit chooses
  std::uint16_t first_port = 0;  ///< of `socket.bind`; 0: the system chooses
};

/// Reads the settings, with defaults for those that are not set. False after setting `error` to one
/// line that names the variable, its value and what was expected. Of `host` only the `env_`
/// functions are used.
bool read_settings(const Host& host, Settings& settings, std::string& error);

/// The text of a variable, without blanks around it; empty if it is not set.
std::string_view text_of(const Host& host, const char* name);

}  // namespace gex::net::udp
