#pragma once
// The guardian's part of collective calls at start-up: the exchange of bytes (`Gather`) and the
// sharing of a descriptor (`Sharing`).
//
// Both are bookkeeping only: they process frames that are checked already, return results for the
// guardian to send, and do no input or output themselves.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "job/host_parts.h"
#include "job/protocol.h"
#include "launch/channel.h"

namespace gex::launch {

/// An error of a rank, as the TEXT of a message "rank R TEXT"; empty if there is none.
using Fault = std::optional<std::string>;

/// A sequence of exchanges; a barrier is an exchange of no bytes. The ranks of a host contribute to
/// their guardian's object. With several hosts, the guardians contribute the results to that of the
/// process above them, an agent that starts hosts or gexrun, and each such agent to the one above
/// it. Exchanges of the least are combined at each of them, so that they are as large between hosts
/// as for a rank; those on each host are barriers between hosts; the tables of others are packed
/// there (job/packed_table.h).
class Gather {
 public:
  /// Each of these is a contributor, on behalf of those ranks, unless it has none. What it gives is
  /// packed, and so is the result.
  explicit Gather(std::vector<job::RankSet> contributors);
  /// Each rank of `part` is a contributor.
  explicit Gather(const job::HostPart& part);

  /// Adds a piece of a contribution to the current exchange. Requires pieces in order, and as many
  /// bytes from each rank. `contributor` counts from 0.
  Fault add(std::uint32_t contributor, const job::FrameHeader& header,
            std::span<const std::byte> payload);

  std::uint32_t sequence() const noexcept { return sequence_; }
  bool pending() const noexcept { return begun_ > 0; }
  bool complete() const noexcept { return finished_ == contributors_; }
  bool has_finished(std::uint32_t contributor) const noexcept {
    return received_[contributor].finished;
  }

  /// The result of a complete exchange.
  struct Result {
    std::uint32_t sequence;
    job::Exchange kind;
    SharedBytes bytes;
  };
  /// Returns the result and begins the next exchange. Requires `complete`.
  Result take();

  /// Another contributor is to give the blocks of these ranks from now on, whose contributors have
  /// not begun; without one they are not part of the result. The exchange may be complete then.
  void reassign(const job::RankSet& ranks, std::optional<std::uint32_t> contributor = {});

 private:
  struct Contribution {
    job::RankSet ranks;
    std::vector<std::uint32_t> places;  ///< the index of each of its ranks in the result
    std::vector<std::byte> packed;      ///< so far
    std::uint64_t bytes = 0;
    bool begun = false;
    bool finished = false;
  };

  job::RankSet place();
  Fault begin(const Contribution& first, job::Exchange kind, std::uint64_t each);
  Fault check_piece(const Contribution& mine, const job::FrameHeader& header,
                    std::span<const std::byte> payload) const;
  Fault check_size(const Contribution& mine, job::Exchange kind, std::uint64_t each);
  Fault take_packed(Contribution& mine, job::Exchange kind, std::span<const std::byte> payload,
                    bool is_last);
  void scatter(const Contribution& from, std::uint64_t at, std::span<const std::byte> piece);
  void combine(std::span<const std::byte> numbers);

  std::vector<Contribution> received_;
  std::vector<std::byte> bytes_;
  std::size_t contributors_ = 0;  ///< that have ranks
  job::RankSet ranks_;            ///< of all of them
  job::Exchange kind_ = job::Exchange::all;
  std::uint64_t each_ = 0;
  std::uint32_t first_rank_ = 0;
  std::uint32_t sequence_ = 0;
  bool packs_ = false;
  bool is_sized_ = false;  ///< `kind_` and `each_` are those of the current exchange
  std::size_t begun_ = 0;
  std::size_t finished_ = 0;
};

/// Descriptors that ranks share with the groups of ranks that they belong to.
class Sharing {
 public:
  /// Among the ranks of one host.
  explicit Sharing(const job::HostPart& part) : part_(part) {}

  /// A group of ranks. Once it is complete, the guardian answers all its ranks, all but `owner`
  /// with a copy of the descriptor.
  struct Group {
    job::RankSet ranks;
    std::uint32_t owner = 0;
    SharedDescriptor descriptor;
    std::vector<bool> arrived;
    std::uint32_t missing = 0;
  };

  /// Adds `rank` to the group that a frame of kind `share` names. Sets `complete` if it was the
  /// last one.
  Fault add(std::uint32_t rank, const job::FrameHeader& header, std::span<const std::byte> payload,
            os::FileDescriptor descriptor, std::optional<Group>& complete);

  /// A rank with `gone(rank)` that some group is waiting for, if any.
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
  job::HostPart part_;
  /// By ranks and owner.
  std::map<std::pair<job::RankSet, std::uint32_t>, Group> groups_;
};

}  // namespace gex::launch
