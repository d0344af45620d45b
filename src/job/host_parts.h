#pragma once
// The hosts of a job, and the ranks of each, in any distribution.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "job/rank_set.h"

namespace gex::job {

/// A host and the ranks that run on it.
struct HostPart {
  std::string name;  ///< for messages
  RankSet ranks;
};

class HostParts {
 public:
  /// Adds a host and places the next `count` ranks on it.
  void add(std::string name, std::uint32_t count = 0) {
    parts_.push_back({std::move(name), {}});
    for (; count > 0; --count) place_next(size() - 1);
  }
  /// Places the next rank on a host that was added before.
  void place_next(std::uint32_t host) {
    parts_[host].ranks.add(ranks());
    host_of_.push_back(host);
  }

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(parts_.size()); }
  const HostPart& operator[](std::uint32_t host) const { return parts_[host]; }
  auto begin() const noexcept { return parts_.begin(); }
  auto end() const noexcept { return parts_.end(); }

  /// How many ranks the job has.
  std::uint32_t ranks() const noexcept { return static_cast<std::uint32_t>(host_of_.size()); }

  /// The number of each rank's host.
  const std::vector<std::uint32_t>& host_of() const noexcept { return host_of_; }
  std::uint32_t host_of(std::uint32_t rank) const { return host_of_[rank]; }
  /// The host of a rank of the job.
  const HostPart& of(std::uint32_t rank) const { return parts_[host_of_[rank]]; }

 private:
  std::vector<HostPart> parts_;
  std::vector<std::uint32_t> host_of_;
};

}  // namespace gex::job
