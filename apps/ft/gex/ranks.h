#pragma once
// The ranks and their segments, as GASNet-EX gives them.

#include <gasnetex.h>

#include <cstddef>
#include <vector>

namespace ft {

/// One client, its primordial team, and a segment on every rank.
class Ranks {
 public:
  static constexpr const char* kProgram = "ft";
  static constexpr const char* kLibrary = "GASNet-EX";

  gex_TM_t team() const { return team_; }
  gex_Rank_t rank() const { return rank_; }
  gex_Rank_t size() const { return size_; }

  /// The address at which `rank`'s segment begins there; it is `segment()` for this one.
  std::byte* segment_of(gex_Rank_t rank) const { return segments_[rank]; }
  std::byte* segment() const { return segments_[rank_]; }

 protected:
  gex_TM_t team_{};
  gex_Rank_t rank_ = 0;
  gex_Rank_t size_ = 0;
  std::vector<std::byte*> segments_;
};

}  // namespace ft
