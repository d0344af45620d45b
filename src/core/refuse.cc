#include "core/refuse.h"

#include "base/error.h"
#include "core/process.h"

namespace gex {

int refuse(int error, const char* call, const char* why) noexcept {
  if (checked()) fatal("%s: %s", call, why);
  if (verbose_errors.load(std::memory_order_relaxed)) warn("%s: %s", call, why);
  return error;
}

}  // namespace gex
