#pragma once
// The ranks of an emu network as objects of one process, over the same memory.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "base/os_mapping.h"
#include "net/emu/network.h"

namespace gex::net::emu {

inline constexpr std::size_t everything = SIZE_MAX;
inline constexpr std::uint32_t requests = 1u << request_channel;
inline constexpr std::uint32_t replies = 1u << reply_channel;
inline constexpr std::uint32_t both = requests | replies;

using Handler = std::function<void(std::uint32_t, Channel, const void*, std::size_t)>;
/// Called by `deliver` on this thread.
inline thread_local Handler handler;

inline void deliver(std::uint32_t source, Channel channel, const void* message, std::size_t size) {
  handler(source, channel, message, size);
}
inline void die(const char* text) {
  std::fprintf(stderr, "%s\n", text);
  std::_Exit(7);
}

/// The ranks of a job, as objects.
class Ranks {
 public:
  explicit Ranks(std::uint32_t ranks, std::uint32_t depth, bool threaded = false,
                 std::uint64_t seed = 0)
      : layout(ranks, depth), mapping(os::Mapping::anonymous(layout.file_size())) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      hosts_.push_back(Host{.version = interface_version,
                            .rank = rank,
                            .size = ranks,
                            .threaded = threaded,
                            .deliver = deliver,
                            .fatal = die});
      networks_.emplace_back(hosts_.back(), layout, mapping.bytes(), seed);
    }
  }
  ~Ranks() {
    for (EmuNetwork& network : networks_) network.check_invariants();
  }
  EmuNetwork& operator[](std::uint32_t rank) { return networks_[rank]; }

  Record& record(std::uint32_t source, std::uint32_t target, Channel channel, std::uint32_t slot) {
    return *reinterpret_cast<Record*>(mapping.data() +
                                      layout.record(source, target, channel, slot));
  }

  Layout layout;
  os::Mapping mapping;

 private:
  std::deque<Host> hosts_;
  std::deque<EmuNetwork> networks_;
};

inline SendResult send_number(EmuNetwork& from, Channel channel, std::uint32_t peer,
                              std::uint64_t number) {
  const Piece piece{&number, sizeof number};
  return from.send(channel, peer, std::span(&piece, 1));
}

inline SendResult send_bytes(EmuNetwork& from, Channel channel, std::uint32_t peer,
                             const std::string& bytes) {
  const Piece piece{bytes.data(), bytes.size()};
  return from.send(channel, peer, std::span(&piece, 1));
}

inline std::uint64_t number_in(const void* message, std::size_t size) {
  std::uint64_t number = 0;
  EXPECT_EQ(size, sizeof number);
  std::memcpy(&number, message, sizeof number);
  return number;
}

inline std::vector<std::uint64_t> poll_numbers(EmuNetwork& at, std::uint32_t channels = both,
                                               std::size_t max = everything) {
  std::vector<std::uint64_t> numbers;
  handler = [&](std::uint32_t, Channel, const void* message, std::size_t size) {
    numbers.push_back(number_in(message, size));
  };
  const std::size_t delivered = at.poll(channels, max);
  EXPECT_EQ(delivered, numbers.size());
  return numbers;
}

inline std::string pattern(std::size_t size, unsigned salt) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 + salt + i / 251);
  return bytes;
}

}  // namespace gex::net::emu
