#include "kinds/cuda/pinned_memory.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "base/immortal.h"
#include "base/round_up.h"

namespace gex::kinds::cuda {

namespace {

/// A smaller copy is as fast without.
constexpr std::size_t least_worth = std::size_t{64} << 10;
constexpr std::size_t piece_bytes = std::size_t{32} << 20;

/// A segment, of which some pieces are registered.
struct PinnedSegment {
  HostRange range;
  enum class Piece : unsigned char { untouched, pinned, of_client };
  std::vector<Piece> pieces;
  std::byte* piece(std::size_t number) const { return range.begin + number * piece_bytes; }
  std::size_t bytes_of(std::size_t number) const {
    return std::min(piece_bytes, range.bytes - number * piece_bytes);
  }
};

struct Pins {
  std::mutex mutex;
  const Driver* driver = nullptr;  ///< and a context, once a piece is registered
  Context context = nullptr;
  std::map<const std::byte*, PinnedSegment> segments;
  bool refused = false;  ///< once: the machine allows no more
};
Immortal<Pins> the_pins;
/// There has been a segment of which a piece is registered. Relaxed: it is read behind the call
/// that has set it.
std::atomic<bool> any_pinned{false};

/// The segment that holds an address; under the lock.
PinnedSegment* find_pinned(Pins& pins, const std::byte* address) {
  auto behind = pins.segments.upper_bound(address);
  if (behind == pins.segments.begin()) return nullptr;
  PinnedSegment& segment = std::prev(behind)->second;
  return static_cast<std::size_t>(address - segment.range.begin) < segment.range.bytes ? &segment
                                                                                       : nullptr;
}

}  // namespace

void pin(const Driver& driver, Context context, const HostRange& range, const void* address,
         std::size_t bytes) noexcept {
  static const bool wanted = env::boolean(env::Variable::cuda_pin);
  if (!wanted || bytes < least_worth) return;
  Pins& pins = the_pins.get();
  const std::lock_guard lock(pins.mutex);
  if (pins.refused) return;
  pins.driver = &driver;
  pins.context = context;
  const CurrentContext current(driver, context);
  if (current.error() != success) return;
  PinnedSegment& segment = pins.segments[range.begin];
  if (segment.pieces.empty()) {
    segment.range = range;
    segment.pieces.resize(quotient_up(range.bytes, piece_bytes));
  }
  const auto first = static_cast<std::size_t>(static_cast<const std::byte*>(address) - range.begin);
  for (std::size_t i = first / piece_bytes; i <= (first + bytes - 1) / piece_bytes; ++i) {
    if (segment.pieces[i] != PinnedSegment::Piece::untouched) continue;
    const Result error =
        driver.register_host(segment.piece(i), segment.bytes_of(i), host_memory_portable);
    if (error != success && error != error_already_registered) {
      // Copies go on without.
      pins.refused = true;
      inform("memory kinds: the host's memory is copied unregistered: %s",
             describe(driver, "cuMemHostRegister", error).c_str());
      return;
    }
    segment.pieces[i] =
        error == success ? PinnedSegment::Piece::pinned : PinnedSegment::Piece::of_client;
    any_pinned.store(true, std::memory_order_relaxed);
  }
}

std::size_t pinned_alike(const void* address, std::size_t bytes) noexcept {
  if (!any_pinned.load(std::memory_order_relaxed)) return bytes;
  Pins& pins = the_pins.get();
  const std::lock_guard lock(pins.mutex);
  const auto* const at = static_cast<const std::byte*>(address);
  const PinnedSegment* const segment = find_pinned(pins, at);
  if (segment == nullptr) return bytes;
  const std::size_t in_piece = static_cast<std::size_t>(at - segment->range.begin) % piece_bytes;
  return std::min(bytes, piece_bytes - in_piece);
}

void unpin(const void* begin) {
  if (!any_pinned.load(std::memory_order_relaxed)) return;
  Pins& pins = the_pins.get();
  const std::lock_guard lock(pins.mutex);
  const auto found = pins.segments.find(static_cast<const std::byte*>(begin));
  if (found == pins.segments.end()) return;
  const CurrentContext current(*pins.driver, pins.context);
  for (std::size_t i = 0; i < found->second.pieces.size(); ++i)
    // An error cannot be mended, and at the end of the process the driver may have ended first.
    if (found->second.pieces[i] == PinnedSegment::Piece::pinned)
      static_cast<void>(pins.driver->unregister_host(found->second.piece(i)));
  pins.segments.erase(found);
}

}  // namespace gex::kinds::cuda
