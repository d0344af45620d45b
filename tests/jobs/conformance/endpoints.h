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

}  // namespace conformance
