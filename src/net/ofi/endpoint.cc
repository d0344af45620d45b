#include "net/ofi/endpoint.h"

#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "net/ofi/default_variable.h"
#include "net/ofi/provider.h"
#include "net/ofi/wire.h"

namespace gex::net::ofi {

namespace {

/// Completions that may wait to be read; a provider that has more than that holds operations back.
/// A device without such long queues gets a shorter one.
constexpr std::size_t queued_completions = 8192;
constexpr std::size_t least_completions = 256;

/// 0: the provider's own choice. Users of cxi are asked to set it for large jobs, and it holds only
/// for clients without a wish.
std::size_t first_queue_size(const fi_info& info) {
  const bool chooses = is_set("FI_CXI_DEFAULT_CQ_SIZE") && way_of(info).provider == "cxi";
  return chooses ? 0 : queued_completions;
}

bool succeeded(int result, const char* what, std::string& error) {
  if (result == 0) return true;
  error = std::string(what) + ": " + error_text(result);
  return false;
}

/// How long a connection may keep its handshake incomplete. A peer's comes in one packet.
constexpr timeval handshake_limit{0, 200'000};

/// libfabric reads the handshake of a connection with calls that wait, although it polls before: a
/// process that sends a part of it and stays would hold up this rank for good. Connections inherit
/// the limit from the listening socket, which libfabric does not expose; it is the one with our
/// address. Once a connection is open its socket does not wait, and the limit means nothing.
void limit_handshakes(std::span<const std::byte> name) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none)) {
    const int file = std::atoi(entry.path().filename().c_str());
    int listens = 0;
    socklen_t size = sizeof listens;
    if (getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0) continue;
    sockaddr_storage own{};
    size = sizeof own;
    if (getsockname(file, reinterpret_cast<sockaddr*>(&own), &size) == 0 && size == name.size() &&
        std::memcmp(&own, name.data(), size) == 0)
      setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &handshake_limit, sizeof handshake_limit);
  }
}

}  // namespace

Endpoint::Endpoint(const Domain& domain, bool wakes, std::string& error)
    : domain_(domain), wakes_(wakes) {
  // rxm sends a message of up to 16 KiB at once, and has its receiver fetch a longer one, in three
  // packets instead of one. Over TCP it takes another limit from the environment, whenever it makes
  // an endpoint: the largest message of this conduit is a little longer than that.
  const DefaultVariable eager_limit("FI_OFI_RXM_EAGER_LIMIT", std::to_string(max_wire));
  make(error);
}

bool Endpoint::make(std::string& error) {
  endpoint_.reset();
  fid_ep* endpoint = nullptr;
  // libfabric does not write to the description.
  if (!took(
          fi_endpoint(domain_.domain(), const_cast<fi_info*>(&domain_.info()), &endpoint, nullptr),
          endpoint, endpoint_, "fi_endpoint", error))
    return false;
  if (domain_.events() != nullptr) fi_ep_bind(endpoint, &domain_.events()->fid, 0);
  // Here, because libfabric 1.17's rxm cannot close an endpoint that lacks them.
  return succeeded(fi_ep_bind(endpoint, &domain_.addresses()->fid, 0),
                   "fi_ep_bind of the addresses", error);
}

bool Endpoint::enable(std::string& error) {
  routes_ = ZeroedTable<Routes>(domain_.ranks());
  std::size_t size = first_queue_size(info());
  while (!enable(size, error)) {
    size /= 2;
    endpoint_.reset();
    completions_.reset();
    std::string ignored;
    if (size < least_completions || !make(ignored)) return false;
    error.clear();
  }
  const std::vector<std::byte> own_name = name(error);
  if (!error.empty()) return false;
  limit_handshakes(own_name);
  return true;
}

bool Endpoint::enable(std::size_t queue_size, std::string& error) {
  fi_cq_attr queue_attributes{};
  queue_attributes.size = queue_size;
  queue_attributes.format = FI_CQ_FORMAT_DATA;
  // Over TCP each completion is written to the descriptor, which takes two calls of the system.
  queue_attributes.wait_obj = wakes_ ? FI_WAIT_FD : FI_WAIT_NONE;
  fid_cq* queue = nullptr;
  int result = fi_cq_open(domain(), &queue_attributes, &queue, nullptr);
  if (result != 0 && wakes_) {
    queue_attributes.wait_obj = FI_WAIT_NONE;
    result = fi_cq_open(domain(), &queue_attributes, &queue, nullptr);
  }
  if (!took(result, queue, completions_, "fi_cq_open", error)) return false;
  if (queue_attributes.wait_obj == FI_WAIT_FD &&
      fi_control(&queue->fid, FI_GETWAIT, &wait_descriptor_) != 0)
    wait_descriptor_ = -1;
  fid_ep* const endpoint = endpoint_.get();
  if (!succeeded(fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV),
                 "fi_ep_bind of the completion queue", error))
    return false;
  // A buffer for many messages is given back when the largest no longer fits.
  const auto set_least = [endpoint, &error] {
    std::size_t least = max_wire;
    return succeeded(
        fi_setopt(&endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least),
        "FI_OPT_MIN_MULTI_RECV", error);
  };
  const bool late = takes_option_late(info().fabric_attr->prov_name, fi_version());
  if (!late && !set_least()) return false;
  return succeeded(fi_enable(endpoint), "fi_enable", error) && (!late || set_least());
}

bool Endpoint::arm_wait() const noexcept {
  fid* queue = &completions_->fid;
  return fi_trywait(domain_.fabric(), &queue, 1) == FI_SUCCESS;
}

void Endpoint::set_routes(std::uint32_t rank, fi_addr_t address) noexcept {
  if (is_first_) return;
  routes_[rank].transfers.set(address);
  if (address != domain_.address_of(rank)) routes_[rank].messages.set(address);
}

std::vector<std::byte> Endpoint::name(std::string& error) const {
  std::size_t size = 0;
  fi_getname(&endpoint_->fid, nullptr, &size);
  std::vector<std::byte> name(size);
  if (!succeeded(fi_getname(&endpoint_->fid, name.data(), &size), "fi_getname", error)) return {};
  name.resize(size);
  return name;
}

bool Endpoint::opens_files_early() const noexcept {
  return ofi::opens_files_early(info().fabric_attr->prov_name, fi_version());
}

void Endpoint::unlink_file() const {
  if (!habits_of(info()).has_files) return;
  std::string error;
  const std::vector<std::byte> bytes = name(error);
  const std::string text(reinterpret_cast<const char*>(bytes.data()),
                         strnlen(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  constexpr std::string_view prefix = "fi_shm://";
  if (text.starts_with(prefix)) shm_unlink(("/" + text.substr(prefix.size())).c_str());
}

}  // namespace gex::net::ofi
