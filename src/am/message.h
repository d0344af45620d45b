#pragma once
// The header every active message carries, in shared memory and on networks.
//
// It has room for what is planned: several clients and endpoints a process, 32-bit ranks. Handler
// indices below GEX_AM_INDEX_BASE are the library's own (am/internal.h).

#include <cstdint>

#include "core/endpoint_address.h"

namespace gex {

enum class Category : std::uint8_t { short_message = 0, medium = 1, long_message = 2 };

/// The slab of a message whose payload is not in one.
inline constexpr std::uint32_t no_slab = 0xfff;
inline constexpr std::uint32_t max_medium_payload = 64 * 1024;
inline constexpr unsigned max_args = 16;

/// The first word of a header, and the whole header of a short message.
struct MessageWhat {
  std::uint32_t word = 0;  ///< handler: 8 bits, category: 2, reply: 1, argument count: 5,
                           ///< endpoints: 16

  static constexpr MessageWhat make(std::uint8_t handler, Category category, bool reply,
                                    unsigned args, Endpoints endpoints) noexcept {
    return {handler | static_cast<std::uint32_t>(category) << 8 | (reply ? reply_bit : 0U) |
            args << 11 | std::uint32_t{endpoints.bits} << 16};
  }

  std::uint8_t handler() const noexcept { return static_cast<std::uint8_t>(word); }
  Category category() const noexcept { return static_cast<Category>(word >> 8 & 3U); }
  bool is_reply() const noexcept { return (word & reply_bit) != 0; }
  unsigned arg_count() const noexcept { return word >> 11 & 31U; }
  Endpoints endpoints() const noexcept { return {static_cast<std::uint16_t>(word >> 16)}; }

  void set_category(Category category) noexcept {
    word = (word & ~(3U << 8)) | static_cast<std::uint32_t>(category) << 8;
  }
  void set_reply() noexcept { word |= reply_bit; }
  void set_endpoints(Endpoints endpoints) noexcept {
    word = (word & 0xffffU) | std::uint32_t{endpoints.bits} << 16;
  }

 private:
  static constexpr std::uint32_t reply_bit = 1U << 10;
};

struct MessageHeader {
  MessageWhat what;
  std::uint32_t source;         ///< jobrank of the sender
  std::uint32_t size_and_slab;  ///< read of a medium only: payload bytes, 20 bits, and slab, 12

  static constexpr std::uint32_t make_size_and_slab(std::uint32_t size,
                                                    std::uint32_t slab) noexcept {
    return size | (slab << 20);
  }

  std::uint8_t handler() const noexcept { return what.handler(); }
  Category category() const noexcept { return what.category(); }
  bool is_reply() const noexcept { return what.is_reply(); }
  unsigned arg_count() const noexcept { return what.arg_count(); }
  Endpoints endpoints() const noexcept { return what.endpoints(); }
  std::uint32_t size() const noexcept { return size_and_slab & 0xfffff; }
  std::uint32_t slab() const noexcept { return size_and_slab >> 20; }
};
static_assert(sizeof(MessageHeader) == 12);

}  // namespace gex
