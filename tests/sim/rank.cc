// The part of a module that makes its copy of libgex a rank of its own: an environment, in which
// its place in the job is, and an end that is not the process's.

#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "rank.h"

extern "C" {
int main(int argc, char** argv);

char* __real_getenv(const char* name) noexcept;
char* __wrap_getenv(const char* name) noexcept;
int __wrap_setenv(const char* name, const char* value, int overwrite) noexcept;
int __wrap_unsetenv(const char* name) noexcept;
int __wrap_on_exit(void (*handler)(int, void*), void* argument) noexcept;
int __wrap_atexit(void (*handler)()) noexcept;

[[gnu::visibility("default")]] int gex_sim_run_rank(const gex::sim::Services& services,
                                                    const char* membership, int argc, char** argv);
}

namespace gex::sim {
namespace {

const Services* the_services = nullptr;

/// Variables that this rank has set and unset.
struct Environment {
  std::mutex mutex;
  std::map<std::string, std::optional<std::string>> changes;
};
Environment& environment() {
  static Environment* const one = new Environment;
  return *one;
}

}  // namespace

const Services& services() noexcept {
  return *the_services;
}

}  // namespace gex::sim

char* __wrap_getenv(const char* name) noexcept {
  gex::sim::Environment& own = gex::sim::environment();
  const std::lock_guard lock(own.mutex);
  const auto found = own.changes.find(name);
  if (found == own.changes.end()) return __real_getenv(name);
  return found->second ? found->second->data() : nullptr;
}

int __wrap_setenv(const char* name, const char* value, int overwrite) noexcept {
  if (overwrite == 0 && __wrap_getenv(name) != nullptr) return 0;
  gex::sim::Environment& own = gex::sim::environment();
  const std::lock_guard lock(own.mutex);
  own.changes[name] = value;
  return 0;
}

int __wrap_unsetenv(const char* name) noexcept {
  gex::sim::Environment& own = gex::sim::environment();
  const std::lock_guard lock(own.mutex);
  own.changes[name] = std::nullopt;
  return 0;
}

// A rank ends by returning from main; the process is not its own.
int __wrap_on_exit(void (*)(int, void*), void*) noexcept {
  return 0;
}
int __wrap_atexit(void (*)()) noexcept {
  return 0;
}

int gex_sim_run_rank(const gex::sim::Services& services, const char* membership, int argc,
                     char** argv) {
  gex::sim::the_services = &services;
  __wrap_setenv("GEX_JOB", membership, 1);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
  return main(argc, argv);
#pragma GCC diagnostic pop
}
