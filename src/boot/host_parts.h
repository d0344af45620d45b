#pragma once
// The hosts of a job, and the ranks of each: consecutive ones, in the order of the hosts.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gex::boot {

/// Ranks [first, first + count) run on the host.
struct HostPart {
  std::string name;  ///< as messages name it
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

class HostParts {
 public:
  /// Gives the next `count` ranks to a host.
  void add(std::string name, std::uint32_t count) {
    const std::uint32_t first = ranks();
    parts_.push_back({std::move(name), first, count});
  }

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(parts_.size()); }
  const HostPart& operator[](std::uint32_t host) const { return parts_[host]; }
  auto begin() const noexcept { return parts_.begin(); }
  auto end() const noexcept { return parts_.end(); }

  std::uint32_t ranks() const noexcept {
    return parts_.empty() ? 0 : parts_.back().first + parts_.back().count;
  }

  /// The host of a rank of the job.
  const HostPart& of(std::uint32_t rank) const {
    std::uint32_t host = 0;
    while (rank - parts_[host].first >= parts_[host].count) ++host;
    return parts_[host];
  }

 private:
  std::vector<HostPart> parts_;
};

}  // namespace gex::boot
