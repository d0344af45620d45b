#include "net/emu/ports.h"

#include <algorithm>

#include "base/random.h"

namespace gex::net::emu {

namespace {

/// Takes `duration` of what the word guards, from `earliest` on or when it is free; returns when
/// that begins. Relaxed: the word orders nothing but itself.
Tick reserve(std::atomic<Tick>& free_from, Tick earliest, Tick duration) noexcept {
  if (duration == 0) return earliest;
  Tick known = free_from.load(std::memory_order_relaxed);
  Tick start;
  do {
    start = std::max(known, earliest);
  } while (!free_from.compare_exchange_weak(known, start + duration, std::memory_order_relaxed));
  return start;
}

}  // namespace

Timing timing_of(const Model& model, double ticks_per_second) noexcept {
  const auto ticks_of = [&](double nanoseconds) {
    return static_cast<Tick>(nanoseconds * ticks_per_second / 1e9);
  };
  const auto each = [&](double per_second) {
    return per_second == 0 ? 0 : ticks_per_second / per_second;
  };
  Timing timing;
  timing.latency = timing.message_latency = ticks_of(model.latency);
  timing.send_overhead = ticks_of(model.send_overhead);
  timing.receive_overhead = ticks_of(model.receive_overhead);
  timing.gap = ticks_of(model.gap);
  timing.port_gap = static_cast<Tick>(each(model.rate));
  timing.registration = ticks_of(model.registration);
  timing.jitter = ticks_of(model.jitter);
  timing.per_byte = each(model.bandwidth);
  timing.bisection_per_byte = each(model.bisection);
  return timing;
}

Ports::Ports(const Timing& timing, const Layout& layout, std::span<std::byte> memory,
             std::uint32_t rank, std::uint64_t seed)
    : timing_(timing),
      layout_(layout),
      memory_(memory),
      rank_(rank),
      seed_(SplitMix64(seed ^ SplitMix64(rank)())()),
      links_(layout.ranks()) {
}

Ports::Word& Ports::word(std::size_t offset) const noexcept {
  return *reinterpret_cast<Word*>(memory_.data() + offset);
}

Tick Ports::jitter_of(std::uint32_t peer, Kind kind, std::uint64_t number) const noexcept {
  if (timing_.jitter == 0) return 0;
  const std::uint64_t stream = SplitMix64(seed_ ^ (std::uint64_t{peer} * kinds + kind))();
  // A part of the longest, not a remainder: each job measures the clock, and its ticks are a
  // little more or less.
  __extension__ using Wide = unsigned __int128;
  return static_cast<Tick>(Wide{SplitMix64(stream + number)()} * (timing_.jitter + 1) >> 64);
}

Tick Ports::draw_jitter(std::uint32_t peer, Kind kind, std::atomic<std::uint64_t>& count) noexcept {
  if (timing_.jitter == 0) return 0;
  // Relaxed: a number.
  return jitter_of(peer, kind, count.fetch_add(1, std::memory_order_relaxed));
}

Tick Ports::inject(std::uint32_t peer, bool registered, Tick now) noexcept {
  const Tick overhead = timing_.send_overhead + (registered ? 0 : timing_.registration);
  const Tick begun = reserve(processor_, now, overhead) + overhead;
  return reserve(links_[peer].free_from, begun, timing_.gap);
}

Ports::Flight Ports::fly(std::uint32_t from, std::uint32_t to, std::size_t bytes, Tick latency,
                         Tick at_receiver, Tick called, Tick now) noexcept {
  const Tick transmission = nearest_tick(static_cast<double>(bytes) * timing_.per_byte);
  Tick departed =
      reserve(word(layout_.port_out(from)), now, std::max(transmission, timing_.port_gap));
  // What crosses the bisection has its last byte there when all of it has passed.
  Tick crossed = 0;
  const std::uint32_t half = layout_.ranks() / 2;
  if (timing_.bisection_per_byte != 0 && (from < half) != (to < half)) {
    const Tick crossing = nearest_tick(static_cast<double>(bytes) * timing_.bisection_per_byte);
    departed = reserve(word(layout_.bisection()), departed, crossing);
    crossed = departed + crossing + latency;
  }
  const Tick taken = std::max(transmission, at_receiver);
  auto& port = *reinterpret_cast<ReceivingPort*>(memory_.data() + layout_.port_in(to));
  const Tick admitted = port.reserve(called, departed + latency, taken) - taken;
  return {departed + transmission, std::max(admitted + transmission, crossed)};
}

Ports::Put Ports::put(std::uint32_t peer, std::size_t bytes, bool registered, Tick now) noexcept {
  const Flight there =
      fly(rank_, peer, bytes, timing_.latency, 0, now, inject(peer, registered, now));
  const Tick jitter = draw_jitter(peer, put_kind, links_[peer].puts);
  return {there.left, there.arrived + jitter + timing_.latency};
}

Tick Ports::get(std::uint32_t peer, std::size_t bytes, bool registered, Tick now) noexcept {
  const Tick asked = inject(peer, registered, now) + timing_.latency;
  const Tick arrived = fly(peer, rank_, bytes, timing_.latency, 0, now, asked).arrived;
  return arrived + draw_jitter(peer, get_kind, links_[peer].gets);
}

Tick Ports::message(Channel channel, std::uint32_t peer, std::uint32_t number, std::size_t bytes,
                    Tick now) noexcept {
  const Flight there = fly(rank_, peer, bytes, timing_.message_latency, timing_.receive_overhead,
                           now, inject(peer, true, now));
  const Tick jitter = jitter_of(peer, channel == reply_channel ? reply : request, number);
  return there.arrived + jitter + timing_.receive_overhead;
}

}  // namespace gex::net::emu
