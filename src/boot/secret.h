#pragma once
// The secret of a job that spans hosts: whoever connects must show that it knows it, without saying
// it.

#include <array>
#include <cstddef>
#include <optional>
#include <span>

namespace gex::boot {

class Secret {
 public:
  static constexpr std::size_t size = 16;
  using Bytes = std::array<std::byte, size>;

  explicit Secret(const Bytes& bytes) noexcept : bytes_(bytes) {}
  /// A new one; none when the kernel has no random numbers to give.
  static std::optional<Secret> draw() noexcept;

  const Bytes& bytes() const noexcept { return bytes_; }

  /// What only who knows the secret can say of `message`: SipHash-2-4 of 128 bits, which is a
  /// message authentication code.
  Bytes prove(std::span<const std::byte> message) const noexcept;

 private:
  Bytes bytes_;
};

/// Compares in a time that says nothing about where the two differ.
bool equal(const Secret::Bytes& one, const Secret::Bytes& other) noexcept;

}  // namespace gex::boot
