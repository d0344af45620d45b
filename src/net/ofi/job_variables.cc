#include "net/ofi/job_variables.h"

#include <algorithm>
#include <cstdio>

#include "net/ofi/wire.h"

namespace gex::net::ofi {

namespace {

/// Queues that some providers make for so many peers (libfabric's own number is 1024) need not be
/// longer for small jobs; a device may have no longer ones.
constexpr std::uint32_t least_universe = 256;

/// From so many ranks on, receive buffers for each connection take more memory than is reasonable.
constexpr std::uint32_t many_connections = 64;

/// Receive buffers that rxm posts for a connection, or for all that share them. Over TCP it would
/// post 4096, which are 70 MB in each rank, and no measurement is faster with them; over verbs the
/// first is its own number.
constexpr const char* receives_of_connection = "128";
constexpr const char* shared_receives = "1024";

/// How long a provider waits for a peer at the first contact before it ends the process. The peer
/// may compute meanwhile; whether it has died is the guardian's matter.
constexpr const char* seconds_of_contact = "86400";

/// The job's number in the form of a UUID.
std::string uuid_of(std::uint64_t cookie) {
  char text[40];
  const auto high = static_cast<std::uint32_t>(cookie >> 32);
  const auto low = static_cast<std::uint32_t>(cookie);
  std::snprintf(text, sizeof text, "%08x-%04x-4%03x-8%03x-%08x%04x", high, low >> 16, low & 0xfffU,
                high & 0xfffU, low, high >> 16);
  return text;
}

}  // namespace

std::vector<JobVariable> job_variables(std::uint64_t cookie, std::uint32_t ranks,
                                       const std::optional<PortRange>& ports) {
  std::vector<JobVariable> variables;
  // Without one of their own, jobs on one fabric may take each other's messages for theirs.
  for (const char* name : {"FI_PSM2_UUID", "FI_PSM3_UUID", "FI_OPX_UUID"})
    variables.push_back({name, uuid_of(cookie)});
  for (const char* name : {"FI_PSM2_CONN_TIMEOUT", "FI_PSM3_CONN_TIMEOUT"})
    variables.push_back({name, seconds_of_contact});
  variables.push_back({"FI_UNIVERSE_SIZE", std::to_string(std::max(ranks, least_universe))});
  const bool shares = ranks > many_connections;
  if (shares) variables.push_back({"FI_OFI_RXM_USE_SRX", "1"});
  variables.push_back(
      {"FI_OFI_RXM_MSG_RX_SIZE", shares ? shared_receives : receives_of_connection});
  // A longer message than this is fetched by its receiver, in three packets instead of one, and
  // takes one of few places. The largest of this conduit is a little longer than the usual limit.
  for (const char* name : {"FI_OFI_RXM_BUFFER_SIZE", "FI_CXI_RDZV_THRESHOLD"})
    variables.push_back({name, std::to_string(max_wire)});
  if (ports) {
    variables.push_back({low_port, std::to_string(ports->first)});
    variables.push_back({high_port, std::to_string(ports->last)});
  }
  return variables;
}

}  // namespace gex::net::ofi
