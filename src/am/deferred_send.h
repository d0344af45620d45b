#pragma once
// Sends that found no room in a call which must not wait: polls go on with them.

#include <memory>

namespace gex::rma {

/// Something to send. It ends when `advance` has answered true.
class Kept {
 public:
  Kept() = default;
  virtual ~Kept() = default;
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  /// Sends what it can without waiting; whether nothing is left. One thread at a time.
  virtual bool advance() noexcept = 0;
};

/// Leaves it to the polls of any thread. May be called in handlers.
void keep(std::unique_ptr<Kept> item) noexcept;

/// Start-up only.
void start_kept();

}  // namespace gex::rma
