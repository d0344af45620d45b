#include "memory_region.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>

#include "domain.h"
#include "knobs.h"
#include "stubs.h"

namespace gexsim {

namespace {

constexpr std::uintptr_t page = 4096;
/// The access bit of libfabric's own layers for a registration that is not to be cached.
constexpr std::uint64_t uncached = std::uint64_t{1} << 60;

/// The kernel's report of the mappings that hold some memory.
struct Mapping {
  bool is_writable = false;
  std::string flags;
};
std::vector<Mapping> mappings_of(const std::byte* start, std::size_t size) {
  const auto begin = reinterpret_cast<std::uintptr_t>(start);
  std::vector<Mapping> found;
  std::ifstream file("/proc/self/smaps");
  bool is_inside = false;
  for (std::string line; std::getline(file, line);) {
    unsigned long from = 0, to = 0;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &from, &to, rights) == 3) {
      is_inside = from < begin + size && begin < to;
      if (is_inside) found.push_back({.is_writable = rights[1] == 'w', .flags = {}});
    } else if (is_inside && line.starts_with("VmFlags:")) {
      found.back().flags = line.substr(std::strlen("VmFlags:")) + " ";
    }
  }
  return found;
}

bool any_has(const std::vector<Mapping>& mappings, const char* flag) {
  return std::any_of(mappings.begin(), mappings.end(),
                     [&](const Mapping& one) { return one.flags.find(flag) != std::string::npos; });
}

/// Marks mappings, so that memory mapped anew at the place is seen to be another.
bool mark(const std::byte* start, std::size_t size) {
  const auto begin = reinterpret_cast<std::uintptr_t>(start) & ~(page - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(start) + size + page - 1) & ~(page - 1);
  return madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTDUMP) == 0;
}
bool is_marked(const std::byte* start, std::size_t size) {
  const std::vector<Mapping> mappings = mappings_of(start, size);
  return !mappings.empty() && std::all_of(mappings.begin(), mappings.end(), [](const Mapping& one) {
    return one.flags.find(" dd ") != std::string::npos;
  });
}

/// Where the driver that tests have (tests/jobs/cuda/fake) lets the processor reach bytes of a
/// device's; null: they are not.
std::byte* device_bytes(const void* memory, std::size_t size) {
  using Reach = std::byte* (*)(const void*, std::size_t);
  static const Reach reach = [] {
    const char* const library = std::getenv("GEX_CUDA_LIBRARY");
    void* const driver = library != nullptr ? dlopen(library, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    return driver != nullptr ? reinterpret_cast<Reach>(dlsym(driver, "fake_cuda_reach")) : nullptr;
  }();
  return reach != nullptr ? reach(memory, size) : nullptr;
}

/// 0, or the error with which this memory is refused.
int check(const std::byte* start, std::size_t size) {
  const Knobs& own = knobs();
  if (own.mr_refuses_null != 0 && (start == nullptr || size == 0)) return -FI_EINVAL;
  if (own.mr_refuses_readonly != 0) {
    // Whatever it is for: the kernel is asked for pages to write.
    for (const Mapping& mapping : mappings_of(start, size))
      if (!mapping.is_writable) return -FI_EFAULT;
  }
  if (own.mr_refuses_watched != 0) {
    const std::vector<Mapping> mappings = mappings_of(start, size);
    if (any_has(mappings, " um ") || any_has(mappings, " uw ")) return -FI_EBUSY;
  }
  return 0;
}

void take_time(std::size_t size) {
  const std::uint64_t us = knobs().mr_microseconds_per_mib * (size >> 20);
  if (us == 0) return;
  const timespec time{.tv_sec = static_cast<time_t>(us / 1000000),
                      .tv_nsec = static_cast<long>(us % 1000000 * 1000)};
  nanosleep(&time, nullptr);
}

int close_region(fid* object) {
  auto* region = static_cast<Region*>(reinterpret_cast<fid_mr*>(object));
  const std::lock_guard guard(region->domain().mutex());
  region->domain().regions().remove(*region);
  delete region;
  return 0;
}

int bind_region(fid* object, fid* to, std::uint64_t /*flags*/) {
  auto* region = static_cast<Region*>(reinterpret_cast<fid_mr*>(object));
  if (to->fclass != FI_CLASS_EP) return -FI_EINVAL;
  region->endpoint = to;
  return 0;
}

int control_region(fid* object, int command, void* /*argument*/) {
  auto* region = static_cast<Region*>(reinterpret_cast<fid_mr*>(object));
  if (command != FI_ENABLE) return -FI_ENOSYS;
  if (region->endpoint == nullptr) return -FI_EINVAL;
  region->enabled = true;
  return 0;
}

fi_ops region_object{.size = sizeof(fi_ops),
                     .close = close_region,
                     .bind = bind_region,
                     .control = control_region,
                     .ops_open = missing,
                     .tostr = missing,
                     .ops_set = missing};

int register_memory(fid* object, const void* memory, std::size_t size, std::uint64_t access,
                    std::uint64_t /*offset*/, std::uint64_t wanted_key, std::uint64_t flags,
                    fid_mr** made, void* context) {
  if ((flags & ~uncached) != 0) return -FI_EBADFLAGS;
  auto& domain = *static_cast<Domain*>(reinterpret_cast<fid_domain*>(object));
  auto* start = static_cast<std::byte*>(const_cast<void*>(memory));
  if (const int error = check(start, size); error != 0) return error;
  take_time(size);
  auto region = std::make_unique<Region>(domain, start, size, access, context);
  if (knobs().mr_stale != 0 && mark(start, size)) region->stale_pages.assign(start, start + size);
  const std::lock_guard guard(domain.mutex());
  region->enabled = !domain.regions().needs_endpoint();
  if (const int error = domain.regions().add(*region, wanted_key); error != 0) return error;
  *made = region.release();
  return 0;
}

int register_pieces(fid* object, const iovec* pieces, std::size_t count, std::uint64_t access,
                    std::uint64_t offset, std::uint64_t wanted_key, std::uint64_t flags,
                    fid_mr** made, void* context) {
  if (count != 1) return -FI_EINVAL;
  return register_memory(object, pieces->iov_base, pieces->iov_len, access, offset, wanted_key,
                         flags, made, context);
}

int register_by_attributes(fid* object, const fi_mr_attr* attributes, std::uint64_t flags,
                           fid_mr** made) {
  const bool of_device = attributes->iface != FI_HMEM_SYSTEM;
  const iovec& piece = *attributes->mr_iov;
  if (of_device && (knobs().hmem != "interface" || attributes->iface != FI_HMEM_CUDA ||
                    device_bytes(piece.iov_base, piece.iov_len) == nullptr))
    return -FI_ENOSYS;
  const int result = register_pieces(object, attributes->mr_iov, attributes->iov_count,
                                     attributes->access, attributes->offset,
                                     attributes->requested_key, flags, made, attributes->context);
  if (result == 0) static_cast<Region*>(*made)->of_device = of_device;
  return result;
}

}  // namespace

