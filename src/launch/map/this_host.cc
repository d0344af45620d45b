#include "launch/map/this_host.h"

#include <netdb.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/os_address.h"
#include "base/os_host.h"

namespace gex::launch {

namespace {

bool is_same_name(const std::string& one, const std::string& other) {
  return strcasecmp(one.c_str(), other.c_str()) == 0;
}

std::string without_domain(const std::string& name) {
  return name.substr(0, name.find('.'));
}

/// Returns true if the system (/etc/hosts, DNS) has an address of this host for the name.
bool resolves_to_own_address(const std::string& name) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* all = nullptr;
  if (getaddrinfo(name.c_str(), nullptr, &hints, &all) != 0) return false;
  bool found = false;
  for (const addrinfo* at = all; at != nullptr && !found; at = at->ai_next) {
    char text[NI_MAXHOST];
    found = getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof text, nullptr, 0,
                        NI_NUMERICHOST) == 0 &&
            os::is_own_address(text);
  }
  freeaddrinfo(all);
  return found;
}

}  // namespace

bool is_this_host(const std::string& text) {
  const std::string own = os::hostname();
  const auto is = [&text](const std::string& name) { return is_same_name(text, name); };
  if (is("localhost") || is(own) || is(without_domain(own)) || os::is_own_address(text))
    return true;
  // Many hosts may be named, so that only what is likely to be this one is looked up.
  const std::string name = without_domain(text);
  const bool is_likely =
      name != text && (is_same_name(name, "localhost") || is_same_name(name, without_domain(own)));
  return (is_likely || is("ip6-localhost") || is("localhost4") || is("localhost6")) &&
         resolves_to_own_address(text);
}

}  // namespace gex::launch
