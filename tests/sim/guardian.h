#pragma once
// The guardian of ranks that are parts of this process: what they need of one to start, to share
// memory, and to end. One thread; the ranks' deaths are the process's.

#include <cstdint>
#include <string>
#include <vector>

#include "base/os_file.h"
#include "job/job_page.h"
#include "job/protocol.h"
#include "launch/rendezvous.h"

namespace gex::sim {

class Guardian {
 public:
  explicit Guardian(std::uint32_t ranks);

  /// The value of GEX_JOB for a rank.
  std::string membership(std::uint32_t rank) const;

  /// Serves the ranks until `done()`, which is asked at least every tenth of a second.
  template <class Done>
  void serve(Done done) {
    while (!done()) serve_for(100);
  }

 private:
  void serve_for(int milliseconds);
  void receive(std::uint32_t rank);
  void send(std::uint32_t rank, const job::FrameHeader& header,
            std::span<const std::byte> payload = {}, int descriptor = -1);
  void send_result(const launch::Gather::Result& result);

  job::HostPart host_;
  job::JobPage page_;
  std::vector<os::FileDescriptor> ours_;    ///< by rank
  std::vector<os::FileDescriptor> theirs_;  ///< by rank
  launch::Gather gather_;
  launch::Sharing sharing_;
  job::FrameBuffer buffer_;
  std::uint32_t left_ = 0;
};

}  // namespace gex::sim
