#include "net/ucx/context.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "net/ucx/device_memory_types.h"
#include "net/ucx/printout.h"

namespace gex::net::ucx {

namespace {

/// Earlier ones have no alignment of messages, among others.
constexpr std::pair<unsigned, unsigned> oldest{1, 13};

/// Sets one of UCX's variables, unless `value` is empty. `variable`: ours, for messages.
bool set_to(const std::string& value, const char* variable, ucp_config_t* config, const char* name,
            std::string& error) {
  if (value.empty()) return true;
  const ucs_status_t status = ucp_config_modify(config, name, value.c_str());
  if (status == UCS_OK) return true;
  error = std::string(variable) + "='" + value + "' is not what UCX takes for UCX_" + name + ": " +
          text_of(status);
  return false;
}

bool is_free(std::uint16_t port) {
  const int trial = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  const bool taken = ::bind(trial, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0 &&
                     errno == EADDRINUSE;
  ::close(trial);
  return !taken;
}

}  // namespace

std::string version() {
  unsigned major = 0, minor = 0, release = 0;
  ucp_get_version(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

const char* text_of(ucs_status_t status) noexcept {
  return ucs_status_string(status);
}

std::optional<PortRange> tcp_ports(const Host& host) {
  const char* text = std::getenv("UCX_TCP_PORT_RANGE");
  if (text == nullptr) text = host.env_text("GEX_PORTS");
  return text == nullptr ? std::nullopt : parse_port_range(text);
}

Context::Context(const Host& host, std::size_t ranks, std::size_t ranks_here, bool threaded,
                 const Allowed& allowed, std::string& error) {
  unsigned major = 0, minor = 0, release = 0;
  ucp_get_version(&major, &minor, &release);
  if (std::pair(major, minor) < oldest) {
    error = "UCX " + version() + " is older than " + std::to_string(oldest.first) + "." +
            std::to_string(oldest.second) + ", the oldest that libgex works with";
    return;
  }
  ucp_config_t* config = nullptr;
  // No prefix: with one, UCX would warn of libgex's variables, which it does not have.
  ucs_status_t status = ucp_config_read(nullptr, nullptr, &config);
  if (status != UCS_OK) {
    error = std::string("UCX's configuration cannot be read: ") + text_of(status);
    return;
  }
  const auto text = [&host](const char* variable) {
    const char* const value = host.env_text(variable);
    return std::string(value != nullptr ? value : "");
  };
  const auto set = [&](const std::string& value, const char* variable, const char* name) {
    return set_to(value.empty() ? text(variable) : value, variable, config, name, error);
  };
  // What the user has set of UCX's own it has read already.
  ports_ = tcp_ports(host);
  std::string ports;
  if (ports_ && std::getenv("UCX_TCP_PORT_RANGE") == nullptr)
    ports = std::to_string(ports_->first) + "-" + std::to_string(ports_->last);
  if (set(allowed.transports, "GEX_UCX_TRANSPORTS", "TLS") &&
      set(allowed.devices, "GEX_UCX_DEVICES", "NET_DEVICES") &&
      set_to(ports, "GEX_PORTS", config, "PORT_RANGE", error)) {
    ucp_params_t parameters{};
    parameters.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED |
                            UCP_PARAM_FIELD_ESTIMATED_NUM_EPS | UCP_PARAM_FIELD_ESTIMATED_NUM_PPN;
    parameters.features = UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64;
    // Segments are registered beside the worker's lock.
    parameters.mt_workers_shared = threaded ? 1 : 0;
    parameters.estimated_num_eps = ranks;
    parameters.estimated_num_ppn = ranks_here;
    // Without these a rank polls all the time.
    if (host.env_integer("GEX_UCX_SLEEP") != 0) parameters.features |= UCP_FEATURE_WAKEUP;
    status = ucp_init(&parameters, config, &context_);
    wakes_ = status == UCS_OK && (parameters.features & UCP_FEATURE_WAKEUP) != 0;
    if (status != UCS_OK) {
      context_ = nullptr;
      error = std::string("UCX finds no transport that it can use: ") + text_of(status) +
              "; UCX_LOG_LEVEL=info shows what it tried, UCX_TLS what it may use";
    }
  }
  ucp_config_release(config);
}

Context::~Context() {
  if (context_ != nullptr && !is_kept_) ucp_cleanup(context_);
}

ucs_memory_type_t memory_type_of(MemoryClass memory_class) noexcept {
  for (const DeviceMemoryType& one : device_memory_types)
    if (one.memory_class == memory_class) return one.type;
  return UCS_MEMORY_TYPE_HOST;
}

bool Context::has(ucs_memory_type_t type) const noexcept {
  ucp_context_attr_t attributes{};
  attributes.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
  return ucp_context_query(context_, &attributes) == UCS_OK &&
         (attributes.memory_types & UCS_BIT(type)) != 0;
}

bool Context::has_devices() const noexcept {
  return std::ranges::any_of(device_memory_types,
                             [this](const DeviceMemoryType& one) { return has(one.type); });
}

std::string Context::why_no_port() const {
  if (!ports_) return {};
  const std::vector<std::string> all = transports();
  const auto is_tcp = [](const std::string& one) { return one.starts_with("tcp/"); };
  if (std::ranges::none_of(all, is_tcp)) return {};
  for (unsigned port = ports_->first; port <= ports_->last; ++port)
    if (is_free(static_cast<std::uint16_t>(port))) return {};
  return "none of the ports " + std::to_string(ports_->first) + " to " +
         std::to_string(ports_->last) +
         " (GEX_PORTS or UCX_TCP_PORT_RANGE) is free: each rank of a host takes one for each of "
         "its lanes (GEX_UCX_LANES)";
}

std::vector<std::string> Context::transports() const {
  // UCX has no other way to ask before there are endpoints: lines "# resource 3 : ... tcp/eth0".
  std::vector<std::string> found;
  for (const std::string& line :
       printed_lines([this](std::FILE* stream) { ucp_context_print_info(context_, stream); })) {
    if (line.find(" resource ") == std::string::npos) continue;
    std::istringstream words(line);
    std::string last;
    while (words >> last) {
    }
    if (last.find('/') != std::string::npos) found.push_back(last);
  }
  return found;
}

}  // namespace gex::net::ucx
