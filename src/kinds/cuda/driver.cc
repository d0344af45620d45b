#include "kinds/cuda/driver.h"

#include <dlfcn.h>
#include <unistd.h>

#include <mutex>
#include <type_traits>

#include "base/env.h"
#include "base/immortal.h"

namespace gex::kinds::cuda {

namespace {

/// The result of opening it, which is tried once.
struct Opened {
  std::once_flag once;
  Driver driver{};
  std::string why;  ///< not empty: it cannot be used
};
Immortal<Opened> the_opened;

/// Fills the table; returns why that is not possible, or nothing.
std::string load(Driver& driver) {
  if (!env::boolean(env::Variable::cuda)) return "switched off by GEX_CUDA";
  const std::string library = env::text(env::Variable::cuda_library);
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const error = dlerror();
    return error != nullptr ? error : library + " cannot be opened";
  }
  const char* missing = nullptr;
  const auto find = [&](auto& member, const char* name) {
    void* const symbol = dlsym(handle, name);
    if (symbol == nullptr) missing = name;
    member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(symbol);
  };
#define GEX_CUDA_FUNCTION(member, name, parameters) find(driver.member, #name);
#include "kinds/cuda/driver_functions.def"
#undef GEX_CUDA_FUNCTION
  if (env::boolean(env::Variable::cuda_batch))
    driver.copy_batch =
        reinterpret_cast<decltype(driver.copy_batch)>(dlsym(handle, "cuMemcpyBatchAsync"));
  if (missing != nullptr)
    return library + " has no " + missing + ": a driver of CUDA 12.0 or later is needed";
  if (const Result error = driver.init(0)) return describe(driver, "cuInit", error);
  int devices = 0;
  if (const Result error = driver.device_count(&devices))
    return describe(driver, "cuDeviceGetCount", error);
  return devices > 0 ? "" : "the driver has no device";
}

}  // namespace

bool may_have_driver() {
  if (!env::boolean(env::Variable::cuda)) return false;
  // The second is that of Linux below Windows.
  return env::value(env::Variable::cuda_library).has_value() ||
         access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

const Driver* open_driver(std::string& why) {
  Opened& opened = the_opened.get();
  std::call_once(opened.once, [&] { opened.why = load(opened.driver); });
  why = opened.why;
  return why.empty() ? &opened.driver : nullptr;
}

std::string describe(const Driver& driver, const char* function, Result error) {
  const char* name = nullptr;
  if (driver.error_name(error, &name) != success || name == nullptr) name = "unknown error";
  return std::string(function) + ": " + name + " (" + std::to_string(error) + ")";
}

CurrentContext::CurrentContext(const Driver& driver, Context context) noexcept
    : driver_(driver), error_(driver.push_context(context)) {
}

CurrentContext::~CurrentContext() {
  Context popped = nullptr;
  if (error_ == success) driver_.pop_context(&popped);
}

}  // namespace gex::kinds::cuda
