#include "json.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace gexinfo {

namespace {

using nlohmann::ordered_json;

template <class T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}
ordered_json or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

/// Values of the environment and names of files may hold any bytes.
void print(const ordered_json& value) {
  const std::string text = value.dump(2, ' ', false, ordered_json::error_handler_t::replace);
  std::puts(text.c_str());
}

ordered_json to_json(const VersionFacts& version) {
  return {{"libgex", version.library},
          {"abi", version.abi},
          {"gasnet_ex", version.gasnet_ex},
          {"gasnet", version.gasnet},
          {"gasnet_tools", version.gasnet_tools},
          {"release", version.release},
          {"compiler", version.compiler},
          {"checked", version.checked}};
}

ordered_json to_json(const JobFacts& job) {
  return {{"ranks", job.ranks},
          {"hosts", job.hosts},
          {"neighborhoods", job.neighborhoods},
          {"host", job.host},
          {"started_by", job.started_by},
          {"neighborhood", {{"size", job.neighborhood_size}, {"reason", job.neighborhood_reason}}},
          {"conduit", {{"name", job.conduit}, {"reason", job.conduit_reason}}}};
}

ordered_json to_json(const ConduitFacts& conduit) {
  const Probe& probe = conduit.probe;
  const bool usable = probe.refusal.empty();
  ordered_json operations = nullptr;
  ordered_json limits = nullptr;
  if (usable) {
    operations = ordered_json::object();
    for (std::size_t i = 0; i < probe.means.size(); ++i)
      operations[gex::net::operations()[i].key] = means_name(probe.means[i]);
  }
  if (usable && conduit.name != "smp")
    limits = {{"medium", probe.limits.medium},
              {"long", probe.limits.long_request},
              {"long_reply", probe.limits.long_reply},
              {"message", probe.limits.packet},
              {"outstanding", probe.limits.outstanding}};
  ordered_json choices = ordered_json::array();
  for (const Choice& choice : probe.choices)
    choices.push_back({{"name", choice.name}, {"text", choice.text}});
  return {{"name", conduit.name},
          {"kind", conduit.kind},
          {"file", or_null(conduit.file)},
          {"description", or_null(probe.description)},
          {"chosen", conduit.chosen},
          {"usable", usable},
          {"refusal", or_null(probe.refusal)},
          {"operations", std::move(operations)},
          {"limits", std::move(limits)},
          {"choices", std::move(choices)}};
}

ordered_json to_json(const LimitFacts& limits) {
  return {{"arguments", limits.arguments},
          {"first_handler", limits.first_handler},
          {"last_handler", limits.last_handler},
          {"ranks", limits.ranks},
          {"endpoints", limits.endpoints},
          {"threads", limits.threads},
          {"within_host",
           {{"medium", limits.medium},
            {"long", limits.long_message},
            {"long_allocated", limits.long_allocated},
            {"outstanding", limits.outstanding},
            {"outstanding_to_all", limits.outstanding_to_all}}}};
}

ordered_json to_json(const MemoryFacts& memory) {
  ordered_json control = ordered_json::array();
  for (const ControlMemory& one : memory.control)
    control.push_back({{"members", one.members},
                       {"rings", one.layout.rings},
                       {"ring_cells", one.layout.ring_cells},
                       {"ring_bytes", one.layout.ring_bytes},
                       {"slab_bytes", one.layout.slab_bytes},
                       {"team_bytes", one.layout.team_bytes},
                       {"process_bytes", one.layout.member_bytes},
                       {"neighborhood_bytes", one.layout.shared_bytes}});
  ordered_json slabs = ordered_json::array();
  for (const gex::shm::SlabClass& one : memory.slabs)
    slabs.push_back({{"bytes", one.bytes}, {"count", one.count}});
  return {{"file", memory.file},
          {"file_space", or_null(memory.file_space)},
          {"page", memory.page},
          {"huge_pages",
           {{"bytes", memory.huge_pages.bytes},
            {"shared", or_null(memory.huge_pages.shared)},
            {"anonymous", or_null(memory.huge_pages.anonymous)},
            {"used", or_null(memory.huge_pages_used)}}},
          {"segment",
           {{"largest", memory.largest_segment},
            {"reason", memory.segment_reason},
            {"wanted", memory.segment_wanted},
            {"wanted_origin", memory.segment_wanted_is_default ? "default" : "environment"},
            {"wanted_bytes", memory.segment_wanted_bytes},
            {"commit", memory.segment_commit}}},
          {"physical", memory.limits.physical},
          {"available", memory.limits.available},
          {"cgroup", or_null(memory.limits.cgroup)},
          {"address_space", or_null(memory.limits.address_space)},
          {"file_size", or_null(memory.limits.file_size)},
          {"slabs", std::move(slabs)},
          {"control", std::move(control)}};
}

