#include "net/registry.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "base/os_process.h"
#include "base/os_signal.h"

namespace gex::net {

// Where each defines its table.
#define GEX_PLUGIN_CONDUIT(name, is_of_one_machine, preference)
#define GEX_BUILT_IN_CONDUIT(name, is_of_one_machine, preference) \
  namespace name {                                                \
  const Conduit& conduit() noexcept;                              \
  }
#include <declared_conduits.def>
#undef GEX_BUILT_IN_CONDUIT

namespace {

namespace fs = std::filesystem;

constexpr std::string_view file_prefix = "libgex-";
constexpr std::string_view file_suffix = ".so";
/// Text between them in the name of a library of this project that is no plug-in.
constexpr std::string_view client_library = "upcxx";

/// Returns the folder that `set_library_folder` named.
std::string& library_folder() {
  static std::string folder;
  return folder;
}

/// Folder of a file, links followed; empty if it is not found.
fs::path folder_of(const char* file) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  return error ? fs::path() : real.parent_path();
}

/// Folder of the file this code is part of: libgex.so, or the program that links it statically.
fs::path own_folder() {
  if (!library_folder().empty()) return library_folder();
  Dl_info info;
  void* extra = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&find), &info, &extra, RTLD_DL_LINKMAP) == 0) return {};
  const auto* object = static_cast<const link_map*>(extra);
  if (object != nullptr && object->l_name != nullptr && object->l_name[0] != '\0')
    return folder_of(object->l_name);
  // The program: how it was called need not lead to it.
  if (fs::path folder = folder_of("/proc/self/exe"); !folder.empty()) return folder;
  const auto* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return started != nullptr ? folder_of(started) : fs::path();
}

/// The folder in which this library is installed, padded with newlines. `cmake --install` writes it
/// into libgex.a (cmake/clients/install.cmake), which a program takes along to any place; libgex.so
/// is where its plug-ins are and holds nothing here.
[[gnu::section(".gex.installed"), gnu::used]] char installed_folder[4096] = {};

std::string_view archive_folder() {
  const char* text = installed_folder;
  // Hides the value from the compiler: the array may be rewritten in the linked file.
  __asm__("" : "+r"(text));
  const std::string_view all(text, sizeof installed_folder);
  return all.substr(0, std::min(all.find('\0'), all.find('\n')));
}

/// Where plug-ins are looked for, in order, each folder once.
std::vector<fs::path> folders() {
  std::vector<fs::path> result;
  const auto add = [&result](const fs::path& folder) {
    fs::path plain = folder.lexically_normal();
    if (!plain.has_filename() && plain.has_relative_path()) plain = plain.parent_path();
    if (std::find(result.begin(), result.end(), plain) == result.end()) result.push_back(plain);
  };
  const std::string listed = env::text(env::Variable::conduit_path);
  std::string_view left = listed;
  while (!left.empty()) {
    const std::size_t colon = left.find(':');
    // An empty entry is no folder: "the current one" would load what a program happens to stand in.
    if (colon != 0) add(left.substr(0, colon));
    left.remove_prefix(colon == std::string_view::npos ? left.size() : colon + 1);
  }
  if (const fs::path own = own_folder(); !own.empty()) {
    add(own);
    add(own / "gex");
  }
  // For a program that holds libgex.a and lies anywhere: the launcher's folder, which is right in a
  // tree that was moved, then the archive's.
  if (const std::string launchers = env::text(env::Variable::plugin_folder); !launchers.empty())
    add(launchers);
  if (const std::string_view installed = archive_folder(); !installed.empty()) add(installed);
  return result;
}

/// A table of this library's size with the members that the plug-in's has; one for each. Stays
/// valid.
const Conduit* whole(const Conduit& table) {
  static auto& tables = *new std::map<const Conduit*, Conduit>;
  const auto [place, is_new] = tables.try_emplace(&table);
  if (is_new) std::memcpy(&place->second, &table, std::min<std::size_t>(table.bytes, sizeof table));
  return &place->second;
}

/// The entry point of plug-ins for interface versions up to 3.
constexpr const char* former_entry_symbol = "gex_conduit_v1";

/// Returns true if optional functions that belong together are there together.
bool has_whole_pairs(const Conduit& conduit) {
  const bool registers = conduit.register_segment != nullptr;
  return (conduit.buffer == nullptr) == (conduit.release == nullptr) &&
         registers == (conduit.deregister_segment != nullptr) &&
         (conduit.put == nullptr) == (conduit.get == nullptr) &&
         (conduit.atomic == nullptr) == (conduit.atomic_operations == nullptr) &&
         (conduit.put_pieces == nullptr) == (conduit.get_pieces == nullptr) &&
         (conduit.finalizer == nullptr) == (conduit.finalize == nullptr) &&
         (conduit.finalization == nullptr) == (conduit.finalize == nullptr) &&
         (registers || (conduit.put == nullptr && conduit.atomic == nullptr)) &&
         (conduit.put != nullptr || (conduit.put_pieces == nullptr && conduit.flush == nullptr));
}

[[gnu::format(printf, 1, 2)]] Found nothing(const char* format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return {nullptr, text};
}

