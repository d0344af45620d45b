#pragma once
// What the ranks of a host ask their guardian to bring together: everybody's bytes (`Gather`) and
// one rank's descriptor (`Sharing`).
//
// Both are the guardian's bookkeeping only: they see checked frames and answer with what is to be
// sent, and do no input or output themselves.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "boot/channel.h"
#include "boot/protocol.h"

namespace gex::boot {

/// What a rank did wrong, for a message "rank R TEXT"; nothing when all is well.
using Fault = std::optional<std::string>;

/// One exchange after the other among all ranks; a barrier is an exchange of no bytes.
class Gather {
 public:
  explicit Gather(std::uint32_t ranks);

  /// Takes a piece of `rank`'s contribution. A rank sends its pieces in order, and all ranks
  /// contribute equally much to the exchange whose turn it is.
  Fault add(std::uint32_t rank, const FrameHeader& header, std::span<const std::byte> payload);

  bool pending() const noexcept { return begun_ > 0; }
  bool complete() const noexcept { return finished_ == received_.size(); }
  bool has_finished(std::uint32_t rank) const noexcept { return received_[rank].finished; }

  /// The contributions of a complete exchange in rank order; the next one begins.
  struct Result {
    std::uint32_t sequence;
    SharedBytes bytes;
  };
  Result take();

 private:
  struct Contribution {
    std::uint64_t bytes = 0;
    bool begun = false;
    bool finished = false;
  };

  std::vector<Contribution> received_;
  std::vector<std::byte> bytes_;
  std::uint64_t each_ = 0;
  std::uint32_t first_rank_ = 0;
  std::uint32_t sequence_ = 0;
  std::size_t begun_ = 0;
  std::size_t finished_ = 0;
};

/// Descriptors on their way from one rank to a range of ranks, its own, that asks for it.
class Sharing {
 public:
  explicit Sharing(std::uint32_t ranks) : ranks_(ranks) {}

  /// A complete group: everybody in [first, first + count) is to be answered, all but `owner` with
  /// a copy of the descriptor.
  struct Group {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint32_t owner = 0;
    SharedDescriptor descriptor;
    std::vector<bool> arrived;
    std::uint32_t missing = 0;
  };

  /// Notes that `rank` takes part in the group that `header` names. Sets `complete` when it was
  /// the last one.
  Fault add(std::uint32_t rank, const FrameHeader& header, os::FileDescriptor descriptor,
            std::optional<Group>& complete);

  /// The lowest rank that some group waits for among those for which `gone(rank)` holds.
  template <typename Gone>
  std::optional<std::uint32_t> waits_for(Gone&& gone) const {
    for (const auto& [range, group] : groups_) {
      for (std::uint32_t i = 0; i < group.count; ++i) {
        if (!group.arrived[i] && gone(group.first + i)) return group.first + i;
      }
    }
    return std::nullopt;
  }

 private:
  std::uint32_t ranks_;
  /// By first rank, number of ranks and owner.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Group> groups_;
};

}  // namespace gex::boot
