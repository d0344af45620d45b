#include "base/os_host.h"

#include <unistd.h>
#include <climits>

namespace gex::os {

std::string hostname() {
  // POSIX leaves open whether a truncated name is terminated; the last byte stays 0 here.
  char name[HOST_NAME_MAX + 2] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  return name;
}

}  // namespace gex::os
