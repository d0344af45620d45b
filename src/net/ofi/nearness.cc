#include "net/ofi/nearness.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace gex::net::ofi {

int own_node(const std::string& sysfs) {
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof processors, &processors) != 0) return -1;
  int node = -1;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &processors)) continue;
    int found = -1;
    std::error_code none;
    const std::string folder = sysfs + "/devices/system/cpu/cpu" + std::to_string(processor);
    for (const auto& entry : std::filesystem::directory_iterator(folder, none))
      std::sscanf(entry.path().filename().c_str(), "node%d", &found);
    if (found < 0 || (node >= 0 && node != found)) return -1;
    node = found;
  }
  return node;
}

int node_of(const fi_info& info, const std::string& sysfs) {
  if (info.nic == nullptr || info.nic->bus_attr == nullptr ||
      info.nic->bus_attr->bus_type != FI_BUS_PCI)
    return -1;
  const fi_pci_attr& place = info.nic->bus_attr->attr.pci;
  char name[32];
  std::snprintf(name, sizeof name, "%04x:%02x:%02x.%x", place.domain_id, place.bus_id,
                place.device_id, place.function_id);
  int node = -1;
  std::ifstream(sysfs + "/bus/pci/devices/" + name + "/numa_node") >> node;
  return node;
}

void order_by_nearness(std::vector<Info>& interfaces, int own, std::uint32_t turn,
                       const std::string& sysfs) {
  const auto far = std::stable_partition(
      interfaces.begin(), interfaces.end(),
      [&](const Info& one) { return own < 0 || node_of(*one, sysfs) == own; });
  const auto begin_with_turn = [turn](auto begin, auto end) {
    if (begin != end) std::rotate(begin, begin + turn % (end - begin), end);
  };
  begin_with_turn(interfaces.begin(), far);
  begin_with_turn(far, interfaces.end());
}

}  // namespace gex::net::ofi
