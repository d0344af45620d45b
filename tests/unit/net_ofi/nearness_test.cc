// Which of several interfaces a rank takes.

#include "net/ofi/nearness.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "../temporary_folder.h"
#include "net/ofi/inventory.h"

namespace gex::net::ofi {
namespace {

/// An interface with a place on the bus; freed as libfabric frees one.
Info interface_at(std::uint8_t bus) {
  static fi_ops operations{};
  operations.size = sizeof operations;
  operations.close = [](fid* object) {
    auto* nic = reinterpret_cast<fid_nic*>(object);
    std::free(nic->bus_attr);
    std::free(nic);
    return 0;
  };
  Info info(fi_allocinfo());
  auto* nic = static_cast<fid_nic*>(std::calloc(1, sizeof(fid_nic)));
  nic->fid.fclass = FI_CLASS_NIC;
  nic->fid.ops = &operations;
  nic->bus_attr = static_cast<fi_bus_attr*>(std::calloc(1, sizeof(fi_bus_attr)));
  nic->bus_attr->bus_type = FI_BUS_PCI;
  nic->bus_attr->attr.pci.bus_id = bus;
  info->nic = nic;
  return info;
}

class Nearness : public testing::Test {
 protected:
  void SetUp() override {
    place(0x10, 0);
    place(0x20, 1);
    place(0x30, 1);
  }
  void place(int bus, int node) {
    char name[64];
    std::snprintf(name, sizeof name, "bus/pci/devices/0000:%02x:00.0/numa_node", bus);
    folder.write(name, std::to_string(node) + "\n");
  }
  std::vector<int> order(int own, std::uint32_t turn) {
    std::vector<Info> interfaces;
    for (const int bus : {0x10, 0x20, 0x30, 0x40})
      interfaces.push_back(interface_at(static_cast<std::uint8_t>(bus)));
    order_by_nearness(interfaces, own, turn, folder.path());
    std::vector<int> buses;
    for (const Info& one : interfaces) buses.push_back(one->nic->bus_attr->attr.pci.bus_id);
    return buses;
  }
  std::string turns(const std::vector<int>& buses, int own) {
    std::vector<Info> interfaces;
    for (const int bus : buses) {
      interfaces.push_back(interface_at(static_cast<std::uint8_t>(bus)));
      char name[16];
      std::snprintf(name, sizeof name, "nic%02x", bus);
      interfaces.back()->domain_attr->name = strdup(name);
    }
    return describe_turns(interfaces, own, folder.path());
  }
  TemporaryFolder folder;
};

TEST_F(Nearness, PutsInterfacesOfTheOwnNodeFirst) {
  EXPECT_EQ(order(0, 0), (std::vector<int>{0x10, 0x20, 0x30, 0x40}));
  EXPECT_EQ(order(1, 0), (std::vector<int>{0x20, 0x30, 0x10, 0x40}));
}

TEST_F(Nearness, SpreadsRanksOverThoseThatAreEquallyNear) {
  EXPECT_EQ(order(1, 1), (std::vector<int>{0x30, 0x20, 0x40, 0x10}));
  EXPECT_EQ(order(-1, 1), (std::vector<int>{0x20, 0x30, 0x40, 0x10}));
  EXPECT_EQ(order(-1, 6), (std::vector<int>{0x30, 0x40, 0x10, 0x20}));
}

TEST_F(Nearness, IsDescribedByWhatRanksTake) {
  EXPECT_EQ(turns({0x40}, 0), "nic40");
  EXPECT_EQ(turns({0x20, 0x40}, -1),
            "nic20 (NUMA node 1), nic40; ranks of a host take them in turn");
  EXPECT_EQ(turns({0x10, 0x20}, 0),
            "nic10 (NUMA node 0), nic20 (NUMA node 1); ranks on NUMA node 0, as this process, take "
            "nic10");
  EXPECT_EQ(turns({0x20, 0x30, 0x10}, 1),
            "nic20 (NUMA node 1), nic30 (NUMA node 1), nic10 (NUMA node 0); ranks on NUMA node 1, "
            "as this process, take nic20, nic30 in turn");
  // None is near.
  EXPECT_EQ(turns({0x20, 0x30}, 0),
            "nic20 (NUMA node 1), nic30 (NUMA node 1); ranks of a host take them in turn");
}

TEST_F(Nearness, IsUnknownWithoutAPlace) {
  EXPECT_EQ(node_of(*interface_at(0x40), folder.path()), -1);
  const Info without(fi_allocinfo());
  EXPECT_EQ(node_of(*without, folder.path()), -1);
  EXPECT_EQ(own_node(folder.path()), -1);
}

}  // namespace
}  // namespace gex::net::ofi
