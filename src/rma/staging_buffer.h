#pragma once
// A buffer of the host's for the payload of a message, in memory that copies of a kind reach fast,
// or else any. Some are kept for later copies of kinds of that class.
//
// Thread rules: any; one thread at a time uses a buffer.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/completion.h"
#include "core/memory.h"

namespace gex::rma {

/// So many buffers of one transfer are copied to, or wait for room, at a time.
inline constexpr std::size_t max_staged_ahead = 8;

class StagingBuffer {
 public:
  /// A buffer of max_medium_payload bytes. If as many as are kept are in use: null if `may_refuse`,
  /// else one that is allocated for once.
  static std::unique_ptr<StagingBuffer> of(const MemoryKind& kind, bool may_refuse) noexcept;
  ~StagingBuffer();
  StagingBuffer(const StagingBuffer&) = delete;
  StagingBuffer& operator=(const StagingBuffer&) = delete;

  std::byte* bytes() noexcept { return bytes_; }
  /// The target of copies to or from it, and of how many; without `expect`, of one.
  CompletionTarget copied() noexcept { return &copied_; }
  void expect(std::uint32_t copies) noexcept { copies_ = copies; }
  bool is_copied() const noexcept { return StdCompletion::load_acquire(copied_) == copies_; }

 private:
  StagingBuffer(std::byte* bytes, bool is_kept, net::MemoryClass of_class) noexcept
      : bytes_(bytes), is_kept_(is_kept), class_(of_class) {}

  std::byte* bytes_;
  bool is_kept_;
  net::MemoryClass class_;
  std::uint32_t copies_ = 1;
  StdCompletion::Word copied_{0};
};

}  // namespace gex::rma
