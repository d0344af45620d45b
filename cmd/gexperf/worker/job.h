#pragma once
// The job that a worker is a rank of, and the memory its ranks share.

#include <gasnetex.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gexperf {

/// One client, its primordial team, and on every rank a segment of the same size that all ranks
/// have mapped.
class Job {
 public:
  /// Joins the job. Collective.
  Job(int* argc, char*** argv);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Gives every rank a segment of `bytes`, rounded up to pages. Collective, once. Fails when a
  /// segment is not mapped into every rank, unless the measurement can do without (`shared` false).
  void attach(std::size_t bytes, bool shared);

  gex_TM_t team() const { return team_; }
  gex_EP_t endpoint() const { return endpoint_; }
  gex_Rank_t rank() const { return rank_; }
  gex_Rank_t size() const { return size_; }

  /// Where a rank's segment begins: in the owner's addresses, and in this process if it is shared.
  std::byte* segment_at_owner(gex_Rank_t rank) const { return at_owner_[rank]; }
  std::byte* segment_here(gex_Rank_t rank) const { return here_[rank]; }

  void barrier() const { gex_Event_Wait(gex_Coll_BarrierNB(team_, 0)); }

  /// Rank 0's value, on every rank. Collective.
  std::uint64_t from_root(std::uint64_t value) const;

  /// Ends the job for a reason.
  [[noreturn]] void fail(const std::string& reason) const;

 private:
  void check(int status, const char* call) const;

  gex_TM_t team_{};
  gex_EP_t endpoint_{};
  gex_Rank_t rank_ = 0;
  gex_Rank_t size_ = 0;
  std::vector<std::byte*> at_owner_;
  std::vector<std::byte*> here_;
};

}  // namespace gexperf
