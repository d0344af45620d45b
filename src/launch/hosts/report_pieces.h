#pragma once
// Hosts' reports of their ranks, put together from the frames that they come in.

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "job/protocol.h"
#include "launch/hang/collected_reports.h"

namespace gex::launch {

class ReportPieces {
 public:
  explicit ReportPieces(std::size_t hosts) : received_(hosts) {}

  /// Adds a piece from a host, and sets `whole` if it was the last. Returns false if it is
  /// malformed.
  bool add(std::uint32_t host, const job::Received& frame,
           std::optional<std::vector<std::byte>>& whole) {
    const job::FrameHeader& header = frame.header;
    std::vector<std::byte>& bytes = received_[host];
    if (header.offset == 0) bytes.clear();
    if (header.count > static_cast<std::uint32_t>(ReportForm::classes) ||
        header.offset != bytes.size() || header.total > job::max_exchange ||
        frame.payload.size() > header.total - header.offset) {
      return false;
    }
    bytes.insert(bytes.end(), frame.payload.begin(), frame.payload.end());
    if (bytes.size() == header.total) whole = std::exchange(bytes, {});
    return true;
  }

 private:
  std::vector<std::vector<std::byte>> received_;  ///< by host, until they are whole
};

}  // namespace gex::launch
