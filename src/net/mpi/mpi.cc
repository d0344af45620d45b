// libgex-mpi.so: chooses the MPI that a job's messages go by, and loads the part of this conduit
// that is linked with it, libgex-mpi-NAME.so beside this file. All MPIs define the same functions
// with different types, so a part serves one of them, and a process can have but one.

#include <dlfcn.h>
#include <gex/plugin/all_ranks.h>
#include <gex/plugin/conduit.h>
#include <link.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace gex::net::mpi {

namespace {

namespace fs = std::filesystem;

/// An MPI that there is a part for.
struct Library {
  const char* name;      ///< as GEX_MPI has it
  const char* title;     ///< for messages
  const char* files[2];  ///< how the names of its library begin
};
// MPICH's other builds and its descendants have the second name. MPI's standard binary interface
// comes first, because the library that has it may load another of its MPI's.
constexpr Library libraries[] = {
    {"abi", "MPI's standard binary interface", {"libmpi_abi.so", "libmpi_abi.so"}},
    {"openmpi", "Open MPI", {"libmpi.so.40", "libmpi.so.20"}},
    {"mpich", "MPICH", {"libmpich.so", "libmpi.so.12"}},
};
constexpr const Library& standard = libraries[0];
constexpr const Library& open_mpi = libraries[1];
constexpr const Library& mpich = libraries[2];

struct Choice {
  const Library* library = nullptr;
  std::string reason;
  std::string error;
};

const Conduit* part = nullptr;
Choice chosen;  ///< with `part`

/// The MPI that is loaded in this process, and the file that it was found in.
const Library* loaded_library(std::string& file) {
  std::vector<std::string> loaded;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* context) {
        static_cast<std::vector<std::string>*>(context)->push_back(
            fs::path(object->dlpi_name).filename().string());
        return 0;
      },
      &loaded);
  for (const Library& library : libraries) {
    for (const std::string& name : loaded) {
      for (const char* const begin : library.files) {
        if (!name.starts_with(begin)) continue;
        file = name;
        return &library;
      }
    }
  }
  return nullptr;
}

/// A variable by which an MPI's launcher is known.
struct Sign {
  const char* variable;
  const Library* library;
};
constexpr Sign signs[] = {
    {"OMPI_COMM_WORLD_SIZE", &open_mpi},
    {"HYDI_CONTROL_FD", &mpich},
    {"PMI_FD", &mpich},
    {"PMI_RANK", &mpich},
    {"PMIX_NAMESPACE", &open_mpi},
};

/// Where the part for an MPI lies, whether it is there or not.
fs::path file_of(const Library& library) {
  Dl_info info;
  fs::path folder;
  if (dladdr(static_cast<const void*>(&part), &info) != 0 && info.dli_fname != nullptr) {
    std::error_code error;
    folder = fs::canonical(info.dli_fname, error).parent_path();
  }
  return folder / ("libgex-mpi-" + std::string(library.name) + ".so");
}

bool is_installed(const Library& library) {
  std::error_code error;
  return fs::exists(file_of(library), error);
}

std::string names() {
  std::string text;
  for (const Library& library : libraries)
    text.append(text.empty() ? "" : ", ").append(library.name);
  return text;
}

Choice choose(const Host& host) {
  // What has been chosen once has been loaded.
  if (part != nullptr) return chosen;
  Choice choice;
  std::string file;
  const Library* const loaded = loaded_library(file);
  const char* const wish = host.env_text("GEX_MPI");
  if (wish != nullptr && *wish != '\0') {
    for (const Library& library : libraries)
      if (std::string_view(wish) == library.name) choice.library = &library;
    choice.reason = "GEX_MPI";
    if (choice.library == nullptr) {
      choice.error = "GEX_MPI=" + std::string(wish) + ": expected one of " + names();
    } else if (loaded != nullptr && loaded != choice.library) {
      choice.error = "GEX_MPI=" + std::string(wish) + ", but the program has loaded " +
                     loaded->title + " (" + file + "), and a process can have but one MPI";
    }
  } else if (loaded != nullptr) {
    choice.library = loaded;
    choice.reason = "the program has loaded " + file;
  } else {
    for (const Sign& sign : signs) {
      if (choice.library != nullptr || std::getenv(sign.variable) == nullptr) continue;
      // The standard's may be linked with any launcher's MPI.
      const bool is_alone = is_installed(standard) && !is_installed(*sign.library);
      choice.library = is_alone ? &standard : sign.library;
      choice.reason = std::string("its launcher has set ") + sign.variable;
    }
    // MPICH first: it needs no launcher of its own.
    for (const Library* library : {&mpich, &open_mpi, &standard}) {
      if (choice.library != nullptr || !is_installed(*library)) continue;
      choice.library = library;
      choice.reason = "there is no other, or it needs no launcher of its own";
    }
    if (choice.library == nullptr)
      choice.error = "no part for an MPI is installed beside libgex-mpi.so";
  }
  if (choice.error.empty() && !is_installed(*choice.library))
    choice.error = file_of(*choice.library).string() + " for " + choice.library->title +
                   " is not installed (" + choice.reason + ")";
  return choice;
}

