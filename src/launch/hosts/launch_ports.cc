#include "launch/hosts/launch_ports.h"

#include <string>

#include "base/env.h"
#include "base/error.h"

namespace gex::launch {

std::optional<PortRange> launch_ports() {
  const std::string text = env::text(env::Variable::launch_ports);
  if (text.empty()) return std::nullopt;
  const auto ports = parse_port_range(text);
  if (!ports) {
    fatal(
        "GEX_LAUNCH_PORTS='%s' is not a port from 1 to 65535, or a first and a last one "
        "(41000-41010)",
        text.c_str());
  }
  return ports;
}

}  // namespace gex::launch
