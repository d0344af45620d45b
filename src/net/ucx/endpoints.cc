#include "net/ucx/endpoints.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <sstream>

#include "net/kit/fatal.h"
#include "net/ucx/printout.h"

namespace gex::net::ucx {

namespace {

/// With their devices, "tcp/eth0"; none if UCX prints something else than expected.
std::set<std::string> transports_of(ucp_ep_h endpoint) {
  // Lines "#  lane[0]:  3:tcp/lo.0 md[1]  -> ...".
  std::set<std::string> found;
  for (const std::string& line :
       printed_lines([endpoint](std::FILE* stream) { ucp_ep_print_info(endpoint, stream); })) {
    const std::size_t lane = line.find("lane[");
    if (lane == std::string::npos) continue;
    std::istringstream words(line.substr(lane));
    std::string label, transport;
    words >> label >> transport;
    const std::size_t colon = transport.find(':');
    if (colon == std::string::npos) continue;
    transport.erase(0, colon + 1);
    // Without the number of the path over that device: "tcp/lo.0", "tcp/lo.1".
    transport.erase(std::min(transport.size(), transport.rfind('.')));
    found.insert(transport);
  }
  return found;
}

}  // namespace

void Endpoints::failed(void* peer, ucp_ep_h, ucs_status_t status) {
  // Only noted: the peer may just have left. What needs it finds that out.
  static_cast<Connection*>(peer)->failure = status;
}

ucp_ep_h Endpoints::connect(std::uint32_t peer, const std::byte* address) {
  ucp_ep_params_t parameters{};
  parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                          UCP_EP_PARAM_FIELD_ERR_HANDLER;
  parameters.address = reinterpret_cast<const ucp_address_t*>(address);
  // Shared memory does not report failures, so UCX leaves it out where they are asked for. Between
  // the ranks of one host guardians see deaths at once.
  parameters.err_mode = host_.host_of(peer) == host_.host_of(host_.rank)
                            ? UCP_ERR_HANDLING_MODE_NONE
                            : UCP_ERR_HANDLING_MODE_PEER;
  parameters.err_handler = {failed, &peers_[peer]};
  const ucs_status_t status = ucp_ep_create(worker_.get(), &parameters, &peers_[peer].endpoint);
  if (status != UCS_OK)
    fatal(host_,
          "ucx: no transport leads from rank %u to rank %u: %s; UCX_TLS and UCX_NET_DEVICES "
          "limit what UCX may use",
          host_.rank, peer, text_of(status));
  connected_.push_back(peer);
  return peers_[peer].endpoint;
}

void Endpoints::lost(std::uint32_t peer, const char* what, ucs_status_t status) const {
  const ucs_status_t first = peers_[peer].failure;
  lost_peer(host_, "ucx: rank %u cannot be reached, %s failed: %s", peer, what,
            text_of(first != UCS_OK ? first : status));
}

void Endpoints::begin_to_close() {
  const ucp_request_param_t parameters{};
  for (const std::uint32_t number : connected_) {
    Connection& peer = peers_[number];
    if (peer.endpoint == nullptr || peer.failure != UCS_OK) continue;
    void* const request = ucp_ep_close_nbx(peer.endpoint, &parameters);
    if (UCS_PTR_IS_PTR(request)) closing_.push_back(request);
    peer.endpoint = nullptr;
  }
}

bool Endpoints::advance_closing() {
  ucp_worker_progress(worker_.get());
  std::erase_if(closing_, [](void* request) {
    if (ucp_request_check_status(request) == UCS_INPROGRESS) return false;
    ucp_request_free(request);
    return true;
  });
  return closing_.empty();
}

void Endpoints::end_closing() {
  for (void* const request : closing_) ucp_request_free(request);
  closing_.clear();
}

std::string Endpoints::lanes_of(std::uint32_t peer) {
  std::string list;
  for (const std::string& one : transports_of(to(peer)))
    list.append(list.empty() ? "" : ", ").append(one);
  return list;
}

bool Endpoints::is_over_tcp_alone(std::uint32_t peer) {
  const std::set<std::string> found = transports_of(to(peer));
  return !found.empty() && std::all_of(found.begin(), found.end(), [](const std::string& one) {
    return one.starts_with("tcp/");
  });
}

}  // namespace gex::net::ucx
