#include "address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/fabric.h>

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
    {"opx", FI_ADDR_OPX, 16},
};
static_assert(sizeof(Address) <= 16);

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

void write_name(const Address& address, int nic, void* to) {
  std::memset(to, 0, address_format().size);
  if (address_format().number != FI_SOCKADDR_IN) {
    std::memcpy(to, &address, sizeof address);
    return;
  }
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = address.file;
  name.sin_addr.s_addr = ip_of(nic);
  std::memcpy(name.sin_zero, &address.process, sizeof address.process);
  std::memcpy(name.sin_zero + sizeof address.process, &address.key, sizeof address.key);
  std::memcpy(to, &name, sizeof name);
}

Address read_name(const void* name) {
  Address address;
  if (address_format().number != FI_SOCKADDR_IN) {
    std::memcpy(&address, name, sizeof address);
    return address;
  }
  sockaddr_in read{};
  std::memcpy(&read, name, sizeof read);
  address.file = read.sin_port;
  address.fabric = static_cast<std::uint16_t>(ntohl(read.sin_addr.s_addr) >> 8 & 0xff);
  std::memcpy(&address.process, read.sin_zero, sizeof address.process);
  std::memcpy(&address.key, read.sin_zero + sizeof address.process, sizeof address.key);
  return address;
}

}  // namespace gexsim
