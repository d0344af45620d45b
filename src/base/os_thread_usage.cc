#include "base/os_thread_usage.h"

#include <sys/resource.h>

namespace gex::os {

ThreadUsage thread_usage() noexcept {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  const auto ns = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_usec) * 1'000;
  };
  return {ns(usage.ru_utime) + ns(usage.ru_stime), static_cast<std::uint64_t>(usage.ru_nvcsw),
          static_cast<std::uint64_t>(usage.ru_nivcsw)};
}

}  // namespace gex::os
