#include "kinds/kinds.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <vector>

#include "base/immortal.h"
#include "core/objects.h"
#include "core/progress.h"
#include "kinds/cuda/class.h"

namespace gex::kinds {

namespace {

struct Kinds {
  std::mutex mutex;
  std::vector<gex_MK_t> all;
};
Immortal<Kinds> the_kinds;

/// The classes of this library, one for each folder of the room.
constexpr const DeviceClass* classes[] = {&cuda::device_class};

/// The classes that clients can name; those of devices that are not in `classes` are refused. A row
/// for each number, from 0 on.
struct NamedClass {
  gex_MK_Class_t number;
  net::MemoryClass memory_class;
  const char* name;
};
constexpr NamedClass named_classes[] = {
    {GEX_MK_CLASS_HOST, net::host_memory, "GEX_MK_CLASS_HOST"},
    {GEX_MK_CLASS_CUDA_UVA, net::cuda_memory, "GEX_MK_CLASS_CUDA_UVA"},
    {GEX_MK_CLASS_HIP, net::hip_memory, "GEX_MK_CLASS_HIP"},
    {GEX_MK_CLASS_ZE, net::level_zero_memory, "GEX_MK_CLASS_ZE"},
};
static_assert([] {
  std::uint32_t next = 0;
  return std::ranges::all_of(named_classes, [&next](const NamedClass& one) {
    return std::uint32_t{one.number} == next && std::uint32_t{one.memory_class} == next++;
  });
}());

/// As DeviceClass::find, for a client that may name any class.
const MemoryKind* find_device(const gex_MK_Create_args_t& args, std::string& why, bool& invalid) {
  const net::MemoryClass wanted = memory_class_of(args.gex_class);
  for (const DeviceClass* one : classes)
    if (one->memory.memory_class == wanted) return one->find(args, why, invalid);
  invalid = true;
  why =
      std::string("this library has no memory of class ") + named_classes[wanted].name + ", only ";
  for (const DeviceClass* one : classes)
    why.append(one == classes[0] ? "" : ", ").append(named_classes[one->memory.memory_class].name);
  return nullptr;
}

}  // namespace

bool is_class(gex_MK_Class_t number) noexcept {
  return static_cast<std::uint32_t>(number) < std::size(named_classes);
}

std::vector<DeviceFacts> devices(std::string& why) {
  std::vector<DeviceFacts> found;
  for (const DeviceClass* one : classes) {
    std::string none;
    std::ranges::move(one->devices(none), std::back_inserter(found));
    if (!none.empty()) why.append(why.empty() ? "" : "; ").append(none);
  }
  return found;
}

std::string driver() {
  std::string all;
  for (const DeviceClass* one : classes)
    if (const std::string text = one->driver(); !text.empty())
      all.append(all.empty() ? "" : ", ").append(text);
  return all;
}

void expect() {
  std::uint64_t expected = 0;
  for (const DeviceClass* one : classes) {
    register_memory_class(one->memory);
    if (one->may_exist()) expected |= std::uint64_t{1} << one->memory.memory_class;
  }
  expect_classes(expected);
}

void start() {
  register_poller([]() noexcept {
    bool any = false;
    for (const DeviceClass* one : classes) any = one->poll() || any;
    return any;
  });
}

int create(gex_MK_t& made, gex_Client_t client, const gex_MK_Create_args_t& args,
           std::string& why) {
  bool invalid = false;
  const MemoryKind* const kind = find_device(args, why, invalid);
  if (kind == nullptr) return invalid ? GASNET_ERR_BAD_ARG : GASNET_ERR_RESOURCE;
  Kinds& kinds = the_kinds.get();
  const std::lock_guard lock(kinds.mutex);
  made = new _gex_MK{client, kind};
  kinds.all.push_back(made);
  return GASNET_OK;
}

bool exists(gex_MK_t kind) noexcept {
  Kinds& kinds = the_kinds.get();
  const std::lock_guard lock(kinds.mutex);
  return std::find(kinds.all.begin(), kinds.all.end(), kind) != kinds.all.end();
}

void destroy(gex_MK_t kind) noexcept {
  Kinds& kinds = the_kinds.get();
  const std::lock_guard lock(kinds.mutex);
  std::erase(kinds.all, kind);
  delete kind;
}

}  // namespace gex::kinds
