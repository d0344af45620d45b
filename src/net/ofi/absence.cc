#include "net/ofi/absence.h"

#include <ifaddrs.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string_view>
#include <system_error>
#include <vector>

#include "net/ofi/default_variable.h"
#include "net/ofi/fabric.h"

namespace gex::net::ofi {

namespace {

namespace fs = std::filesystem;

/// The devices that a provider drives.
struct Hardware {
  std::string_view provider;
  /// The part of libfabric that has to be there.
  std::string_view core;
  const char* folder;       ///< of the devices, below /sys/class
  std::string_view driver;  ///< they have it; empty: any but those of `other_drivers`
  const char* files;        ///< folder of their files, below /dev
  std::string_view file;    ///< their files begin with it
  bool needs_address;       ///< an IP address of its network interface
};
constexpr Hardware hardware[] = {
    {"cxi", "cxi", "cxi", "", "", "cxi", false},
    {"psm2", "psm2", "infiniband", "hfi1", "", "hfi1_", false},
    {"opx", "opx", "infiniband", "hfi1", "", "hfi1_", false},
    {"verbs;ofi_rxm", "verbs", "infiniband", "", "infiniband", "uverbs", true},
    {"verbs", "verbs", "infiniband", "", "infiniband", "uverbs", true},
    {"efa", "efa", "infiniband", "efa", "infiniband", "uverbs", false},
    {"psm3", "psm3", "infiniband", "", "infiniband", "uverbs", true},
};
/// They have providers of their own.
constexpr std::string_view other_drivers[] = {"hfi1", "efa"};

const Hardware* hardware_of(std::string_view provider) {
  const auto* const found =
      std::find_if(std::begin(hardware), std::end(hardware),
                   [&](const Hardware& one) { return one.provider == provider; });
  return found == std::end(hardware) ? nullptr : found;
}

std::vector<std::string> entries_of(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string folder_of(const Hardware& one, const Machine& machine) {
  return machine.root + "/sys/class/" + one.folder;
}

/// Returns true if the limit of locked memory does not hold for this process.
bool may_lock_all() {
  constexpr int ipc_lock = 14;  // CAP_IPC_LOCK
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    constexpr std::string_view effective = "CapEff:";
    if (line.starts_with(effective))
      return (std::strtoull(line.c_str() + effective.size(), nullptr, 16) >> ipc_lock & 1) != 0;
  }
  return false;
}

/// The name of a device's driver, or, where the kernel names none, the device's without its number.
std::string driver_of(const std::string& device) {
  std::error_code none;
  const fs::path driver = fs::read_symlink(device + "/device/driver", none);
  if (!none) return driver.filename();
  const std::string name = fs::path(device).filename();
  return name.substr(0, name.find_first_of("_0123456789"));
}

std::vector<std::string> list_devices(const Hardware& one, const Machine& machine) {
  std::vector<std::string> devices = entries_of(folder_of(one, machine));
  std::erase_if(devices, [&](const std::string& name) {
    const std::string driver = driver_of(folder_of(one, machine) + "/" + name);
    if (!one.driver.empty()) return driver != one.driver;
    return std::find(std::begin(other_drivers), std::end(other_drivers), driver) !=
           std::end(other_drivers);
  });
  return devices;
}

std::string joined(const std::vector<std::string>& texts, const char* separator) {
  std::string all;
  for (const std::string& text : texts) all.append(all.empty() ? "" : separator).append(text);
  return all;
}

std::string concatenated(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text.append(part);
  return text;
}

/// Ports that are not active, as the driver prints their state ("1: DOWN").
void add_ports(const std::string& folder, const std::string& device,
               std::vector<std::string>& faults) {
  const std::string ports = folder + "/" + device + "/ports";
  for (const std::string& port : entries_of(ports)) {
    std::string state;
    std::getline(std::ifstream(concatenated({ports, "/", port, "/state"})), state);
    if (state.empty() || state.ends_with("ACTIVE")) continue;
    const std::size_t word = state.find(": ");
    faults.push_back(concatenated({"port ", port, " of ", device, " is ",
                                   word == state.npos ? state : state.substr(word + 2),
                                   " (ibstat prints more)"}));
  }
}

/// Devices whose network interfaces have no address, by which connections are made.
void add_addresses(const std::string& folder, const std::string& device, const Machine& machine,
                   std::vector<std::string>& faults) {
  const std::vector<std::string> interfaces = entries_of(folder + "/" + device + "/device/net");
  if (std::any_of(interfaces.begin(), interfaces.end(), machine.has_address)) return;
  if (interfaces.empty())
    faults.push_back(device + " has no network interface (for InfiniBand: modprobe ib_ipoib)");
  else
    faults.push_back(interfaces.front() + " of " + device +
                     " has no IP address (ip address add ADDRESS/BITS dev " + interfaces.front() +
                     ")");
}

void add_files(const Hardware& one, const Machine& machine, std::vector<std::string>& faults) {
  const std::string folder = machine.root + "/dev/" + one.files;
  bool is_there = false;
  for (const std::string& name : entries_of(folder)) {
    if (!name.starts_with(one.file)) continue;
    is_there = true;
    const std::string file = (fs::path("/dev") / one.files / name).string();
    if (access((machine.root + file).c_str(), R_OK | W_OK) != 0)
      faults.push_back(concatenated({file, ": ", std::strerror(errno), " (ls -l ", file,
                                     "; in a container --device ", file, ")"}));
  }
  const std::string pattern = (fs::path("/dev") / one.files / one.file).string() + "*";
  if (!is_there) faults.push_back("no file " + pattern + " (in a container --device)");
}

/// Returns true if libfabric offers something of this provider to a client with these hints.
bool is_offered(const std::string& provider, bool exactly, const Info& hints) {
  if (!hints) return false;
  hints->fabric_attr->prov_name = strdup(provider.c_str());
  fi_info* list = nullptr;
  if (fi_getinfo(asked_version(fi_version()), nullptr, nullptr, 0, hints.get(), &list) != 0)
    return false;
  const Info all(list);
  for (const fi_info* info = list; info != nullptr; info = info->next) {
    const std::string_view name = info->fabric_attr->prov_name;
    if (name == provider || (!exactly && name.starts_with(provider + ";"))) return true;
  }
  return false;
}

/// Returns true if the library has the code of a provider, with devices or without.
bool is_in_library(std::string_view core) {
  fi_info* list = nullptr;
  if (fi_getinfo(asked_version(fi_version()), nullptr, nullptr, FI_PROV_ATTR_ONLY, nullptr,
                 &list) != 0)
    return false;
  const Info all(list);
  for (const fi_info* info = list; info != nullptr; info = info->next)
    if (core == info->fabric_attr->prov_name) return true;
  return false;
}

/// The features that a provider lacks that offers something; empty: it offers nothing.
std::string what_it_lacks(const std::string& provider, bool exactly) {
  Info any(fi_allocinfo());
  if (any) any->mode = FI_CONTEXT | FI_CONTEXT2;
  Info datagrams(any ? fi_dupinfo(any.get()) : nullptr);
  if (datagrams) {
    datagrams->caps = FI_MSG;
    datagrams->ep_attr->type = FI_EP_RDM;
    // Whatever memory has to be registered.
    datagrams->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
                                      FI_MR_PROV_KEY | FI_MR_ENDPOINT | FI_MR_RAW | FI_MR_HMEM;
    any->domain_attr->mr_mode = datagrams->domain_attr->mr_mode;
  }
  Info many(datagrams ? fi_dupinfo(datagrams.get()) : nullptr);
  if (many) many->caps |= FI_MULTI_RECV;
  if (!is_offered(provider, exactly, any)) return {};
  if (!is_offered(provider, exactly, datagrams))
    return "that of libfabric " + library_version() +
           " has no endpoints for reliable datagrams (FI_EP_RDM)";
  if (!is_offered(provider, exactly, many))
    return "that of libfabric " + library_version() +
           " has no receive buffers for many messages (FI_MULTI_RECV)";
  return "it offers nothing with manual progress, resource management and the memory registration "
         "that this conduit can do";
}

}  // namespace

Machine this_machine() {
  Machine machine;
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && !may_lock_all())
    machine.lockable = limit.rlim_cur;
  machine.has_address = [](const std::string& interface) {
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return false;
    bool found = false;
    for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next)
      found |= interface == one->ifa_name && one->ifa_addr != nullptr &&
               (one->ifa_addr->sa_family == AF_INET || one->ifa_addr->sa_family == AF_INET6);
    freeifaddrs(list);
    return found;
  };
  return machine;
}

