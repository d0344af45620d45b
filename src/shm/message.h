#pragma once
// The header every active message carries, in shared memory and on networks.
//
// It is fixed for what is planned: several clients and endpoints a process, 32-bit ranks. Handler
// indices below GEX_AM_INDEX_BASE are the library's own (am/internal.h).

#include <cstdint>

namespace gex {

enum class Category : std::uint8_t { short_message = 0, medium = 1, long_message = 2 };

/// What the buffer field says when the payload is not in a slab.
inline constexpr std::uint32_t no_slab = 0xfff;
inline constexpr std::uint32_t max_medium_payload = 64 * 1024;
inline constexpr unsigned max_args = 16;

struct MessageHeader {
  std::uint32_t source;  ///< jobrank of the sender
  std::uint8_t handler;
  std::uint8_t kind;          ///< category: 2 bits, reply: 1 bit, argument count: 5 bits
  std::uint16_t endpoints;    ///< client: 4 bits, source endpoint: 6 bits, target endpoint: 6 bits
  std::uint32_t size_buffer;  ///< payload bytes of a medium: 20 bits, its slab: 12 bits

  static constexpr std::uint8_t make_kind(Category category, bool reply, unsigned args) noexcept {
    return static_cast<std::uint8_t>(static_cast<unsigned>(category) | (reply ? 4U : 0U) |
                                     (args << 3));
  }
  static constexpr std::uint16_t make_endpoints(unsigned client, unsigned source,
                                                unsigned target) noexcept {
    return static_cast<std::uint16_t>(client | (source << 4) | (target << 10));
  }
  static constexpr std::uint32_t make_size_buffer(std::uint32_t size, std::uint32_t slab) noexcept {
    return size | (slab << 20);
  }

  Category category() const noexcept { return static_cast<Category>(kind & 3); }
  bool is_reply() const noexcept { return (kind & 4) != 0; }
  unsigned arg_count() const noexcept { return kind >> 3; }
  unsigned client() const noexcept { return endpoints & 15; }
  unsigned source_endpoint() const noexcept { return (endpoints >> 4) & 63; }
  unsigned target_endpoint() const noexcept { return endpoints >> 10; }
  std::uint32_t size() const noexcept { return size_buffer & 0xfffff; }
  std::uint32_t slab() const noexcept { return size_buffer >> 20; }
};
static_assert(sizeof(MessageHeader) == 12);

}  // namespace gex
