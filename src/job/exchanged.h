#pragma once
// The contributions of all ranks of the job to an exchange, in rank order. More than a
// kilobyte is in a memory file of the guardian's, which all ranks of the host map: such a table is
// there once on a host, not once in each rank.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/os_mapping.h"

namespace gex::job {

/// Counts of what this process and its guardian have sent each other in messages that are waited
/// for: to join, in exchanges, to share descriptors. Bytes are those of payload in the messages.
struct StartCounts {
  std::uint64_t exchanges = 0;
  std::uint64_t sent = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received = 0;
  std::uint64_t received_bytes = 0;
};

class Exchanged {
 public:
  Exchanged() = default;
  explicit Exchanged(std::vector<std::byte> bytes) noexcept : own_(std::move(bytes)) {}
  explicit Exchanged(os::Mapping table) noexcept : table_(std::move(table)) {}

  /// They do not change. Valid as long as this object, or the one that it was moved to.
  std::span<const std::byte> bytes() const noexcept {
    return table_ ? std::span<const std::byte>(table_.bytes()) : std::span<const std::byte>(own_);
  }
  /// As values that all ranks gave one of.
  template <class Value>
  std::span<const Value> values() const noexcept {
    return {reinterpret_cast<const Value*>(bytes().data()), bytes().size() / sizeof(Value)};
  }

 private:
  std::vector<std::byte> own_;
  os::Mapping table_;
};

}  // namespace gex::job
