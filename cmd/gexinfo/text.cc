#include "text.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "layout.h"

namespace gexinfo {

namespace {

using gex::os::format_bytes;
using std::to_string;

void print_heading(const char* heading) {
  std::printf("\n%s\n", heading);
}

/// "1 rank", "2 ranks"
std::string counted(std::uint64_t count, const char* what, const char* plural = "s") {
  return to_string(count) + " " + what + (count == 1 ? "" : plural);
}

std::string format_limit(std::optional<std::uint64_t> bytes) {
  return bytes ? format_bytes(*bytes) : "no limit";
}

/// "0-3,6"
std::string format_cores(const std::vector<std::uint32_t>& cores) {
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t end = i;
    while (end + 1 < cores.size() && cores[end + 1] == cores[end] + 1) ++end;
    text.append(text.empty() ? "" : ",").append(to_string(cores[i]));
    if (end > i) text.append("-").append(to_string(cores[end]));
    i = end + 1;
  }
  return text;
}

void print(const VersionFacts& version) {
  std::printf("libgex %s\n", version.library.c_str());
  print_fact("ABI", to_string(version.abi) + " (libgex.so." + to_string(version.abi) + ")");
  print_fact("specifications", "GASNet-EX " + version.gasnet_ex + ", GASNet " + version.gasnet +
                                   ", GASNet-Tools " + version.gasnet_tools);
  print_fact("release", version.release + " is the release whose interface this implements");
  print_fact("compiler", version.compiler);
  print_fact("usage checks", version.checked ? "on" : "off (GEX_CHECK=1)");
}

void print(const JobFacts& job) {
  print_heading("job");
  print_fact("ranks", to_string(job.ranks) + " on " + counted(job.hosts, "host") + " (" + job.host +
                          "), started by " + job.started_by);
  print_fact("neighborhoods", to_string(job.neighborhoods) + "; rank 0's has " +
                                  counted(job.neighborhood_size, "rank") + ": " +
                                  job.neighborhood_reason);
  print_fact("conduit", job.conduit + ": " + job.conduit_reason);
}

std::string describe(const ConduitFacts& conduit) {
  std::string text = conduit.probe.refusal.empty() ? conduit.probe.description
                                                   : "refused: " + conduit.probe.refusal;
  // The reason names the file as a rule.
  if (!conduit.file.empty() && text.find(conduit.file) == text.npos)
    text.append(" (").append(conduit.file).append(")");
  return text;
}

void print(const Conduits& conduits) {
  print_heading("conduits");
  Table list;
  for (const ConduitFacts& conduit : conduits.list)
    list.add({conduit.name, conduit.kind, conduit.chosen ? "chosen" : "", describe(conduit)});
  list.print(2);
  std::string folders;
  for (const PlugInFolder& folder : conduits.folders) {
    folders.append(folders.empty() ? "" : ", ").append(folder.path);
    if (!folder.error.empty()) folders.append(" (").append(folder.error).append(")");
  }
  print_fact("plug-ins looked for", "in " + (folders.empty() ? "no folder" : folders));
}

std::vector<const ConduitFacts*> usable(const Conduits& conduits) {
  std::vector<const ConduitFacts*> result;
  for (const ConduitFacts& conduit : conduits.list)
    if (conduit.probe.refusal.empty()) result.push_back(&conduit);
  return result;
}

/// Calls `print_some` with as many conduits at a time as fit beside one another.
template <class PrintSome>
void in_columns(const std::vector<const ConduitFacts*>& conduits, PrintSome print_some) {
  constexpr std::size_t max_in_line = 4;
  for (std::size_t first = 0; first < conduits.size(); first += max_in_line) {
    print_some(std::vector(conduits.begin() + first,
                           conduits.begin() + std::min(first + max_in_line, conduits.size())));
  }
}

void print_operations(const std::vector<const ConduitFacts*>& conduits) {
  print_heading("how operations are carried out");
  in_columns(conduits, [](const std::vector<const ConduitFacts*>& some) {
    Table table;
    std::vector<std::string> names{""};
    for (const ConduitFacts* conduit : some) names.push_back(conduit->name);
    table.add(names);
    const auto operations = gex::net::operations();
    for (std::size_t i = 0; i < operations.size(); ++i) {
      std::vector<std::string> row{operations[i].name};
      for (const ConduitFacts* conduit : some)
        row.emplace_back(means_name(conduit->probe.means[i]));
      table.add(row);
    }
    table.print(2);
  });
  std::printf("  native: the network; within a neighborhood, on any conduit, what smp does\n");
  std::printf("  reference or absent:\n");
  Table notes;
  for (const gex::net::NetworkOperation& operation : gex::net::operations())
    if (std::strcmp(operation.key, "active_messages") != 0)
      notes.add({operation.name, operation.reference});
  notes.print(4);
}

void print_choices(const std::vector<const ConduitFacts*>& conduits) {
  for (const ConduitFacts* conduit : conduits) {
    if (conduit->probe.choices.empty()) continue;
    print_heading(("about " + conduit->name).c_str());
    for (const Choice& choice : conduit->probe.choices) print_fact(choice.name, choice.text);
  }
}

void print(const LimitFacts& limits, const std::vector<const ConduitFacts*>& conduits) {
  print_heading("limits");
  in_columns(conduits, [&](const std::vector<const ConduitFacts*>& some) {
    Table table;
    std::vector<std::string> rows[] = {{"active messages, bytes at most"},
                                       {"medium"},
                                       {"long request"},
                                       {"long reply"},
                                       {"long request, negotiated in library memory"},
                                       {"one message of the conduit"},
                                       {"requests without reply, to one peer"}};
    for (const ConduitFacts* conduit : some) {
      const MessageLimits& over = conduit->probe.limits;
      const bool smp = conduit->name == "smp";
      rows[0].push_back(smp ? "within a host" : "over " + conduit->name);
      rows[1].push_back(to_string(smp ? limits.medium : over.medium));
      rows[2].push_back(to_string(smp ? limits.long_message : over.long_request));
      rows[3].push_back(to_string(smp ? limits.long_message : over.long_reply));
      rows[4].push_back(to_string(smp ? limits.long_allocated
                                      : std::min(over.long_request, limits.long_allocated)));
      rows[5].push_back(smp ? "-" : to_string(over.packet));
      rows[6].push_back(!smp ? to_string(over.outstanding)
                             : to_string(limits.outstanding) +
                                   (limits.outstanding_to_all ? " to all" : ""));
    }
    for (std::size_t i = 1; i <= some.size(); ++i) table.align_right(i);
    for (auto& row : rows) table.add(std::move(row));
    table.print(2);
  });
  print_fact("arguments", "0 to " + to_string(limits.arguments));
  print_fact("handler indices",
             to_string(limits.first_handler) + " to " + to_string(limits.last_handler));
  print_fact("ranks", to_string(limits.ranks) + " in a job");
  print_fact("endpoints", to_string(limits.endpoints) + " of a client in a process");
  print_fact("threads",
             to_string(limits.threads) +
                 " of a process inside the library at once (GASNET_MAX_THREADS; SEQ: 1)");
}

void print_control(const std::vector<ControlMemory>& control) {
  Table table;
  table.add({"neighborhood", "rings", "cells", "rings take", "slabs take", "a process",
             "all of them", "each team adds"});
  for (std::size_t i = 0; i < 8; ++i) table.align_right(i);
  for (const ControlMemory& memory : control) {
    const gex::shm::ControlLayout& layout = memory.layout;
    table.add({counted(memory.members, "rank"), to_string(layout.rings),
               to_string(layout.ring_cells), format_bytes(layout.ring_bytes),
               format_bytes(layout.slab_bytes), format_bytes(layout.member_bytes),
               format_bytes(layout.shared_bytes), format_bytes(layout.team_bytes)});
  }
  table.print(4);
}

std::string describe_huge_pages(const MemoryFacts& memory) {
  const gex::os::HugePages& pages = memory.huge_pages;
  if (pages.bytes == 0 && pages.shared.empty()) return "this system has none";
  std::string text = "of " + format_bytes(pages.bytes) + ", for segments: ";
  if (!memory.huge_pages_used)
    text += "as " + memory.file + " is mounted";
  else
    text += *memory.huge_pages_used ? "yes" : "no";
  const auto word = [](const std::string& chosen) { return chosen.empty() ? "unknown" : chosen; };
  return text + " (the system's setting: " + word(pages.shared) + " for shared memory, " +
         word(pages.anonymous) + " for private)";
}

void print(const MemoryFacts& memory) {
  print_heading("memory");
  print_fact("shared memory file",
             memory.file + (memory.file_space
                                ? ", whose file system can hold " + format_bytes(*memory.file_space)
                                : ", limited by memory alone"));
  print_fact("page", format_bytes(memory.page));
  print_fact("huge pages", describe_huge_pages(memory));
  print_fact("largest segment",
             format_bytes(memory.largest_segment) + ", set by " + memory.segment_reason);
  print_fact("  GASNET_MAX_SEGSIZE",
             memory.segment_wanted + (memory.segment_wanted_is_default ? " (default)" : "") + ": " +
                 format_bytes(memory.segment_wanted_bytes) + " for each process");
  print_fact("  memory of the host", format_bytes(memory.limits.physical) + ", " +
                                         format_bytes(memory.limits.available) +
                                         " of it available; attach refuses more");
  const std::string setting = memory.limits.cgroup_setting;
  print_fact("  control group", format_limit(memory.limits.cgroup) +
                                    (setting.empty() ? setting : " (" + setting + ")"));
  print_fact("  address space", format_limit(memory.limits.address_space) + " (ulimit -v)");
  print_fact("  file size", format_limit(memory.limits.file_size) + " (ulimit -f)");
  print_fact("  pages", memory.segment_commit ? "allocated at attach (GEX_SEGMENT_COMMIT)"
                                              : "allocated when touched (GEX_SEGMENT_COMMIT=0)");
  std::string slabs;
  for (const gex::shm::SlabClass& one : memory.slabs)
    slabs.append(slabs.empty() ? "" : ", ")
        .append(to_string(one.count))
        .append(" of ")
        .append(format_bytes(one.bytes));
  print_fact("slabs of a process", slabs);
  std::printf("  control memory, which costs nothing until it is used:\n");
  print_control(memory.control);
}

void print(const std::vector<DeviceClassFacts>& device_memory) {
  print_heading("device memory");
  for (const DeviceClassFacts& one : device_memory) {
    for (const gex::kinds::DeviceFacts& device : one.devices)
      print_fact(one.kind + " device " + to_string(device.number),
                 device.name + ", " + format_bytes(device.bytes) +
                     "; opened by other processes of the host by: " + device.shared_by +
                     "; dma-buf for networks: " + (device.has_dma_buf ? "yes" : "no"));
    if (!one.driver.empty()) print_fact(one.kind + " driver", one.driver);
    if (one.devices.empty()) print_fact(one.kind + " devices", "none: " + one.reason);
  }
}

void print(const MachineFacts& machine) {
  print_heading("machine");
  print_fact("cores", counted(machine.usable, "core") + " usable by the " +
                          counted(machine.ranks_on_host, "rank") + " of this host");
  print_fact("  online", to_string(machine.online));
  print_fact("  affinity",
             to_string(machine.allowed.size()) + ": " + format_cores(machine.allowed));
  char quota[64] = "no limit";
  if (machine.cgroup_cpus)
    std::snprintf(quota, sizeof quota, "%.4g processor seconds a second", *machine.cgroup_cpus);
  print_fact("  control group", quota);
  print_fact("waiting", machine.yields
                            ? "yields its core: there are more ranks than usable cores"
                            : "spins, and yields now and then: there is a core for every rank");
  print_fact("clock", machine.clock + ": " + machine.clock_reason);
}

}  // namespace

