#pragma once
// The secret of a job of several hosts, by which guardians and root authenticate each other without
// sending it.

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace gex::launch {

class Secret {
 public:
  static constexpr std::size_t size = 16;
  using Bytes = std::array<std::byte, size>;

  explicit Secret(const Bytes& bytes) noexcept : bytes_(bytes) {}
  /// A new secret; empty if the kernel provides no random numbers.
  static std::optional<Secret> generate() noexcept;

  const Bytes& bytes() const noexcept { return bytes_; }

  /// The message authentication code of `message` under the secret: SipHash-2-4 with 128 bits.
  Bytes prove(std::span<const std::byte> message) const noexcept;

 private:
  Bytes bytes_;
};

/// Compares in constant time.
bool equal(const Secret::Bytes& one, const Secret::Bytes& other) noexcept;

}  // namespace gex::launch
