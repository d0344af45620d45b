// The rows of `cuda`: puts and gets of a device's memory, each against the bare driver's copy.

#include <deque>
#include <string>

#include "catalogue.h"

namespace gexperf {

namespace {

constexpr std::string_view small = "8";
constexpr std::string_view large = "67108864";
constexpr std::string_view sizes[] = {small, "4096", "65536", "1048576", large};
/// Memory of the ends: the local one, then the one at the peer.
constexpr std::string_view ends[] = {"host.device", "device.host", "device.device"};
constexpr std::string_view by_messages = "GEX_CUDA_SHARE=off";

constexpr double no_budget = 0;
constexpr double waited_for = 1.15;
constexpr double bandwidth = 1 / 0.97;
constexpr double flood = 1.2;
constexpr double strided = 1.1;
/// The first put into a segment that was just published.
constexpr double first_put_ns = 5e6;
/// A poll may take longer where there is a kind.
constexpr double poll_ns = 1;

double budget_of(std::string_view size) {
  return size == small ? waited_for : size == large ? bandwidth : no_budget;
}

/// Names live as long as the catalogue.
std::string_view kept(std::string name) {
  static std::deque<std::string> names;
  return names.emplace_back(std::move(name));
}

Row row(std::string_view name, std::string_view measurement, std::string_view size,
        std::string_view memory, double budget) {
  return {.name = name,
          .group = Group::cuda,
          .size = size,
          .measurement = measurement,
          .held = budget == no_budget ? Budget::none : Budget::ratio,
          .budget = budget,
          .bytes = size,
          .place = memory};
}

/// cuda.put.host.device.8, for example.
Row transfer(std::string_view measurement, std::string_view memory, std::string_view size,
             double budget) {
  const std::string name = std::string(measurement) + "." + std::string(memory) + ".";
  return row(kept(name + std::string(size)), measurement, size, memory, budget);
}

/// To a peer whose memory this process cannot open.
Row messages(std::string_view name, std::string_view measurement, std::string_view size,
             std::string_view memory) {
  Row made = row(name, measurement, size, memory, no_budget);
  made.environment = by_messages;
  return made;
}

Row first_put() {
  Row made{.name = "cuda.first_put",
           .group = Group::cuda,
           .size = "64 MiB",
           .measurement = "cuda.first_put",
           .held = Budget::value,
           .budget = first_put_ns};
  return made;
}

/// The gain of a kernel for small puts.
Row kernel_put() {
  Row made{.name = "cuda.put.kernel.8",
           .group = Group::cuda,
           .size = small,
           .measurement = "cuda.put.kernel"};
  return made;
}

Row idle_poll() {
  Row made{.name = "cuda.poll.idle",
           .group = Group::cuda,
           .size = "2 rings",
           .measurement = "cuda.poll.idle",
           .held = Budget::excess,
           .budget = poll_ns};
  made.against = Against::no_kind;
  return made;
}

}  // namespace

std::vector<Row> cuda_rows() {
  std::vector<Row> rows;
  for (const std::string_view measurement : {"cuda.put", "cuda.get"})
    for (const std::string_view memory : ends)
      for (const std::string_view size : sizes)
        rows.push_back(transfer(measurement, memory, size, budget_of(size)));
  const Row others[] = {
      transfer("cuda.put", "host.host", small, no_budget),
      transfer("cuda.put", "host.host", "1048576", no_budget),
      transfer("cuda.put", "self.host.device", small, waited_for),
      transfer("cuda.put", "self.device.device", small, waited_for),
      transfer("cuda.put", "self.host.device", large, bandwidth),
      transfer("cuda.put", "self.device.device", large, bandwidth),
      transfer("cuda.put.flood", "host.device", small, flood),
      transfer("cuda.put.flood", "host.device", "4096", flood),
      transfer("cuda.put.flood", "host.device", "65536", flood),
      transfer("cuda.put.flood", "device.device", small, flood),
      transfer("cuda.get.flood", "host.device", small, flood),
      transfer("cuda.get.flood", "host.device", "4096", flood),
      transfer("cuda.put.strided", "device.device", "524288", strided),
      transfer("cuda.get.strided", "host.device", "524288", strided),
      messages("cuda.put.messages.host.device.8", "cuda.put", small, "host.device"),
      messages("cuda.put.messages.host.device.65536", "cuda.put", "65536", "host.device"),
      messages("cuda.put.messages.device.device.67108864", "cuda.put", large, "device.device"),
      messages("cuda.get.messages.host.device.67108864", "cuda.get", large, "host.device"),
      kernel_put(),
      first_put(),
      idle_poll(),
  };
  rows.insert(rows.end(), std::begin(others), std::end(others));
  return rows;
}

}  // namespace gexperf