ordered_json to_json(const DeviceClassFacts& one) {
  ordered_json devices = ordered_json::array();
  for (const gex::kinds::DeviceFacts& device : one.devices)
    devices.push_back({{"number", device.number},
                       {"name", device.name},
                       {"bytes", device.bytes},
                       {"shared_by", device.shared_by},
                       {"dma_buf", device.has_dma_buf}});
  return {{"kind", one.kind},
          {"driver", or_null(one.driver)},
          {"reason", or_null(one.reason)},
          {"devices", std::move(devices)}};
}

ordered_json to_json(const MachineFacts& machine) {
  return {{"cores_online", machine.online},
          {"cores_allowed", machine.allowed},
          {"cgroup_cpus", or_null(machine.cgroup_cpus)},
          {"cores_usable", machine.usable},
          {"ranks_on_host", machine.ranks_on_host},
          {"waiting", machine.yields ? "yield" : "spin"},
          {"clock", {{"source", machine.clock}, {"reason", machine.clock_reason}}}};
}

ordered_json to_json(const std::vector<RulePlace>& rule) {
  ordered_json list = ordered_json::array();
  for (const RulePlace& one : rule)
    list.push_back({{"name", one.name},
                    {"place", one.place == 0 ? ordered_json(nullptr) : ordered_json(one.place)},
                    {"reason", or_null(one.reason)}});
  return list;
}

ordered_json to_json(const PairFacts& pairs) {
  ordered_json operations = ordered_json::object();
  for (std::size_t i = 0; i < pairs.means.size(); ++i)
    operations[gex::net::operations()[i].key] = means_name(pairs.means[i]);
  ordered_json instead = ordered_json::array();
  for (const RulePlace& one : pairs.instead)
    instead.push_back({{"name", one.name}, {"reason", one.reason}});
  return {{"ranks", pairs.ranks},
          {"kind", pairs.kind},
          {"groups", pairs.groups},
          {"from", pairs.from.empty() ? ordered_json(nullptr) : ordered_json(pairs.from)},
          {"network", pairs.network},
          {"way", or_null(pairs.way)},
          {"limits",
           {{"medium", pairs.limits.medium},
            {"long", pairs.limits.long_request},
            {"long_reply", pairs.limits.long_reply},
            {"outstanding", pairs.limits.outstanding}}},
          {"operations", std::move(operations)},
          {"why_no_memory", or_null(pairs.why_no_memory)},
          {"why_way", or_null(pairs.why_way)},
          {"instead", std::move(instead)}};
}

}  // namespace

void print_json(const Facts& facts) {
  ordered_json conduits = ordered_json::array();
  for (const ConduitFacts& conduit : facts.conduits.list) conduits.push_back(to_json(conduit));
  ordered_json device_memory = ordered_json::array();
  for (const DeviceClassFacts& one : facts.device_memory) device_memory.push_back(to_json(one));
  ordered_json folders = ordered_json::array();
  for (const PlugInFolder& folder : facts.conduits.folders)
    folders.push_back({{"path", folder.path}, {"error", or_null(folder.error)}});
  print({{"version", to_json(facts.version)},
         {"job", to_json(facts.job)},
         {"conduits", std::move(conduits)},
         {"plug_in_folders", std::move(folders)},
         {"rule", to_json(places(facts.conduits))},
         {"limits", to_json(facts.limits)},
         {"memory", to_json(facts.memory)},
         {"device_memory", std::move(device_memory)},
         {"machine", to_json(facts.machine)}});
}

void print_json(const PairsFacts& facts) {
  ordered_json classes = ordered_json::array();
  for (const PairFacts& pairs : facts.classes) classes.push_back(to_json(pairs));
  ordered_json devices = ordered_json::array();
  for (const DeviceRoute& route : facts.devices)
    devices.push_back({{"kind", route.kind},
                       {"way", route.way},
                       {"reason", or_null(route.reason)},
                       {"from", route.from},
                       {"to", route.to}});
  print({{"job", to_json(facts.job)},
         {"is_job", facts.is_job},
         {"pairs", std::move(classes)},
         {"devices", std::move(devices)},
         {"rule", to_json(facts.rule)},
         {"matrix", facts.matrix.empty() ? ordered_json(nullptr) : ordered_json(facts.matrix)}});
}

void print_json(const std::vector<EnvironmentRow>& rows) {
  ordered_json list = ordered_json::array();
  for (const EnvironmentRow& row : rows)
    list.push_back({{"name", row.name},
                    {"value", or_null(row.value)},
                    {"origin", row.is_set ? "environment" : "default"},
                    {"default", or_null(std::string(row.description->default_text))},
                    {"type", type_name(row.description->type)},
                    {"category", row.description->category},
                    {"help", row.description->help}});
  print(list);
}

}  // namespace gexinfo
