#include "address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "knobs.h"
#include "provider.h"

namespace gexsim {

namespace {

constexpr AddressFormat formats[] = {
    {"raw", FI_ADDR_PSMX2, 16},   {"sockaddr", FI_SOCKADDR_IN, sizeof(sockaddr_in)},
    {"cxi", FI_ADDR_CXI, 16},     {"efa", FI_ADDR_EFA, 32},
    {"psmx2", FI_ADDR_PSMX2, 16}, {"psmx3", FI_ADDR_PSMX3, 32},
    {"opx", FI_ADDR_OPX, 16},     {"sockaddr6", FI_SOCKADDR_IN6, sizeof(sockaddr_in6)},
};
static_assert(sizeof(Address) <= 16);

/// In the last bytes of an address of version 6, of which each endpoint has one.
constexpr std::size_t address_at = 16 - sizeof(Address);
constexpr std::uint16_t port = 7;

}  // namespace

const AddressFormat& address_format() {
  const auto* row =
      std::find_if(std::begin(formats), std::end(formats),
                   [](const AddressFormat& one) { return knobs().address == one.word; });
  if (row != std::end(formats)) return *row;
  std::fprintf(stderr, "gexsim: no format of addresses is called '%s'\n", knobs().address.c_str());
  _exit(99);
}

std::uint32_t ip_of(int nic) {
  return htonl(0xc6120001U + static_cast<std::uint32_t>(nic) + 256U * fabric_of(nic));
}

sockaddr_in6 any_address_of(int nic) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr.s6_addr[0] = 0xfd;
  address.sin6_addr.s6_addr[1] = static_cast<std::uint8_t>(nic);
  return address;
}

int write_name(const Address& address, int nic, void* to, std::size_t& size) {
  const bool fits = size >= address_format().size;
  size = address_format().size;
  if (!fits) return -FI_ETOOSMALL;
  if (address_format().number == FI_SOCKADDR_IN) {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = address.file;
    name.sin_addr.s_addr = ip_of(nic);
    std::memcpy(name.sin_zero, &address.process, sizeof address.process);
    std::memcpy(name.sin_zero + sizeof address.process, &address.key, sizeof address.key);
    std::memcpy(to, &name, sizeof name);
  } else if (address_format().number == FI_SOCKADDR_IN6) {
    sockaddr_in6 name = any_address_of(nic);
    name.sin6_port = htons(port);
    std::memcpy(name.sin6_addr.s6_addr + address_at, &address, sizeof address);
    std::memcpy(to, &name, sizeof name);
  } else {
    std::memset(to, 0, size);
    std::memcpy(to, &address, sizeof address);
  }
  return 0;
}

Address read_name(const void* name) {
  Address address;
  if (address_format().number == FI_SOCKADDR_IN) {
    sockaddr_in read{};
    std::memcpy(&read, name, sizeof read);
    address.file = read.sin_port;
    address.fabric = static_cast<std::uint16_t>(ntohl(read.sin_addr.s_addr) >> 8 & 0xff);
    std::memcpy(&address.process, read.sin_zero, sizeof address.process);
    std::memcpy(&address.key, read.sin_zero + sizeof address.process, sizeof address.key);
  } else if (address_format().number == FI_SOCKADDR_IN6) {
    sockaddr_in6 read{};
    std::memcpy(&read, name, sizeof read);
    std::memcpy(&address, read.sin6_addr.s6_addr + address_at, sizeof address);
  } else {
    std::memcpy(&address, name, sizeof address);
  }
  return address;
}

}  // namespace gexsim