/// Loads the part. Its MPI becomes visible to all: Open MPI's own plug-ins need that.
const Conduit* load(const Library& library, std::string& error) {
  const fs::path file = file_of(library);
  void* const opened = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (opened == nullptr) {
    error = dlerror();
    return nullptr;
  }
  using Entry = const Conduit* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(opened, entry_symbol));
  if (entry == nullptr) error = file.string() + " does not define " + entry_symbol;
  return entry != nullptr ? entry() : nullptr;
}

int attach(const Host* host, Limits* limits) {
  if (host->version != interface_version) return 1;
  Choice choice = choose(*host);
  const Conduit* loaded = nullptr;
  if (choice.error.empty()) loaded = load(*choice.library, choice.error);
  if (!choice.error.empty()) choice.error.insert(0, "mpi: ");
  if (!succeeded_on_all_ranks(*host, choice.error)) return 1;
  const auto mine = static_cast<std::uint32_t>(choice.library - libraries);
  std::vector<std::uint32_t> all(host->size);
  host->exchange(&mine, sizeof mine, all.data());
  for (std::uint32_t rank = 0; rank < host->size; ++rank) {
    if (all[rank] == all[0]) continue;
    if (host->rank == rank)
      host->warn(("mpi: rank 0 would use " + std::string(libraries[all[0]].title) + ", this rank " +
                  choice.library->title + ", as " + choice.reason + "; GEX_MPI chooses for all")
                     .c_str());
    return 1;
  }
  if (host->rank == 0)
    host->inform(("mpi: " + std::string(choice.library->title) + ": " + choice.reason).c_str());
  part = loaded;
  chosen = choice;
  return part->attach(host, limits);
}

void describe(const Host* host, void (*fact)(void*, const char*, const char*), void* context) {
  std::string installed;
  for (const Library& library : libraries)
    if (is_installed(library))
      installed.append(installed.empty() ? "" : ", ").append(library.title);
  fact(context, "built for", installed.empty() ? "no MPI" : installed.c_str());
  const Choice choice = choose(*host);
  const std::string text = choice.error.empty()
                               ? std::string(choice.library->title) + ": " + choice.reason
                               : choice.error;
  fact(context, "MPI", text.c_str());
}

constexpr Conduit make_table() {
  Conduit table{};
  table.version = interface_version;
  table.name = "mpi";
  table.description = "messages by MPI, of whichever kind the program or its launcher has";
  table.capabilities = registers_host_memory;
  table.attach = attach;
  table.send = [](Channel channel, std::uint32_t peer, const Piece* pieces, std::size_t count) {
    return part->send(channel, peer, pieces, count);
  };
  table.poll = [](std::uint32_t channels, std::size_t max) { return part->poll(channels, max); };
  table.detach = [] { part->detach(); };
  table.buffer = [](Channel channel, std::uint32_t peer, std::size_t size) {
    return part->buffer(channel, peer, size);
  };
  table.release = [](void* buffer) { part->release(buffer); };
  table.register_segment = [](const SegmentMemory* memory, void* key) {
    return part->register_segment(memory, key);
  };
  table.deregister_segment = [](const void* key) { part->deregister_segment(key); };
  table.put = [](const Remote* remote, const void* local, std::size_t size, void* done,
                 void* local_done) { return part->put(remote, local, size, done, local_done); };
  table.get = [](const Remote* remote, void* local, std::size_t size, void* done) {
    return part->get(remote, local, size, done);
  };
  table.describe = describe;
  table.transport = [](std::uint32_t peer, const char** name, const char** reason) {
    part->transport(peer, name, reason);
  };
  table.finalizer = "MPI_Finalize";
  table.finalization = [](std::uint32_t by_exit) { return part->finalization(by_exit); };
  table.finalize = [] { part->finalize(); };
  return table;
}

constexpr Conduit table = make_table();

}  // namespace

}  // namespace gex::net::mpi

extern "C" [[gnu::visibility("default")]] const gex::net::Conduit* gex_conduit_v4() {
  return &gex::net::mpi::table;
}
