#include "base/os_topology.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <tuple>
#include <utility>

#include "base/number_ranges.h"

namespace gex::os {
namespace {

using Numbers = std::vector<std::uint32_t>;

/// The group of processors whose group cannot be read: one for all of them.
constexpr std::uint32_t unknown = UINT32_MAX;

Numbers read_list(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return parse_number_list(line);
}

/// The group of each processor: the first that the file of one of its members lists.
class Groups {
 public:
  /// One file for each processor; those of a group have equal contents, so one of them is read.
  Groups(const Numbers& processors, const std::string& root, const char* file) {
    for (const std::uint32_t processor : processors) {
      if (first_.contains(processor)) continue;
      add(read_list(root + "/sys/devices/system/cpu/cpu" + std::to_string(processor) + file));
    }
  }

  void add(const Numbers& members) {
    for (const std::uint32_t member : members) first_.emplace(member, members.front());
  }

  std::uint32_t of(std::uint32_t processor, std::uint32_t otherwise) const {
    const auto found = first_.find(processor);
    return found == first_.end() ? otherwise : found->second;
  }

 private:
  std::map<std::uint32_t, std::uint32_t> first_;
};

Groups numa_nodes(const std::string& root) {
  const std::string folder = root + "/sys/devices/system/node/";
  Groups nodes({}, root, "");
  for (const std::uint32_t node : read_list(folder + "has_cpu"))
    nodes.add(read_list(folder + "node" + std::to_string(node) + "/cpulist"));
  return nodes;
}

/// The physical cores, each with those of its processors that are among the given ones; near ones
/// stand together.
std::vector<Numbers> physical_cores(const Numbers& processors, const std::string& root) {
  const Groups cores(processors, root, "/topology/thread_siblings_list");
  const Groups packages(processors, root, "/topology/core_siblings_list");
  const Groups caches(processors, root, "/cache/index3/shared_cpu_list");
  const Groups nodes = numa_nodes(root);
  struct Place {
    std::tuple<std::uint32_t, std::uint32_t, std::uint32_t> around;
    std::uint32_t core;
    std::uint32_t processor;
    auto key() const { return std::tie(around, core, processor); }
  };
  std::vector<Place> places;
  places.reserve(processors.size());
  for (const std::uint32_t processor : processors) {
    places.push_back({{packages.of(processor, unknown), nodes.of(processor, unknown),
                       caches.of(processor, unknown)},
                      cores.of(processor, processor),
                      processor});
  }
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.key() < b.key(); });
  std::vector<Numbers> ordered;
  std::uint32_t last = unknown;
  for (const Place& place : places) {
    if (ordered.empty() || place.core != last) ordered.emplace_back();
    ordered.back().push_back(place.processor);
    last = place.core;
  }
  return ordered;
}

std::vector<Numbers> one_by_one(const std::vector<Numbers>& cores) {
  std::vector<Numbers> processors;
  for (const Numbers& core : cores)
    for (const std::uint32_t processor : core) processors.push_back({processor});
  return processors;
}

}  // namespace

Numbers parse_number_list(std::string_view text) {
  constexpr std::uint32_t max = 1U << 20;
  Numbers numbers;
  // As far as it is a list: the kernel ends it with a line feed.
  for_each_range(text, [&](std::uint32_t first, std::uint32_t last) {
    for (; first <= last && last < max; ++first) numbers.push_back(first);
    return true;
  });
  return numbers;
}

std::vector<Numbers> equal_shares(const Numbers& processors, std::uint32_t count,
                                  const std::string& root) {
  if (count == 0 || processors.size() < count) return {};
  std::vector<Numbers> parts = physical_cores(processors, root);
  if (parts.size() < count) parts = one_by_one(parts);
  const std::size_t size = parts.size() / count;
  std::vector<Numbers> shares(count);
  for (std::size_t i = 0; i < count; ++i) {
    // Two such beginnings are at least `size` apart.
    const std::size_t begin = i * parts.size() / count;
    for (std::size_t part = begin; part < begin + size; ++part)
      shares[i].insert(shares[i].end(), parts[part].begin(), parts[part].end());
    std::sort(shares[i].begin(), shares[i].end());
  }
  return shares;
}

}  // namespace gex::os
