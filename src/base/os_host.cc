#include "base/os_host.h"

#include <unistd.h>
#include <climits>

#include "base/os_file.h"

namespace gex::os {

std::string hostname() {
  // POSIX leaves open whether a truncated name is terminated; the last byte stays 0 here.
  char name[HOST_NAME_MAX + 2] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  return name;
}

std::string boot_id() {
  const std::string text = read_file("/proc/sys/kernel/random/boot_id").value_or("");
  return text.substr(0, text.find('\n'));
}

}  // namespace gex::os
