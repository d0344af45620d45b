#include "net/udp/settings.h"

#include <optional>
#include <string_view>

#include "base/env_grammar.h"
#include "base/port_range.h"
#include "net/udp/path.h"

namespace gex::net::udp {

std::string_view text_of(const Host& host, const char* name) {
  const char* const text = host.env_text != nullptr ? host.env_text(name) : nullptr;
  return text == nullptr ? std::string_view() : env::trimmed(text);
}

namespace {

constexpr std::int64_t max_mtu = 65535;
constexpr std::int64_t max_depth = 1024;
constexpr std::uint64_t least_receive_buffer = 64 * 1024;

/// The value without blanks; empty: not set.
bool is_on(const Host& host, const char* name) {
  const std::string_view text = text_of(host, name);
  return text.empty() || env::parse_boolean(text).value_or(true);
}

void read_ports(const Host& host, Settings& settings) {
  for (const char* const name : {"GEX_UDP_PORTS", "GEX_PORTS"}) {
    const auto range = parse_port_range(text_of(host, name));
    if (!range) continue;
    settings.first_port = range->first;
    settings.socket.last_port = range->last;
    settings.socket.ports_variable = name;
    return;
  }
}

std::string refusal(const char* name, std::string_view value, const char* expected) {
  return std::string(name) + "='" + std::string(value) + "' is not " + expected;
}

bool refuse(std::string& error, const char* name, std::int64_t value, const char* expected) {
  error = refusal(name, std::to_string(value), expected);
  return false;
}

}  // namespace

bool read_settings(const Host& host, Settings& settings, std::string& error) {
  const std::string_view interface = text_of(host, "GEX_UDP_INTERFACE");
  settings.named = interface.empty() ? text_of(host, "GASNET_WORKERIP") : interface;

  read_ports(host, settings);

  const std::int64_t mtu = host.env_integer("GEX_UDP_MTU");
  if (mtu != 0 && (mtu < static_cast<std::int64_t>(least_mtu(AF_INET)) || mtu > max_mtu))
    return refuse(error, "GEX_UDP_MTU", mtu, "a number of bytes from 576 to 65535, or 0");
  settings.socket.mtu = static_cast<std::size_t>(mtu);

  for (const char* const name : {"GEX_UDP_RECEIVE_BUFFER", "GASNET_SOCKETBUFFER_MAX"}) {
    const std::string_view text = text_of(host, name);
    if (text.empty()) continue;
    const auto size = env::parse_size(text);
    if (!size || *size < least_receive_buffer) {
      error = refusal(name, text, "a number of bytes of at least 64K");
      return false;
    }
    settings.socket.receive_buffer = *size;
    break;
  }

  settings.socket.cut_in_kernel = is_on(host, "GEX_UDP_GSO");
  settings.socket.join = is_on(host, "GEX_UDP_GRO");
  settings.socket.marks = is_on(host, "GEX_UDP_ECN");

  const std::string_view cover = text_of(host, "GEX_UDP_AUTHENTICATE");
  if (!cover.empty() && cover != "payload" && cover != "header") {
    error = refusal("GEX_UDP_AUTHENTICATE", cover, "payload or header");
    return false;
  }
  settings.covers_bulk = cover != "header";

  const std::int64_t depth = host.env_integer("GASNET_NETWORKDEPTH");
  if (depth < 0 || depth > max_depth)
    return refuse(error, "GASNET_NETWORKDEPTH", depth, "a number of requests from 1 to 1024, or 0");
  settings.depth = static_cast<std::uint32_t>(depth);
  return true;
}

}  // namespace gex::net::udp
