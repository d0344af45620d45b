#include "kinds/kinds.h"

#include <algorithm>
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
constexpr const DeviceClass* the_classes[] = {&cuda::device_class};

/// The name of a class that clients can name; those of devices that are not in `the_classes` are
/// refused. Null: there is none of that number. The compiler wants a case for each class, here and
/// in `number_of` (-Wswitch).
constexpr const char* name_of(gex_MK_Class_t number) noexcept {
  switch (number) {
    case GEX_MK_CLASS_HOST:
      return "GEX_MK_CLASS_HOST";
    case GEX_MK_CLASS_CUDA_UVA:
      return "GEX_MK_CLASS_CUDA_UVA";
    case GEX_MK_CLASS_HIP:
      return "GEX_MK_CLASS_HIP";
    case GEX_MK_CLASS_ZE:
      return "GEX_MK_CLASS_ZE";
  }
  return nullptr;
}

/// For clients and for networks a class has one number.
template <net::MemoryClass memory_class, gex_MK_Class_t number>
requires(std::uint32_t{memory_class} ==
         std::uint32_t{number}) inline constexpr gex_MK_Class_t same = number;

constexpr gex_MK_Class_t number_of(net::MemoryClass memory_class) noexcept {
  switch (memory_class) {
    case net::host_memory:
      return same<net::host_memory, GEX_MK_CLASS_HOST>;
    case net::cuda_memory:
      return same<net::cuda_memory, GEX_MK_CLASS_CUDA_UVA>;
    case net::hip_memory:
      return same<net::hip_memory, GEX_MK_CLASS_HIP>;
    case net::level_zero_memory:
      return same<net::level_zero_memory, GEX_MK_CLASS_ZE>;
  }
  return GEX_MK_CLASS_HOST;
}

/// As DeviceClass::find, for a client that may name any class.
const MemoryKind* find_device(const gex_MK_Create_args_t& args, std::string& why, bool& invalid) {
  const net::MemoryClass wanted = memory_class_of(args.gex_class);
  for (const DeviceClass* one : the_classes)
    if (one->memory.memory_class == wanted) return one->find(args, why, invalid);
  invalid = true;
  why = std::string("this library has no memory of class ") + name_of(args.gex_class) + ", only ";
  for (const DeviceClass* one : the_classes)
    why.append(one == the_classes[0] ? "" : ", ")
        .append(name_of(number_of(one->memory.memory_class)));
  return nullptr;
}

}  // namespace

std::span<const DeviceClass* const> classes() noexcept {
  return the_classes;
}

bool is_class(gex_MK_Class_t number) noexcept {
  return name_of(number) != nullptr;
}

void expect() {
  std::uint64_t expected = 0;
  for (const DeviceClass* one : the_classes) {
    register_memory_class(one->memory);
    if (one->may_exist()) expected |= std::uint64_t{1} << one->memory.memory_class;
  }
  expect_classes(expected);
}

void start() {
  register_poller([]() noexcept {
    bool any = false;
    for (const DeviceClass* one : the_classes) any = one->poll() || any;
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
