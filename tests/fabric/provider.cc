#include "provider.h"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "knobs.h"

namespace gexsim {

namespace {

void abort_in_fork() {
  static constexpr char text[] = "gexsim: this process may not fork, and is aborted\n";
  if (::write(STDERR_FILENO, text, sizeof text - 1) < 0) std::abort();
  std::abort();
}

}  // namespace

fi_provider provider = [] {
  fi_provider made{};
  // Higher than any of libfabric's own, which it takes the place of.
  made.version = FI_VERSION(999, 0);
  made.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
  made.getinfo = get_info;
  made.fabric = open_fabric;
  made.cleanup = end_movers;
  return made;
}();

std::string own_name() {
  // Before a client has asked for anything: it may still choose the other knobs.
  const std::string name = read_environment().name;
  return name.substr(name.find(';') + 1);  // all of it, if there is none
}

std::string core_name() {
  const std::string& name = knobs().name;
  const std::size_t end = name.find(';');
  return end == std::string::npos ? std::string() : name.substr(0, end);
}

}  // namespace gexsim

extern "C" __attribute__((visibility("default"))) fi_provider* fi_prov_ini(void) {
  static const std::string name = gexsim::own_name();
  gexsim::provider.name = name.c_str();
  return &gexsim::provider;
}

namespace gexsim {

void forbid_forks() {
  static const int once = pthread_atfork(abort_in_fork, nullptr, nullptr);
  static_cast<void>(once);
}

}  // namespace gexsim
