#pragma once
// Endpoints beside the primordial one, the same on every rank, for the tests of what the interface
// does with them. Each has a segment that was published to all ranks.

#include <array>

#include "conformance.h"

namespace conformance {

/// Where an endpoint's segment is from: gex_Segment_Attach, or gex_Segment_Create with memory of
/// the library's or with the client's.
enum class From { attached, library, client };
inline constexpr std::array every_source = {From::attached, From::library, From::client};
const char* name(From from);

/// An endpoint of every rank, with its segment.
struct Ends {
  gex_EP_t endpoint;
  gex_EP_Index_t index;
  gex_Segment_t segment;
  std::vector<std::byte*> segments;  ///< by rank, in the owner's addresses

  std::byte* own() const { return segments[rank()]; }
};

/// Bytes of the segments of created endpoints.
inline constexpr std::size_t created_bytes = 300'001;

/// The endpoints with such a segment. The first call makes them all, and is collective.
const Ends& ends(From from);

/// The team of all ranks' endpoints with such a segment, in the order of ranks turned around, and
/// the rank there of a process. Made and destroyed collectively.
class TeamOf {
 public:
  explicit TeamOf(From from);
  ~TeamOf();
  TeamOf(const TeamOf&) = delete;
  TeamOf& operator=(const TeamOf&) = delete;

  gex_TM_t tm() const { return tm_; }
  static gex_Rank_t rank_of(gex_Rank_t jobrank) { return size() - 1 - jobrank; }

 private:
  gex_TM_t tm_ = GEX_TM_INVALID;
};

/// The team of all endpoints of `every_source` of all ranks, one kind after the other: each process
/// has one member of each kind. Made and destroyed collectively.
class AllRanks {
 public:
  explicit AllRanks(bool with_scratch = false);
  ~AllRanks();
  AllRanks(const AllRanks&) = delete;
  AllRanks& operator=(const AllRanks&) = delete;

  /// The own member of that kind.
  gex_TM_t tm(From from) const { return tms_[static_cast<std::size_t>(from)]; }
  static gex_Rank_t rank_of(From from, gex_Rank_t jobrank) {
    return static_cast<gex_Rank_t>(from) * size() + jobrank;
  }
  /// Where the scratch of the own member of that kind is, and its bytes.
  static std::byte* scratch_of(From from) { return ends(from).own() + 4096; }
  static constexpr std::size_t scratch_bytes = 512;

  /// Another process has destroyed the team.
  void forget() { tms_.fill(GEX_TM_INVALID); }

 private:
  std::array<gex_TM_t, every_source.size()> tms_{};
};

}  // namespace conformance