void print_text(const Facts& facts) {
  print(facts.version);
  print(facts.job);
  print(facts.conduits);
  print_rule(places(facts.conduits));
  const auto conduits = usable(facts.conduits);
  print_operations(conduits);
  print_choices(conduits);
  print(facts.limits, conduits);
  print(facts.memory);
  print(facts.device_memory);
  print(facts.machine);
}

void print_text(const std::vector<EnvironmentRow>& rows) {
  const auto shown = [](const std::string& value) {
    return value.empty() ? "-" : printable(value);
  };
  std::size_t name_width = 4;
  std::size_t value_width = 5;
  for (const EnvironmentRow& row : rows) {
    name_width = std::max(name_width, row.name.size());
    // A long value widens its own line only.
    value_width = std::max(value_width, std::min<std::size_t>(24, shown(row.value).size()));
  }
  const auto print_row = [&](const std::string& name, const std::string& value,
                             const std::string& origin, const std::string& usual) {
    std::printf("%-*s  %-*s  %-11s  %s\n", static_cast<int>(name_width), name.c_str(),
                static_cast<int>(value_width), value.c_str(), origin.c_str(), usual.c_str());
  };
  print_row("name", "value", "origin", "default");
  for (const EnvironmentRow& row : rows) {
    print_row(row.name, shown(row.value), row.is_set ? "environment" : "default",
              shown(row.description->default_text));
    std::printf("    ");
    print_wrapped(row.description->help, 4);
  }
}

}  // namespace gexinfo
