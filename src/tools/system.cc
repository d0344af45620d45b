// The machine, the process and the library for gasnet_tools.h.

#include <gex/tools_system.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/env.h"
#include "base/error.h"
#include "base/os_cpu.h"
#include "base/os_host.h"
#include "base/os_memory_limits.h"

namespace {

constexpr std::uint64_t release_number = GASNETT_RELEASE_VERSION_MAJOR * 1000000u +
                                         GASNETT_RELEASE_VERSION_MINOR * 10000u +
                                         GASNETT_RELEASE_VERSION_PATCH;

struct Limit {
  int resource;
  const char* name;
};
constexpr Limit limits[] = {
    {RLIMIT_CPU, "RLIMIT_CPU"}, {RLIMIT_DATA, "RLIMIT_DATA"}, {RLIMIT_STACK, "RLIMIT_STACK"},
    {RLIMIT_RSS, "RLIMIT_RSS"}, {RLIMIT_AS, "RLIMIT_AS"},     {RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK"},
};

std::string program_path() {
  std::string path(PATH_MAX, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length < 0) return "";
  path.resize(static_cast<std::size_t>(length));
  return path;
}

}  // namespace

const char* gasnett_release_version_str() {
  return _STRINGIFY(GASNETT_RELEASE_VERSION_MAJOR) "." _STRINGIFY(
      GASNETT_RELEASE_VERSION_MINOR) "." _STRINGIFY(GASNETT_RELEASE_VERSION_PATCH);
}

std::uint64_t gasnett_release_version() {
  return release_number;
}

const char* gasnett_performance_warning_str() {
  return ""
#if defined(GEX_DEBUG)
         "        Usage checks are on (this is the checking library)\n"
#endif
#if defined(__SANITIZE_ADDRESS__)
         "        The library is built with AddressSanitizer\n"
#endif
#if defined(__SANITIZE_THREAD__)
         "        The library is built with ThreadSanitizer\n"
#endif
#if !defined(__OPTIMIZE__)
         "        The library is built without optimisation\n"
#endif
      ;
}

const char* gasnett_gethostname() {
  // Never destroyed: exit handlers of the client may still read it.
  static const std::string& name = *new std::string(gex::os::hostname());
  return name.c_str();
}

int gasnett_cpu_count() {
  return static_cast<int>(gex::os::cpu_count());
}

std::uint64_t gasnett_getPhysMemSz(int failure_is_fatal) {
  const std::uint64_t bytes = gex::os::physical_memory();
  if (bytes == 0 && failure_is_fatal) {
    gex::fatal("gasnett_getPhysMemSz: the amount of this host's memory cannot be determined");
  }
  return bytes;
}

int gasnett_isLittleEndian() {
#if PLATFORM_ARCH_LITTLE_ENDIAN
  return 1;
#else
  return 0;
#endif
}

const char* gasnett_exe_name() {
  static const std::string& path = *new std::string(program_path());
  return path.c_str();
}

int gasnett_set_affinity(int rank) {
  const int processors = gasnett_cpu_count();
  const int wrapped = ((rank % processors) + processors) % processors;
  return gex::os::pin_to_core(static_cast<std::uint32_t>(wrapped));
}

int gasnett_maximize_rlimit(int resource, const char* name) {
  if (!gex::env::boolean(gex::env::Variable::maximize, name)) return 1;
  // The types of get- and setrlimit's first parameter differ between C and C++.
  const auto which = static_cast<__rlimit_resource_t>(resource);
  rlimit limit;
  if (::getrlimit(which, &limit) != 0) return 0;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(which, &limit) == 0 ? 1 : 0;
}

int gasnett_maximize_rlimits() {
  int all = 1;
  for (const Limit& limit : limits) {
    if (!gasnett_maximize_rlimit(limit.resource, limit.name)) all = 0;
  }
  return all;
}

void gasnett_flush_streams() {
  std::fflush(stdout);
  std::fflush(stderr);
}

void gasnett_close_streams() {
  gasnett_flush_streams();
  // Not closed but led nowhere: a file opened later must not become the standard output.
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (nowhere < 0) {
      ::close(descriptor);
    } else {
      ::dup2(nowhere, descriptor);
    }
  }
  if (nowhere > STDERR_FILENO) ::close(nowhere);
}

void* gasnett_mmap(std::uintptr_t size) {
  return ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
