#include "launch/hosts/launch_ports.h"

#include "base/env.h"

namespace gex::launch {

namespace {

env::Variable variable() {
  return env::value(env::Variable::launch_ports) ? env::Variable::launch_ports
                                                 : env::Variable::ports;
}

}  // namespace

std::optional<PortRange> launch_ports() {
  return env::ports(variable());
}

std::string cannot_listen() {
  const auto ports = env::value(variable());
  std::string text = "cannot listen for the other hosts";
  if (ports) text += std::string(" on a port of ") + env::describe(variable()).name + "=" + *ports;
  return text;
}

}  // namespace gex::launch
