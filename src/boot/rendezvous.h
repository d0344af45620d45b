#pragma once
// What ranks ask their guardian to bring together: everybody's bytes (`Gather`) and
// one rank's descriptor (`Sharing`).
//
// Both are the guardian's bookkeeping only: they see checked frames and answer with what is to be
// sent, and do no input or output themselves.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "boot/channel.h"
#include "boot/host_parts.h"
#include "boot/protocol.h"

namespace gex::boot {

/// What a rank did wrong, for a message "rank R TEXT"; nothing when all is well.
using Fault = std::optional<std::string>;

/// One exchange after the other; a barrier is an exchange of no bytes. The ranks of a host
/// contribute to their guardian's, which is the whole where there is one host; otherwise the hosts
/// contribute to gexrun's.
class Gather {
 public:
  /// Each of `hosts` is one contributor, on behalf of all its ranks.
  explicit Gather(const HostParts& hosts);
  /// Each rank of `part` is one.
  explicit Gather(const HostPart& part);

  /// Takes a piece of a contribution. Pieces come in order, and all ranks contribute equally much
  /// to the exchange whose turn it is. `contributor` counts from 0.
  Fault add(std::uint32_t contributor, const FrameHeader& header,
            std::span<const std::byte> payload);

  std::uint32_t sequence() const noexcept { return sequence_; }
  bool pending() const noexcept { return begun_ > 0; }
  bool complete() const noexcept { return finished_ == received_.size(); }
  bool has_finished(std::uint32_t contributor) const noexcept {
    return received_[contributor].finished;
  }

  /// The contributions of a complete exchange in rank order; the next one begins.
  struct Result {
    std::uint32_t sequence;
    SharedBytes bytes;
  };
  Result take();

 private:
  struct Contribution {
    std::vector<std::uint32_t> places;  ///< where in the result its ranks' bytes belong
    std::uint32_t lowest_rank = 0;
    std::uint64_t bytes = 0;
    bool begun = false;
    bool finished = false;
  };

  void scatter(const Contribution& from, std::span<const std::byte> piece);

  std::vector<Contribution> received_;
  std::vector<std::byte> bytes_;
  std::uint32_t ranks_;
  std::uint64_t each_ = 0;
  std::uint32_t first_rank_ = 0;
  std::uint32_t sequence_ = 0;
  std::size_t begun_ = 0;
  std::size_t finished_ = 0;
};

/// Descriptors on their way from one rank to a group of ranks, its own, that asks for it.
class Sharing {
 public:
  /// Among the ranks of one host.
  explicit Sharing(const HostPart& part) : part_(part) {}

  /// A complete group: all of its ranks are to be answered, all but `owner` with a copy of the
  /// descriptor.
  struct Group {
    RankSet ranks;
    std::uint32_t owner = 0;
    SharedDescriptor descriptor;
    std::vector<bool> arrived;
    std::uint32_t missing = 0;
  };

  /// Notes that `rank` takes part in the group that a frame of kind `share` names. Sets `complete`
  /// when it was the last one.
  Fault add(std::uint32_t rank, const FrameHeader& header, std::span<const std::byte> payload,
            os::FileDescriptor descriptor, std::optional<Group>& complete);

  /// The lowest rank that some group waits for among those for which `gone(rank)` holds.
  template <typename Gone>
  std::optional<std::uint32_t> waits_for(Gone&& gone) const {
    for (const auto& [key, group] : groups_) {
      for (std::uint32_t i = 0; i < group.ranks.size(); ++i) {
        if (!group.arrived[i] && gone(group.ranks[i])) return group.ranks[i];
      }
    }
    return std::nullopt;
  }

 private:
  HostPart part_;
  /// By ranks and owner.
  std::map<std::pair<RankSet, std::uint32_t>, Group> groups_;
};

}  // namespace gex::boot
