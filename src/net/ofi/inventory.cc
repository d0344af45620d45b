#include "net/ofi/inventory.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "net/ofi/domain.h"
#include "net/ofi/endpoint.h"
#include "net/ofi/nearness.h"

namespace gex::net::ofi {

namespace {

void append_to_list(std::string& list, const std::string& one) {
  list.append(list.empty() ? "" : ", ").append(one);
}

/// Opens what a rank would open; returns the reason why that fails, or nothing.
std::string why_not_opened(Info info) {
  std::string error;
  const Domain domain(std::move(info), 0, 1, 1, error);
  if (!error.empty()) return error;
  Endpoint endpoint(domain, false, error);
  if (error.empty()) endpoint.enable(error);
  return error;
}

Stock describe_found(std::vector<Info> interfaces, const Machine& machine, bool opens) {
  Stock stock{interfaces.front()->fabric_attr->prov_name, true, {}, "found: "};
  if (!has_own_interface(*interfaces.front())) {
    const std::string name = name_of(*interfaces.front());
    stock.text += name.substr(stock.provider.size() + std::strlen(", "));
    return stock;
  }
  stock.text += describe_turns(interfaces, own_node());
  const Way way = way_of(*interfaces.front());
  std::map<std::string, std::string> broken;  // an error, and the interfaces that have it
  std::size_t count = 0;
  if (opens)
    for (Info& one : interfaces) {
      const std::string name = one->domain_attr->name;
      const std::string error = why_not_opened(std::move(one));
      if (error.empty()) continue;
      append_to_list(broken[error], name);
      ++count;
    }
  if (count == interfaces.size()) {
    stock.is_usable = false;
    stock.closed = way;
  }
  for (const auto& [error, names] : broken)
    stock.text.append("; not usable: ").append(names).append(": ").append(error);
  if (count != 0) {
    const char* const advice = habits_of(way.provider).advice;
    if (advice != nullptr) stock.text.append("; ").append(advice);
  }
  if (const std::string limit = limit_of_registration(machine); !limit.empty())
    stock.text.append("; ").append(limit);
  return stock;
}

}  // namespace

std::string describe_turns(const std::vector<Info>& interfaces, int own_node,
                           const std::string& sysfs) {
  std::vector<std::pair<std::string, int>> all;
  std::string near;
  std::size_t near_ones = 0;
  for (const Info& one : interfaces) {
    all.emplace_back(one->domain_attr->name, node_of(*one, sysfs));
    if (own_node < 0 || all.back().second != own_node) continue;
    append_to_list(near, all.back().first);
    ++near_ones;
  }
  std::string text;
  for (const auto& [name, node] : all)
    append_to_list(
        text,
        name + (node < 0 || all.size() == 1 ? "" : " (NUMA node " + std::to_string(node) + ")"));
  if (all.size() == 1) return text;
  if (near_ones == 0 || near_ones == all.size())
    return text + "; ranks of a host take them in turn";
  return text + "; ranks on NUMA node " + std::to_string(own_node) + ", as this process, take " +
         near + (near_ones == 1 ? "" : " in turn");
}

std::vector<Stock> take_inventory(const Wish& wish, const Machine& machine,
                                  const std::string& open) {
  std::vector<std::string> names = known_providers();
  if (!wish.provider.empty() && std::find(names.begin(), names.end(), wish.provider) == names.end())
    names.push_back(wish.provider);
  Wish on_one_host = wish;
  on_one_host.one_host = true;
  std::vector<Stock> all;
  for (const std::string& name : names) {
    std::vector<Info> interfaces = usable_interfaces(name, wish);
    // A machine may have no other address than the loopback's.
    if (interfaces.empty()) interfaces = usable_interfaces(name, on_one_host);
    if (interfaces.empty()) {
      all.push_back({name, false, {}, "not usable: " + why_absent(name, true, machine)});
      continue;
    }
    all.push_back(describe_found(std::move(interfaces), machine, name != open));
  }
  return all;
}

}  // namespace gex::net::ofi
