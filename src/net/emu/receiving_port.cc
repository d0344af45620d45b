#include "net/emu/receiving_port.h"

#include <algorithm>

namespace gex::net::emu {

namespace {

/// Shorter gaps come from rounding.
constexpr Tick shortest_gap = 8;

}  // namespace

Tick ReceivingPort::reserve(Tick now, Tick earliest, Tick duration) noexcept {
  while (duration != 0) {
    const Tick taken = take_from_gap(now, earliest, duration);
    if (taken == 0) break;
    duration -= taken;
  }
  if (duration == 0) return earliest;
  // Relaxed: the word orders nothing but itself.
  Tick known = free_from_.load(std::memory_order_relaxed);
  Tick start;
  do {
    start = std::max(known, earliest);
  } while (!free_from_.compare_exchange_weak(known, start + duration, std::memory_order_relaxed));
  add_gap(now, known, start);
  return start + duration;
}

Tick ReceivingPort::take_from_gap(Tick now, Tick& earliest, Tick duration) noexcept {
  while (last_gap_.load(std::memory_order_relaxed) > earliest) {
    Gap* first = nullptr;
    Tick first_from = 0, first_start = 0, first_end = 0;
    for (Gap& gap : gaps_) {
      // Acquire: with a beginning comes its end, unless that is another gap's already, and then the
      // exchange below fails.
      const Tick from = gap.from.load(std::memory_order_acquire);
      const Tick to = gap.to.load(std::memory_order_relaxed);
      const Tick start = std::max(from, earliest);
      if (start >= to || (first != nullptr && start >= first_start)) continue;
      first = &gap;
      first_from = from;
      first_start = start;
      first_end = std::min(to, start + duration);
    }
    if (first == nullptr) return 0;
    if (!first->from.compare_exchange_strong(first_from, first_end, std::memory_order_relaxed))
      continue;
    add_gap(now, first_from, first_start);
    earliest = first_end;
    return first_end - first_start;
  }
  return 0;
}

void ReceivingPort::add_gap(Tick now, Tick from, Tick to) noexcept {
  from = std::max(from, now);
  if (from + shortest_gap > to) return;
  for (Gap& gap : gaps_) {
    Tick known = gap.from.load(std::memory_order_acquire);
    const Tick end = gap.to.load(std::memory_order_relaxed);
    if (known == closed || (known < end && end > now)) continue;
    // Acquire: nothing of this is written before it is closed.
    if (!gap.from.compare_exchange_strong(known, closed, std::memory_order_acquire)) continue;
    gap.to.store(to, std::memory_order_relaxed);
    gap.from.store(from, std::memory_order_release);
    Tick last = last_gap_.load(std::memory_order_relaxed);
    while (last < to && !last_gap_.compare_exchange_weak(last, to, std::memory_order_relaxed)) {
    }
    return;
  }
}

}  // namespace gex::net::emu
