#include "core/refuse.h"

#include <mutex>
#include <set>
#include <string_view>

#include "base/error.h"
#include "core/process.h"

namespace gex {

int refuse(int error, const char* call, const char* why) noexcept {
  if (checked()) fatal("%s: %s", call, why);
  if (verbose_errors.load(std::memory_order_relaxed)) warn("%s: %s", call, why);
  return error;
}

void warn_of_flags(gex_Flags_t flags, gex_Flags_t allowed, const char* call) noexcept {
  if (!checked() || (flags & ~allowed) == 0) return;
  static std::mutex mutex;
  static auto& warned = *new std::set<std::string_view>;
  const std::lock_guard lock(mutex);
  if (warned.insert(call).second) warn("%s: ignores unknown flags 0x%x", call, flags & ~allowed);
}

}  // namespace gex
