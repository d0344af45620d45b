#pragma once
// The part of UCX that a process opens once: transports and memory.
//
// Thread rules: any, if it was opened for threads.

#include <gex/plugin/conduit.h>
#include <ucp/api/ucp.h>

#include <optional>
#include <string>
#include <vector>

#include "base/port_range.h"

namespace gex::net::ucx {

/// The version of the library in this process, "1.13.1".
std::string version();

/// "Input/output error", in UCX's words.
const char* text_of(ucs_status_t status) noexcept;

/// UCX's name for a class of memory that this conduit registers.
ucs_memory_type_t memory_type_of(MemoryClass memory_class) noexcept;

/// UCX may use these; an empty text: what the user allows, or what UCX finds.
struct Allowed {
  std::string transports;  ///< as UCX_TLS has it
  std::string devices;     ///< as UCX_NET_DEVICES has it
};

/// The ports that UCX's TCP keeps to; empty: any. UCX_TCP_PORT_RANGE comes before GEX_PORTS.
std::optional<PortRange> tcp_ports(const Host& host);

class Context {
 public:
  /// `ranks` and `ranks_here`, those of this host, are what UCX chooses transports by. `error`: why
  /// it cannot be opened.
  Context(const Host& host, std::size_t ranks, std::size_t ranks_here, bool threaded,
          const Allowed& allowed, std::string& error);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  /// Leaves it to the end of the process, because a worker of it is.
  void keep() const noexcept { is_kept_ = true; }

  ucp_context_h get() const noexcept { return context_; }
  /// Returns true if its workers may wake threads.
  bool wakes() const noexcept { return wakes_; }

  /// Returns true if UCX was built for memory of that type, and has found its driver.
  bool has(ucs_memory_type_t type) const noexcept;
  /// Returns true if UCX has memory of any devices.
  bool has_devices() const noexcept;

  /// Why a worker that uses TCP finds no port; empty: it finds one. UCX would look for ever.
  std::string why_no_port() const;

  /// Transports with their devices, "tcp/eth0": those that UCX may choose from.
  std::vector<std::string> transports() const;

 private:
  ucp_context_h context_ = nullptr;
  std::optional<PortRange> ports_;
  bool wakes_ = false;
  mutable bool is_kept_ = false;
};

}  // namespace gex::net::ucx