std::string library_version() {
  const std::uint32_t version = fi_version();
  return std::to_string(FI_MAJOR(version)) + "." + std::to_string(FI_MINOR(version));
}

bool is_filtered(const std::string& filter, const std::string& provider) {
  const bool excludes = filter.starts_with('^');
  std::string_view rest = std::string_view(filter).substr(excludes ? 1 : 0);
  if (rest.empty()) return false;
  bool is_named = false;
  // A provider that is layered is there if both parts are; the lower one is what users filter.
  const std::string core = provider.substr(0, provider.find(';'));
  while (!rest.empty()) {
    const std::size_t end = rest.find(',');
    const std::string_view word = rest.substr(0, end);
    is_named |= word == provider || word == core || word.starts_with(core + ";");
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  }
  return is_named == excludes;
}

std::string limit_of_registration(const Machine& machine) {
  if (!machine.lockable) return {};
  return "a process can register no more than " + std::to_string(*machine.lockable / 1024) +
         " KiB of memory (ulimit -l unlimited)";
}

std::string devices_of(const std::string& provider, const Machine& machine) {
  const Hardware* const one = hardware_of(provider);
  return one == nullptr ? std::string() : joined(list_devices(*one, machine), ", ");
}

std::string faults_of_devices(const std::string& provider, const Machine& machine) {
  const Hardware* const one = hardware_of(provider);
  if (one == nullptr) return {};
  std::vector<std::string> faults;
  for (const std::string& device : list_devices(*one, machine)) {
    add_ports(folder_of(*one, machine), device, faults);
    if (one->needs_address) add_addresses(folder_of(*one, machine), device, machine, faults);
  }
  add_files(*one, machine, faults);
  return joined(faults, "; ");
}

