#include "bare_udp.h"

#include <algorithm>
#include <sstream>

#include "child.h"

namespace gexperf {

namespace {

constexpr std::size_t moved = std::size_t{512} << 20;
constexpr std::size_t exchanges = 20000;

}  // namespace

bool time_bare_udp(const Plan& plan, BareUdp what, std::size_t bytes, double& ns, double& used_ns,
                   std::string& trouble) {
  const bool is_flood = what != BareUdp::ping_pong;
  const Finished done =
      run({plan.worker_folder + "/gexperf-udp-bare",
           what == BareUdp::flood ? "flood"
           : is_flood             ? "single_flood"
                                  : "ping_pong",
           std::to_string(bytes),
           std::to_string(is_flood ? std::max<std::size_t>(1, moved / bytes) : exchanges),
           std::to_string(plan.processors[0]), std::to_string(plan.processors[1])});
  used_ns += done.processor_ns;
  double microseconds = 0;
  std::istringstream output(done.output);
  if (!done.succeeded || !(output >> microseconds)) {
    trouble = "gexperf-udp-bare failed: " + done.trouble;
    return false;
  }
  ns = microseconds * 1e3;
  return true;
}

}  // namespace gexperf