fi_ops_mr region_table{.size = sizeof(fi_ops_mr),
                       .reg = register_memory,
                       .regv = register_pieces,
                       .regattr = register_by_attributes};

Region::Region(Domain& domain, std::byte* start, std::size_t size, std::uint64_t access,
               void* context)
    : fid_mr{}, domain_(domain), start_(start), size_(size), access_(access) {
  fid.fclass = FI_CLASS_MR;
  fid.context = context;
  fid.ops = &region_object;
  mem_desc = this;
  key = FI_KEY_NOTAVAIL;
}

int Regions::add(Region& region, std::uint64_t wanted_key) {
  const Knobs& own = knobs();
  if (by_key_.size() >= own.mr_count) return -FI_ENOSPC;
  if (region.size() > own.mr_bytes - std::min(own.mr_bytes, bytes_)) return -FI_ENOMEM;
  std::uint64_t key = wanted_key;
  if (chooses_keys()) {
    // Not in a row: a client must not guess them.
    next_key_ = next_key_ * 5 + 3;
    key = own.key_size < sizeof key ? next_key_ & ((1ULL << 8 * own.key_size) - 1) : next_key_;
  } else if (own.mr_refuses_guessable != 0 && key >> 32 == 0 &&
             (region.access() & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0) {
    return -FI_EKEYREJECTED;
  } else if (own.key_size < sizeof key && key >> 8 * own.key_size != 0) {
    return -FI_EKEYREJECTED;
  }
  if (!by_key_.emplace(key, &region).second) return -FI_ENOKEY;
  region.key = key;
  bytes_ += region.size();
  return 0;
}

void Regions::remove(Region& region) {
  bytes_ -= region.size();
  by_key_.erase(region.key);
}

std::byte* Regions::find(std::uint64_t key, std::uint64_t target, std::size_t size,
                         std::uint64_t access, const void* endpoint) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  Region& region = *found->second;
  if (!region.enabled || (needs_endpoint() && region.endpoint != endpoint)) return nullptr;
  if ((region.access() & access) != access) return nullptr;
  const std::uint64_t origin = by_address() ? reinterpret_cast<std::uintptr_t>(region.start()) : 0;
  const std::uint64_t offset = target - origin;
  if (offset > region.size() || size > region.size() - offset) return nullptr;
  return pages(&region, region.start() + offset);
}

bool Regions::covers(const void* descriptor, const void* memory, std::size_t size,
                     std::uint64_t access) const {
  const auto found = std::find_if(by_key_.begin(), by_key_.end(),
                                  [&](const auto& one) { return one.second == descriptor; });
  if (found == by_key_.end() || (found->second->access() & access) != access) return false;
  const Region& region = *found->second;
  const auto* start = static_cast<const std::byte*>(memory);
  return start >= region.start() && size <= region.size() &&
         static_cast<std::size_t>(start - region.start()) <= region.size() - size;
}

std::byte* Regions::pages(Region* region, std::byte* memory) {
  if (region != nullptr && region->of_device) return device_bytes(memory, 1);
  if (region == nullptr || region->stale_pages.empty() ||
      is_marked(region->start(), region->size()))
    return memory;
  return region->stale_pages.data() + (memory - region->start());
}

}  // namespace gexsim
