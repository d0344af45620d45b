#include "net/ofi/registration.h"

#include <sys/random.h>
#include <sys/resource.h>

#include <utility>

#include "net/ofi/device_interfaces.h"
#include "net/ofi/provider.h"

namespace gex::net::ofi {

namespace {

/// So much local memory is kept registered.
constexpr RegistrationCache::Bounds kept{.bytes = std::size_t{1} << 30, .pieces = 1024};

/// Returns true if the provider, or the kernel below it, might register this after others have
/// gone.
bool is_shortage(int result) noexcept {
  return result == -FI_ENOMEM || result == -FI_ENOSPC || result == -FI_EAGAIN;
}

/// Returns true if keys are ours and have room to be secret: a process that reaches a rank needs a
/// key, and often nothing else, to reach its segment. Networks with small keys, some of which are
/// faster with the smallest, decide themselves what reaches one another.
bool keys_are_secrets(const fi_info& info) noexcept {
  return info.domain_attr->mr_key_size >= sizeof(std::uint64_t);
}

/// Returns what a shortage may be due to.
std::string limit_text(int result) {
  rlimit limit{};
  if (result != -FI_ENOMEM || getrlimit(RLIMIT_MEMLOCK, &limit) != 0 ||
      limit.rlim_cur == RLIM_INFINITY)
    return {};
  return " (ulimit -l allows " + std::to_string(limit.rlim_cur / 1024) +
         " KiB; unlimited is usual on such networks)";
}

}  // namespace

Registrar::Registrar(const Endpoint& endpoint, bool always, bool threaded)
    : endpoint_(endpoint),
      mode_(registration_mode(endpoint.info())),
      needs_local_(needs_local(endpoint.info(), always)),
      secret_keys_(keys_are_secrets(endpoint.info())) {
  std::string ignored;
  if (needs_local_ && threaded) monitor_ = MemoryMonitor::start(ignored);
  if (monitor_)
    cache_ =
        std::make_unique<RegistrationCache>(static_cast<MemoryRegistry&>(*this), *monitor_, kept);
}

bool Registrar::needs_local(const fi_info& info, bool always) noexcept {
  return always || (registration_mode(info) & FI_MR_LOCAL) != 0;
}

std::string Registrar::describe_cache(const fi_info& info, bool always) {
  if (!needs_local(info, always)) return "nothing: local memory needs no registration";
  std::string why;
  if (!MemoryMonitor::start(why)) return "nothing: " + why;
  return "local memory of GASNET_PAR programs, at most " + std::to_string(kept.bytes >> 20) +
         " MiB in " + std::to_string(kept.pieces) +
         " pieces; nothing of others, which have no thread of libgex's";
}

void* Registrar::add(void* address, std::size_t size) noexcept {
  std::string ignored;
  return add(address, size, FI_READ | FI_WRITE, ignored).release();
}

void Registrar::remove(void* handle) noexcept {
  const Region region(static_cast<fid_mr*>(handle));
}

Region Registrar::add(void* address, std::size_t size, std::uint64_t access, std::string& error,
                      bool* lacks_room) {
  Region region;
  int result = try_add(address, size, access, region);
  while (is_shortage(result) && cache_ && cache_->give_up_one())
    result = try_add(address, size, access, region);
  if (lacks_room != nullptr) *lacks_room = is_shortage(result);
  if (result != 0)
    error = "registering " + std::to_string(size) + " bytes: " + error_text(result) +
            limit_text(result);
  return region;
}

std::uint64_t Registrar::draw_key(std::uint64_t access) noexcept {
  if ((mode_ & FI_MR_PROV_KEY) != 0) return 0;
  std::uint64_t key = 0;
  const bool is_remote = (access & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0;
  if (secret_keys_ && is_remote && getrandom(&key, sizeof key, 0) == sizeof key) return key;
  // Relaxed: the numbers have to be different, no more.
  return next_key_.fetch_add(1, std::memory_order_relaxed);
}

int Registrar::try_add(void* address, std::size_t size, std::uint64_t access, Region& region) {
  const std::uint64_t key = draw_key(access);
  fid_mr* made = nullptr;
  int result = fi_mr_reg(endpoint_.domain(), address, size, access, 0, key, 0, &made, nullptr);
  return result != 0 ? result : enable(Region(made), region);
}

int Registrar::enable(Region made, Region& region) {
  int result = 0;
  if ((mode_ & FI_MR_ENDPOINT) != 0) {
    result = fi_mr_bind(made.get(), &endpoint_.endpoint()->fid, 0);
    if (result == 0) result = fi_mr_enable(made.get());
  }
  if (result == 0) region = std::move(made);
  return result;
}

namespace {

/// Names the memory's device as libfabric does (fi_mr(3)).
void name_device(const SegmentMemory& memory, fi_mr_attr& attributes) {
  for (const DeviceInterface& one : device_interfaces) {
    if (one.memory_class != memory.memory_class) continue;
    attributes.iface = one.number;
    if (one.set_device != nullptr) one.set_device(attributes, static_cast<int>(memory.device));
  }
}

}  // namespace

int Registrar::try_add_device(const SegmentMemory& memory, bool by_descriptor, Region& region) {
  const iovec pieces{memory.address, memory.size};
  fi_mr_attr attributes{};
  attributes.mr_iov = &pieces;
  attributes.iov_count = 1;
  attributes.access = segment_access;
  attributes.requested_key = draw_key(segment_access);
  name_device(memory, attributes);
  std::uint64_t flags = 0;
#ifdef FI_MR_DMABUF
  const fi_mr_dmabuf pages{
      .fd = memory.descriptor,
      .offset = memory.descriptor_offset,
      .len = memory.size,
      .base_addr = static_cast<std::byte*>(memory.address) - memory.descriptor_offset};
  if (by_descriptor) {
    attributes.dmabuf = &pages;
    flags = FI_MR_DMABUF;
  }
#else
  if (by_descriptor) return -FI_ENOSYS;
#endif
  fid_mr* made = nullptr;
  const int result = fi_mr_regattr(endpoint_.domain(), &attributes, flags, &made);
  return result != 0 ? result : enable(Region(made), region);
}

Region Registrar::add_device(const SegmentMemory& memory, std::string& error) {
  Region region;
  if (!reaches_devices()) {
    error = "the provider does not reach memory of devices";
    return region;
  }
  int result = try_add_device(memory, /*by_descriptor=*/false, region);
  // A libfabric that was built without the device's libraries takes its memory by descriptor only.
  if (result != 0 && memory.descriptor >= 0 &&
      try_add_device(memory, /*by_descriptor=*/true, region) == 0)
    return region;
  if (result != 0)
    error = "registering " + std::to_string(memory.size) + " bytes: " + error_text(result);
  return region;
}

}  // namespace gex::net::ofi
