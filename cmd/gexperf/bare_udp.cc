#include "bare_udp.h"

#include <algorithm>

#include "child.h"

namespace gexperf {

namespace {

constexpr std::size_t moved = std::size_t{512} << 20;
constexpr std::size_t exchanges = 20000;

}  // namespace

bool time_bare_udp(const Plan& plan, const Row& row, double& us, double& used_ns,
                   std::string& trouble) {
  const bool is_flood = row.bare != Bare::ping_pong;
  const Finished done =
      run({plan.worker_folder + "/gexperf-udp-bare",
           row.bare == Bare::flood ? "flood"
           : is_flood              ? "single_flood"
                                   : "ping_pong",
           std::to_string(row.bare_bytes),
           std::to_string(is_flood ? std::max<std::size_t>(1, moved / row.bare_bytes) : exchanges),
           std::to_string(plan.processors[0]), std::to_string(plan.processors[1])});
  used_ns += done.processor_ns;
  if (done.succeeded && parse_last_column(done.output, 0, us)) return true;
  trouble = "gexperf-udp-bare failed: " + done.trouble;
  return false;
}

}  // namespace gexperf
