#pragma once
// The memory of a neighborhood's segments, for networks of which this process is the only rank.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "base/os_mapping.h"
#include "ranks.h"

namespace gex::net::emu {

inline constexpr std::size_t part_size = 1 << 16;
inline constexpr std::uint64_t part_offset = 4096;
/// Where it is mapped for its owner, and the file.
inline std::byte* own_part = nullptr;
inline int own_file = -1;

inline void exchange_alone(const void* mine, std::size_t bytes, void* all) {
  std::memcpy(all, mine, bytes);
}
inline SegmentFile segment_file(std::uint32_t) {
  static constexpr std::uint32_t own_rank = 0;
  return {dup(own_file), part_offset, part_size, &own_rank, 1};
}
inline int segment_place(const void* address, std::uint64_t* offset) {
  *offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - own_part);
  return *offset < part_size ? 0 : 1;
}

class WithSegmentFile : public testing::Test {
 protected:
  WithSegmentFile() : layout(1, 1), network(os::Mapping::anonymous(layout.file_size())) {
    own_file = memfd_create("segments", MFD_CLOEXEC);
    EXPECT_EQ(ftruncate(own_file, part_offset + part_size), 0);
    file = os::Mapping::shared(own_file, part_offset, part_size);
    own_part = file.data();
    host = Host{.version = interface_version,
                .rank = 0,
                .size = 1,
                .threaded = 0,
                .exchange = exchange_alone,
                .segment_file = segment_file,
                .segment_place = segment_place,
                .fatal = die,
                .warn = [](const char*) {}};
  }
  ~WithSegmentFile() override { close(own_file); }

  static Remote at(const Segments::Key& key, const std::byte* address) {
    return {0, &key, reinterpret_cast<std::uintptr_t>(address)};
  }

  Layout layout;
  os::Mapping network;
  os::Mapping file;
  Host host{};
};

}  // namespace gex::net::emu