std::string why_absent(const std::string& provider, bool exactly, const Machine& machine) {
  const Hardware* const known = hardware_of(provider);
  const std::string core(known != nullptr ? known->core : provider.substr(0, provider.find(';')));
  const std::string devices = devices_of(provider, machine);
  if (!is_in_library(core)) {
    if (known == nullptr)
      return "libfabric " + library_version() + " has no provider " + core +
             " (fi_info -l prints which it has)";
    return "libfabric " + library_version() + " was built without it" +
           (devices.empty() ? ""
                            : ", although this machine has " + devices +
                                  "; FI_PROVIDER_PATH names folders of further providers");
  }
  const char* const filter = value_of("FI_PROVIDER");
  if (filter != nullptr && is_filtered(filter, provider))
    return "FI_PROVIDER=" + std::string(filter) + " leaves it out";
  if (std::string lack = what_it_lacks(provider, exactly); !lack.empty()) return lack;
  if (known == nullptr) return "it finds no interface";
  if (devices.empty())
    return "this machine has no such device in /sys/class/" + std::string(known->folder);
  std::string text = "it offers none of " + devices;
  const std::string faults = faults_of_devices(provider, machine);
  const std::string limit = limit_of_registration(machine);
  if (!faults.empty()) text.append("; ").append(faults);
  if (!limit.empty()) text.append("; ").append(limit);
  if (faults.empty() && limit.empty())
    text.append("; FI_LOG_LEVEL=warn fi_info -p " + core + " prints why");
  return text;
}

}  // namespace gex::net::ofi
