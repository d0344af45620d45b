#include "base/os_code_address.h"

#include <elf.h>

#include <cstdio>
#include <fstream>

namespace gex::os {

namespace {

/// Returns true if the file's addresses are those of its memory: an executable that is not
/// position-independent.
bool has_fixed_addresses(const std::string& file) {
  Elf64_Ehdr header{};
  std::ifstream bytes(file, std::ios::binary);
  return bytes.read(reinterpret_cast<char*>(&header), sizeof header) && header.e_type == ET_EXEC;
}

}  // namespace

std::string describe_code_address(pid_t process, std::uint64_t address) {
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  std::string file;
  std::uint64_t base = 0;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    int path_at = 0;
    if (std::sscanf(line.c_str(), "%llx-%llx %*s %*s %*s %*s %n", &begin, &end, &path_at) != 2 ||
        path_at == 0) {
      continue;
    }
    std::string path = line.substr(static_cast<std::size_t>(path_at));
    // The mappings of a file follow one another; the first is where it has been loaded.
    if (path != file) {
      file = std::move(path);
      base = begin;
    }
    if (address < begin || address >= end || !file.starts_with('/')) continue;
    char place[32];
    const std::uint64_t offset = has_fixed_addresses(file) ? address : address - base;
    std::snprintf(place, sizeof place, "(+0x%llx)", static_cast<unsigned long long>(offset));
    return file.substr(file.rfind('/') + 1) + place;
  }
  return {};
}

}  // namespace gex::os
