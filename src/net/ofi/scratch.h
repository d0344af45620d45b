#pragma once
// A page of a rank's that peers may write to without harm: what they write is not read. Writes
// there show that earlier ones have arrived (one_sided.h), and a rank tries its provider on it
// (trial.h).

#include <cstddef>
#include <string>

#include "net/ofi/domain.h"
#include "net/ofi/registration.h"

namespace gex::net::ofi {

class Scratch {
 public:
  static constexpr std::size_t size = 4096;

  /// Without memory, or if it cannot be registered, there is none, and `error` is set.
  Scratch(Registrar& registrar, std::string& error);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::byte* memory() const noexcept { return memory_; }
  /// The descriptor of the memory for this rank's operations; null where the provider needs none.
  void* descriptor() const noexcept;
  /// The place of the byte at `offset`, for operations of peers.
  Place place_of(std::size_t offset) const noexcept;

 private:
  std::byte* memory_ = nullptr;
  bool by_address_;
  Region region_;
};

}  // namespace gex::net::ofi
