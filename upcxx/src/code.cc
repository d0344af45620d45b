// Functions by their place in an executable or library: processes may have loaded it elsewhere.
#include <elf.h>
#include <link.h>

#include <cstring>
#include <mutex>
#include <string>
#include <upcxx/serialization.hpp>
#include <vector>

namespace upcxx::detail {
namespace {

struct Module {
  std::uintptr_t base;
  std::uintptr_t begin;
  std::uintptr_t end;
  std::uint16_t name;
};

std::uint64_t hash(const void* bytes, std::size_t size) {
  std::uint64_t result = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < size; ++i) {
    result = (result ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3u;
  }
  return result;
}

/// A hash of the linker's build identification, or else of the file's name.
std::uint16_t name_of(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info.dlpi_addr + header.p_vaddr);
    const char* const end = at + header.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* const name = at + sizeof note;
      const char* const content = name + (note.n_namesz + 3) / 4 * 4;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
          std::memcmp(name, "GNU", 4) == 0) {
        return std::uint16_t(hash(content, note.n_descsz));
      }
      at = content + (note.n_descsz + 3) / 4 * 4;
    }
  }
  const char* const slash = std::strrchr(info.dlpi_name, '/');
  const char* const name = slash == nullptr ? info.dlpi_name : slash + 1;
  return std::uint16_t(hash(name, std::strlen(name)));
}

int add_module(dl_phdr_info* info, std::size_t, void* modules) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    static_cast<std::vector<Module>*>(modules)->push_back(
        {info->dlpi_addr, begin, begin + header.p_memsz, name_of(*info)});
  }
  return 0;
}

/// The loaded files: read again if one is missing, which was loaded since.
class Modules {
 public:
  template <class Wanted>
  Module find(Wanted&& wanted, const char* missing) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (int attempt = 0; attempt < 2; ++attempt) {
      for (const Module& module : modules_) {
        if (wanted(module)) return module;
      }
      modules_.clear();
      dl_iterate_phdr(add_module, &modules_);
    }
    fatal_error(missing, "upcxx::rpc");
  }

 private:
  std::mutex mutex_;
  std::vector<Module> modules_;
};
Modules& modules() {
  static auto* const made = new Modules;
  return *made;
}

constexpr int name_shift = 48;

}  // namespace

std::uint64_t code_token(void (*function)()) {
  const auto address = reinterpret_cast<std::uintptr_t>(function);
  const Module module =
      modules().find([&](const Module& at) { return at.begin <= address && address < at.end; },
                     "the function is in no executable or library that is loaded");
  return std::uint64_t(module.name) << name_shift | (address - module.base);
}

namespace {

// Most messages run functions of one file.
thread_local Module last __attribute__((tls_model("initial-exec"))) = {0, 0, 0, 0};

std::uint64_t offset_of(std::uint64_t token) {
  return token & ((std::uint64_t(1) << name_shift) - 1);
}
bool is_of(const Module& module, std::uint64_t token) {
  const std::uintptr_t address = module.base + offset_of(token);
  return module.name == std::uint16_t(token >> name_shift) && module.begin <= address &&
         address < module.end;
}

}  // namespace

void (*recent_code_address(std::uint64_t token))() {
  if (!is_of(last, token)) return nullptr;
  return reinterpret_cast<void (*)()>(last.base + offset_of(token));
}

void (*code_address(std::uint64_t token))() {
  if (!is_of(last, token)) {
    last = modules().find([&](const Module& at) { return is_of(at, token); },
                          "a message asks for a function of a file that is not loaded here");
  }
  return recent_code_address(token);
}

}  // namespace upcxx::detail
