#include "machine.h"

#include <algorithm>

namespace gextrace {

namespace {

double transmission_of(const gex::net::emu::Model& model, std::uint64_t bytes) {
  return model.bandwidth == 0 ? 0 : static_cast<double>(bytes) / model.bandwidth * 1e9;
}

}  // namespace

double Machine::transmission(std::uint32_t from, std::uint32_t to,
                             std::uint64_t bytes) const noexcept {
  return transmission_of(between(from, to), bytes);
}

double Machine::one_way(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) const noexcept {
  const gex::net::emu::Model& model = between(from, to);
  return model.send_overhead + transmission_of(model, bytes) + model.latency +
         model.receive_overhead;
}

HostPorts::HostPorts(const Machine& machine, std::uint32_t ranks) : machine_(machine) {
  const std::size_t hosts = machine.host_of(ranks - 1) + std::size_t{1};
  half_ = static_cast<std::uint32_t>(hosts / 2);
  out_.resize(hosts);
  in_.resize(hosts);
  loads_.resize(hosts);
}

double HostPorts::reserve(double& free_from, double earliest, double duration) noexcept {
  const double start = std::max(free_from, earliest);
  free_from = start + duration;
  return start;
}

double HostPorts::send(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, double now) {
  const gex::net::emu::Model& model = machine_.network;
  const std::uint32_t source = machine_.host_of(from);
  if (model.gap != 0) now = reserve(links_[std::uint64_t{from} << 32 | to], now, model.gap);
  const double taken =
      std::max(transmission_of(model, bytes), model.rate == 0 ? 0 : 1e9 / model.rate);
  double departed = reserve(out_[source], now, taken);
  Load& load = loads_[source];
  ++load.messages;
  load.bytes += bytes;
  load.busy_ns += taken;
  if (model.bisection != 0 && (source < half_) != (machine_.host_of(to) < half_))
    departed = reserve(bisection_, departed, static_cast<double>(bytes) / model.bisection * 1e9);
  return departed + model.latency;
}

double HostPorts::receive(std::uint32_t to, std::uint64_t bytes, double now) {
  const double transmission = transmission_of(machine_.network, bytes);
  return reserve(in_[machine_.host_of(to)], now, transmission) + transmission;
}

}  // namespace gextrace
