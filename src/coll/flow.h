#pragma once
// Flows: one member's bytes on their way to another, in the messages of one operation.
//
// A flow is cut into blocks, and a block into messages. Few bytes (`eager_bytes`) are one block,
// and are sent at once; the receiver keeps them until its client has made the call. How many such
// flows a member may have sent to another that the other has not used yet is bounded (credits.h). A
// larger flow is sent as the receiver grants blocks, for which it has a place (`slots_of`): all of
// them if they go where they belong, or a few at a time if they are operands to be combined. How
// many grants that takes (`grants_of`) is the same at both ends.

#include <gasnetex.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/round_up.h"

namespace gex::coll {

inline constexpr std::size_t eager_bytes = 4096;
/// Bytes of a block of a flow that is not eager (whole elements).
inline constexpr std::size_t block_bytes = 32768;
/// Blocks of operands that a member may have sent ahead.
inline constexpr std::uint32_t operand_slots = 2;

/// A flow serves one of these. A member has at most one from each other for each of them.
enum class Phase : std::uint8_t { operand, round, result };

/// Names a flow to or from another member.
struct FlowName {
  std::uint32_t number;  ///< of the operation
  gex_Rank_t peer;
  Phase phase;

  bool operator==(const FlowName&) const = default;
};

/// How an operation's bytes are cut; the same at both ends of all its flows.
struct Blocks {
  std::size_t total = 0;
  std::size_t each = 1;
  std::uint32_t count = 0;

  Blocks() = default;
  /// `element` bytes stay together.
  Blocks(std::size_t bytes, std::size_t element) noexcept
      : total(bytes), each(std::max<std::size_t>(block_bytes / element, 1) * element) {
    if (bytes <= eager_bytes) each = std::max<std::size_t>(bytes, 1);
    count = static_cast<std::uint32_t>(quotient_up(bytes, each));
  }
  bool eager() const noexcept { return total <= eager_bytes; }
  std::size_t offset(std::uint32_t block) const noexcept { return std::size_t{block} * each; }
  std::size_t size(std::uint32_t block) const noexcept {
    return std::min(each, total - offset(block));
  }
};

/// Places that the receiver of a flow has for its blocks.
inline std::uint32_t slots_of(Phase phase, const Blocks& blocks) noexcept {
  if (phase == Phase::result) return blocks.count;
  return std::min(phase == Phase::operand ? operand_slots : 1U, blocks.count);
}
/// Messages that grant a whole flow: the first as many blocks as there are places, each other one
/// more block, once one has been used.
inline std::uint32_t grants_of(const Blocks& blocks, std::uint32_t slots) noexcept {
  return blocks.eager() ? 0 : blocks.count - slots + 1;
}

/// Where another member's bytes arrive.
class Inflow {
 public:
  /// Block b goes to `places` + (b % slots) * stride.
  Inflow(gex_Rank_t from, Phase what_for, std::byte* places, std::size_t stride,
         std::uint32_t slots)
      : peer(from), phase(what_for), places_(places), stride_(stride), slots_(slots) {
    if (slots > operand_slots) many_.resize(slots);
  }

  gex_Rank_t peer;
  Phase phase;
  std::uint32_t taken = 0;  ///< blocks that have been used
  std::uint32_t grants_sent = 0;
  /// State of the sender's message: its content may have come another way, which replaces it.
  enum class Original : std::uint8_t { awaited, replaced, replaced_and_come };
  Original original = Original::awaited;

  std::uint32_t slots() const noexcept { return slots_; }
  std::byte* place(std::uint32_t block) const noexcept {
    return places_ + (block % slots_) * stride_;
  }
  /// Bytes that have arrived of the block in that place.
  std::size_t& received(std::uint32_t block) noexcept {
    return slots_ <= operand_slots ? few_[block % slots_] : many_[block % slots_];
  }
  /// Returns true if nothing has come.
  bool is_untouched() noexcept { return taken == 0 && received(0) == 0; }
  /// Grants that may have been sent by now: each block that is taken makes room for another one.
  std::uint32_t grants_due(const Blocks& blocks) const noexcept {
    return std::min(taken + 1, grants_of(blocks, slots_));
  }
  /// Returns true if all blocks have been used, and all are granted.
  bool finished(const Blocks& blocks) const noexcept {
    return taken == blocks.count && grants_sent == grants_of(blocks, slots_);
  }
  /// Returns true if the next block that has not been taken is there.
  bool arrived(const Blocks& blocks) noexcept {
    return taken < blocks.count && received(taken) == blocks.size(taken);
  }

 private:
  std::byte* places_;
  std::size_t stride_;
  std::uint32_t slots_;
  std::size_t few_[operand_slots] = {};
  std::vector<std::size_t> many_;
};

/// A flow to another member.
struct Outflow {
  gex_Rank_t peer = 0;
  Phase phase = Phase::operand;
  std::uint32_t slots = 0;            ///< of the receiver's Inflow
  std::uint32_t ticket = 0;           ///< of an eager one (credits.h)
  std::uint32_t granted = 0;          ///< blocks that may be sent
  std::uint32_t grants_received = 0;  ///< messages
  std::uint32_t block = 0;            ///< next to be sent
  std::size_t sent = 0;               ///< bytes of it

  /// Sent, and nothing about it is still to come.
  bool finished(const Blocks& blocks) const noexcept {
    return block == blocks.count && grants_received == grants_of(blocks, slots);
  }
};

}  // namespace gex::coll
