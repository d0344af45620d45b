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

#include "net/ofi/wire.h"

namespace gex::net::ofi {

namespace {

/// Completions that may wait to be read; a provider that has more than that holds operations back.
constexpr std::size_t queued_completions = 8192;

/// Takes what an open function of libfabric's wrote to `object`, which is read after the call;
/// false after saying what failed.
template <class T>
bool took(int result, T* const& object, Fid<T>& into, const char* what, std::string& error) {
  if (result != 0) {
    error = std::string(what) + ": " + error_text(result);
    return false;
  }
  into.reset(object);
  return true;
}

bool succeeded(int result, const char* what, std::string& error) {
  if (result == 0) return true;
  error = std::string(what) + ": " + error_text(result);
  return false;
}

/// A variable of the environment that is set while this object lives, unless the user has set it.
class DefaultVariable {
 public:
  DefaultVariable(const char* name, std::size_t value)
      : name_(name), sets_(std::getenv(name) == nullptr) {
    if (sets_) setenv(name, std::to_string(value).c_str(), 0);
  }
  DefaultVariable(const DefaultVariable&) = delete;
  DefaultVariable& operator=(const DefaultVariable&) = delete;
  ~DefaultVariable() {
    if (sets_) unsetenv(name_);
  }

 private:
  const char* const name_;
  const bool sets_;
};

/// A rank over libfabric 1.17's rxd jumps into nowhere when it is asked for an atomic operation.
bool fails_at_atomics(const fi_info& info) noexcept {
  return std::string_view(info.fabric_attr->prov_name).ends_with(";ofi_rxd");
}

bool is_shm(const fi_info& info) noexcept {
  return std::string_view(info.fabric_attr->prov_name) == "shm";
}

/// How long a connection may keep what opens it incomplete. What a peer says comes in one packet.
constexpr timeval greeting_limit{0, 200'000};

/// libfabric reads what opens a connection with calls that wait, although it polls before: whoever
/// sends a part of it and stays would hold up this rank for good. Connections inherit the limit
/// from the socket that listens, which libfabric does not give away; it is the one with our
/// address. Once a connection is open its socket does not wait, and the limit means nothing.
void limit_greetings(std::span<const std::byte> name) {
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
      setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &greeting_limit, sizeof greeting_limit);
  }
}

}  // namespace

RmaMeans rma_means(const fi_info& info) noexcept {
  RmaMeans means;
  means.delivery_complete = (info.tx_attr->op_flags & FI_DELIVERY_COMPLETE) != 0;
  if ((info.tx_attr->msg_order & (FI_ORDER_RAW | FI_ORDER_RMA_RAW)) != 0)
    means.most_ordered = info.ep_attr->max_order_raw_size;
  means.available =
      (info.caps & FI_RMA) != 0 && (means.delivery_complete || means.most_ordered != 0);
  means.atomics = means.available && (info.caps & FI_ATOMIC) != 0 && !fails_at_atomics(info);
  return means;
}

bool makes_connections(const fi_info& info) noexcept {
  const std::string_view name = info.fabric_attr->prov_name;
  return name.ends_with(";ofi_rxm") || name == "tcp" || name == "net" || name == "sockets";
}

Endpoint::Endpoint(Info info, std::string& error)
    : info_(std::move(info)), rma_(rma_means(*info_)) {
  // What the choice asked for as a default is said for each operation instead.
  info_->tx_attr->op_flags = 0;
  fid_fabric* fabric = nullptr;
  if (!took(fi_fabric(info_->fabric_attr, &fabric, nullptr), fabric, fabric_, "fi_fabric", error))
    return;
  fid_domain* domain = nullptr;
  if (!took(fi_domain(fabric, info_.get(), &domain, nullptr), domain, domain_, "fi_domain", error))
    return;
  fi_av_attr peers_attributes{};
  peers_attributes.type = info_->domain_attr->av_type;
  fid_av* peers = nullptr;
  if (!took(fi_av_open(domain, &peers_attributes, &peers, nullptr), peers, peers_, "fi_av_open",
            error))
    return;
  fi_cq_attr queue_attributes{};
  queue_attributes.size = queued_completions;
  queue_attributes.format = FI_CQ_FORMAT_DATA;
  queue_attributes.wait_obj = FI_WAIT_NONE;
  fid_cq* queue = nullptr;
  if (!took(fi_cq_open(domain, &queue_attributes, &queue, nullptr), queue, completions_,
            "fi_cq_open", error))
    return;
  // rxm sends a message of up to 16 KiB at once, and has its receiver fetch a longer one, in three
  // packets instead of one. Over TCP it takes another limit from the environment, whenever it opens
  // an endpoint: the largest message of this conduit is a little longer than that.
  const DefaultVariable eager_limit("FI_OFI_RXM_EAGER_LIMIT", max_wire);
  fid_ep* endpoint = nullptr;
  if (!took(fi_endpoint(domain, info_.get(), &endpoint, nullptr), endpoint, endpoint_,
            "fi_endpoint", error))
    return;
  if (!succeeded(fi_ep_bind(endpoint, &peers->fid, 0), "fi_ep_bind of the addresses", error) ||
      !succeeded(fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV),
                 "fi_ep_bind of the completion queue", error))
    return;
  // A buffer for many messages is given back when the largest no longer fits.
  const auto set_least = [endpoint, &error] {
    std::size_t least = max_wire;
    return succeeded(
        fi_setopt(&endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least),
        "FI_OPT_MIN_MULTI_RECV", error);
  };
  // libfabric 1.17's shm has no place for an option before, and writes to where it would be.
  const bool late = is_shm(*info_);
  if (!late && !set_least()) return;
  if (!succeeded(fi_enable(endpoint), "fi_enable", error)) return;
  if (late && !set_least()) return;
  const std::vector<std::byte> own_name = name(error);
  if (error.empty()) limit_greetings(own_name);
}

std::vector<std::byte> Endpoint::name(std::string& error) const {
  std::size_t size = 0;
  fi_getname(&endpoint_->fid, nullptr, &size);
  std::vector<std::byte> name(size);
  if (!succeeded(fi_getname(&endpoint_->fid, name.data(), &size), "fi_getname", error)) return {};
  name.resize(size);
  return name;
}

void Endpoint::forget_file() const {
  if (!is_shm(*info_)) return;
  std::string error;
  const std::vector<std::byte> bytes = name(error);
  const std::string text(reinterpret_cast<const char*>(bytes.data()),
                         strnlen(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  constexpr std::string_view prefix = "fi_shm://";
  if (text.starts_with(prefix)) shm_unlink(("/" + text.substr(prefix.size())).c_str());
}

bool Endpoint::learn(std::span<const std::byte> names, std::size_t stride, std::string& error) {
  addresses_.resize(names.size() / stride);
  for (std::size_t rank = 0; rank < addresses_.size(); ++rank) {
    const int inserted =
        fi_av_insert(peers_.get(), names.data() + rank * stride, 1, &addresses_[rank], 0, nullptr);
    if (inserted == 1) continue;
    error = "fi_av_insert of rank " + std::to_string(rank) + ": " +
            (inserted < 0 ? error_text(inserted) : "refused");
    return false;
  }
  return true;
}

}  // namespace gex::net::ofi
