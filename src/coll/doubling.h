#pragma once
// Rounds at doubling distance (Bruck), by which members give blocks to all others in few messages.
//
// Each has a row of blocks, one for each member, which it numbers from itself on: place i belongs
// to the member i further on. In round k it sends some blocks to one member and gets as many from
// another.
//
//   gather to all   place 0: the own block      round k: places below 2^k, as far as they are
//                   at last: of the member i    missed, to the member 2^k before; what comes from
//                   further on                  the one 2^k further on begins at place 2^k
//
//   exchange        place i: for the member     round k: places whose bit k is set, to the member
//                   i further on                2^k further on; what comes from the one 2^k before
//                   at last: from the member    has the same places
//                   i before
//
// So a member sends log2(members) messages instead of one to each other member: in a gather no more
// bytes, in an exchange half the row in each round.
//
// A value, for any number of members.

#include <cstdint>

namespace gex::coll {

struct Doubling {
  std::uint32_t count;  ///< of members
  bool exchanges;       ///< else gathers to all

  constexpr unsigned rounds() const noexcept {
    unsigned rounds = 0;
    while ((std::uint64_t{1} << rounds) < count) ++rounds;
    return rounds;
  }
  constexpr std::uint32_t to(std::uint32_t self, unsigned round) const noexcept {
    return exchanges ? behind(self, round) : before(self, round);
  }
  constexpr std::uint32_t from(std::uint32_t self, unsigned round) const noexcept {
    return exchanges ? before(self, round) : behind(self, round);
  }

  /// Calls `act(sent, received)` for the places whose blocks are sent in a round, and the places of
  /// what is received in their stead, in the order of the message.
  template <class Act>
  constexpr void for_each_place(unsigned round, Act act) const {
    const std::uint64_t distance = std::uint64_t{1} << round;
    if (exchanges) {
      for (std::uint64_t run = distance; run < count; run += 2 * distance)
        for (std::uint64_t place = run; place < run + distance && place < count; ++place)
          act(static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(place));
    } else {
      for (std::uint64_t place = 0; place < distance && place + distance < count; ++place)
        act(static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(place + distance));
    }
  }
  constexpr std::uint32_t blocks(unsigned round) const {
    std::uint32_t blocks = 0;
    for_each_place(round, [&](std::uint32_t, std::uint32_t) { ++blocks; });
    return blocks;
  }

  /// Returns the rank whose block is first at a place of a member's row, and the one whose block is
  /// there at last.
  constexpr std::uint32_t first_of(std::uint32_t self, std::uint32_t place) const noexcept {
    return static_cast<std::uint32_t>((std::uint64_t{self} + place) % count);
  }
  constexpr std::uint32_t last_of(std::uint32_t self, std::uint32_t place) const noexcept {
    return exchanges ? static_cast<std::uint32_t>((std::uint64_t{self} + count - place) % count)
                     : first_of(self, place);
  }

 private:
  constexpr std::uint32_t behind(std::uint32_t self, unsigned round) const noexcept {
    return static_cast<std::uint32_t>((self + (std::uint64_t{1} << round)) % count);
  }
  constexpr std::uint32_t before(std::uint32_t self, unsigned round) const noexcept {
    return static_cast<std::uint32_t>((self + std::uint64_t{count} - (std::uint64_t{1} << round)) %
                                      count);
  }
};

}  // namespace gex::coll