/// Opens the plug-in in a file that exists.
Found open(const fs::path& file) {
  if (os::is_linked_static())
    return nothing(
        "%s cannot be loaded: the program is linked with -static; link it with libgex.a alone",
        file.c_str());
  const os::KeptSignalHandling kept;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nothing("conduit plug-in cannot be opened: %s", dlerror());
  void* symbol = dlsym(library, entry_symbol);
  if (symbol == nullptr) symbol = dlsym(library, former_entry_symbol);
  if (symbol == nullptr)
    return nothing("%s is not a conduit plug-in of interface version %u: it does not define %s",
                   file.c_str(), interface_version, entry_symbol);
  const Conduit* const table = reinterpret_cast<Entry>(symbol)();
  if (table == nullptr) return nothing("%s: its entry point returned NULL", file.c_str());
  // Every version of the table begins with its number, and nothing behind another one may be read.
  if (table->version != interface_version || dlsym(library, entry_symbol) == nullptr)
    return nothing(
        "%s is a conduit of interface version %u; this libgex has version %u: compile it with "
        "gex/plugin/conduit.h of this libgex and the entry point %s",
        file.c_str(), table->version, interface_version, entry_symbol);
  const Conduit* const conduit = whole(*table);
  if (conduit->name == nullptr || conduit->description == nullptr || conduit->attach == nullptr ||
      conduit->send == nullptr || conduit->poll == nullptr || conduit->detach == nullptr ||
      !has_whole_pairs(*conduit))
    return nothing("%s: incomplete conduit: a required function of its table is null",
                   file.c_str());
  return {conduit, {}};
}

}  // namespace

std::span<const Conduit* const> built_in() noexcept {
  static const Conduit* const conduits[] = {
#define GEX_BUILT_IN_CONDUIT(name, is_of_one_machine, preference) &name::conduit(),
#include <declared_conduits.def>
#undef GEX_BUILT_IN_CONDUIT
#undef GEX_PLUGIN_CONDUIT
  };
  return conduits;
}

std::span<const Declared> declared() noexcept {
  static constexpr Declared all[] = {
#define GEX_BUILT_IN_CONDUIT(name, is_of_one_machine, preference) \
  {#name, true, is_of_one_machine, preference},
#define GEX_PLUGIN_CONDUIT(name, is_of_one_machine, preference) \
  {#name, false, is_of_one_machine, preference},
#include <declared_conduits.def>
#undef GEX_BUILT_IN_CONDUIT
#undef GEX_PLUGIN_CONDUIT
  };
  return all;
}

const Conduit* find(std::string_view name) {
  if (name == "smp") return nullptr;
  const Found found = look_for(name);
  if (found.conduit == nullptr) fatal("%s", found.reason.c_str());
  return found.conduit;
}

Found look_for(std::string_view name) {
  for (const Conduit* conduit : built_in())
    if (name == conduit->name) return {conduit, {}};
  std::error_code error;
  if (name.find('/') != std::string_view::npos) {
    const fs::path file(name);
    if (!fs::exists(file, error)) return nothing("no conduit plug-in %s", file.c_str());
    return open(file);
  }
  std::string file_name(file_prefix);
  file_name.append(name).append(file_suffix);
  if (!name.empty()) {
    for (const fs::path& folder : folders()) {
      const fs::path file = folder / file_name;
      if (fs::exists(file, error)) return open(file);
    }
  }
  std::string searched;
  for (const fs::path& folder : folders())
    searched.append(searched.empty() ? "" : ", ").append(folder.string());
  Found result = nothing(
      "conduit '%s' not found; available: %s (looked for %s in: %s; GEX_CONDUIT_PATH names more "
      "folders)",
      std::string(name).c_str(), available().c_str(), file_name.c_str(),
      searched.empty() ? "no folder" : searched.c_str());
  result.missing = true;
  return result;
}

Survey survey() {
  Survey result;
  // Names in use: the library's own conduits have theirs, then the first file of each name.
  std::map<std::string, std::string> taken{{"smp", "the job without a network"}};
  for (const Conduit* conduit : built_in()) taken.emplace(conduit->name, "the built-in conduit");
  for (const fs::path& folder : folders()) {
    std::error_code error;
    std::vector<PlugIn> found;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string file = entry->path().filename().string();
      // A second hyphen: libgex-NAME-PART.so is a part that the plug-in NAME loads.
      if (file.find('-', file_prefix.size()) != std::string::npos) continue;
      if (file.size() <= file_prefix.size() + file_suffix.size() ||
          !file.starts_with(file_prefix) || !file.ends_with(file_suffix))
        continue;
      std::string name =
          file.substr(file_prefix.size(), file.size() - file_prefix.size() - file_suffix.size());
      if (name != client_library) found.push_back({std::move(name), entry->path().string(), {}});
    }
    result.folders.push_back({folder.string(), error ? error.message() : std::string()});
    for (PlugIn& plug_in : found) {
      const auto [place, is_first] = taken.emplace(plug_in.name, plug_in.file);
      if (!is_first) plug_in.hidden_by = place->second;
      result.plug_ins.push_back(std::move(plug_in));
    }
  }
  std::stable_sort(result.plug_ins.begin(), result.plug_ins.end(),
                   [](const PlugIn& a, const PlugIn& b) { return a.name < b.name; });
  return result;
}

void set_library_folder(std::string folder) {
  library_folder() = std::move(folder);
}

std::string available() {
  std::string result = "smp";
  for (const Conduit* conduit : built_in()) result.append(", ").append(conduit->name);
  for (const PlugIn& plug_in : survey().plug_ins)
    if (plug_in.hidden_by.empty()) result.append(", ").append(plug_in.name);
  return result;
}

}  // namespace gex::net
