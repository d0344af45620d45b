#include "emu_limit.h"

#include <algorithm>
#include <optional>

#include "base/env.h"
#include "net/emu/model.h"

namespace gexperf {

namespace {

using gex::net::emu::Model;

/// A message without arguments has so much before its payload.
constexpr double header_bytes = 16;
/// A put or get of more from memory of no segment costs a registration.
constexpr double max_unregistered = 4096;

double wire_ns(const Model& model, double bytes) {
  return model.bandwidth == 0 ? 0 : bytes * 1e9 / model.bandwidth;
}

/// Between two of as many bytes, each of which takes a processor so long.
double interval_ns(const Model& model, double bytes, double overhead_ns) {
  const double rate_ns = model.rate == 0 ? 0 : 1e9 / model.rate;
  // Two ranks are on either side.
  const double crossing_ns = model.bisection == 0 ? 0 : bytes * 1e9 / model.bisection;
  return std::max({wire_ns(model, bytes), crossing_ns, rate_ns, model.gap, overhead_ns});
}

EmuTime time_of_transfers(const Model& model, double bytes, std::uint64_t under_way) {
  const double overhead_ns =
      model.send_overhead + (bytes > max_unregistered ? model.registration : 0);
  return {.alone_ns = overhead_ns + wire_ns(model, bytes) + 2 * model.latency,
          .interval_ns = interval_ns(model, bytes, overhead_ns),
          .under_way = under_way,
          .together = 1};
}

/// The time of messages, each of which ends when its sender receives the acknowledgement.
EmuTime time_of_messages(const Model& model, double payload_bytes, std::uint64_t under_way,
                         std::uint64_t together) {
  const auto one_way_ns = [&](double bytes) {
    return model.send_overhead + wire_ns(model, bytes) + model.latency + model.receive_overhead;
  };
  const double bytes = payload_bytes + header_bytes;
  return {.alone_ns = one_way_ns(bytes) + one_way_ns(header_bytes),
          .interval_ns =
              interval_ns(model, bytes, std::max(model.send_overhead, model.receive_overhead)),
          .under_way = under_way,
          .together = together};
}

EmuTime time_of(const Row& row, const Model& model, std::int64_t queue) {
  const auto bytes = static_cast<double>(row.emu_bytes);
  const auto messages = static_cast<std::uint64_t>(std::max<std::int64_t>(queue, 1));
  switch (row.over_emu) {
    case OverEmu::nothing:
      break;
    case OverEmu::transfer:
      return time_of_transfers(model, bytes, 1);
    case OverEmu::transfer_flood:
      return time_of_transfers(model, bytes, model.depth);
    case OverEmu::round_trip:
      return time_of_messages(model, bytes, 1, 1);
    case OverEmu::message_flood:
      // Requests without an answer: their credits come back once half of them are owed.
      return time_of_messages(model, bytes, messages, std::max<std::uint64_t>(messages / 2, 1));
  }
  return {};
}

}  // namespace

std::string why_no_emu_time(const std::string& model) {
  std::string why;
  const std::optional<Model> read = gex::net::emu::parse_model(model, why);
  if (!read) return why;
  if (read->latency == 0 || read->jitter != 0 || read->total != 0 || !read->native)
    return "'" + model + "': expected a latency, and no jitter, total or native=0";
  return {};
}

std::int64_t emu_queue() {
  return gex::env::integer(gex::env::Variable::emu_queue);
}

EmuTime emu_time(const Row& row, const std::string& model, std::int64_t queue) {
  std::string why;
  return time_of(row, gex::net::emu::parse_model(model, why).value(), queue);
}

}  // namespace gexperf
