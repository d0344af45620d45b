#include "bare_ucx.h"

#include <algorithm>
#include <vector>

#include "two_ends.h"

namespace gexperf {

namespace {

constexpr const char* perftest = "ucx_perftest";

/// Bytes that one measurement moves at least, and the most operations it makes.
constexpr std::size_t least_put = std::size_t{512} << 20;
constexpr std::size_t max_operations = 50000;

/// Where an operation's microseconds, over the whole measurement, stand in the last line:
/// "50000,3.201,3.195,3.195,2.39,2.39,312981,312981".
constexpr int column = 3;

const char* test_for(Bare what) {
  switch (what) {
    case Bare::ping_pong:
      return "ucp_am_lat";
    case Bare::put_ping_pong:
      return "ucp_put_lat";
    default:
      return "ucp_put_bw";
  }
}

}  // namespace

std::string why_no_bare_ucx() {
#ifndef GEXPERF_HAS_UCX
  return "libgex was built without UCX";
#endif
  for (const char* program : {perftest, "taskset"})
    if (!is_in_path(program)) return std::string(program) + " is not there (package ucx-utils)";
  return {};
}

bool time_bare_ucx(const Plan& plan, const Row& row, double& us, double& used_ns,
                   std::string& trouble) {
  const std::string test = test_for(row.bare);
  // The row's environment chooses them, by the one variable.
  const std::string transports(row.environment.substr(row.environment.find('=') + 1));
  const std::size_t operations = std::min(max_operations, least_put / row.bare_bytes);
  const auto on = [&plan](std::size_t end) {
    return "taskset -c " + std::to_string(plan.processors[end]);
  };
  // Memory that is not UCX's own, which its shared memory would map: as libgex's segments.
  const std::string common = "env UCX_TLS=" + transports +
                             " UCX_ALLOC_PRIO=mmap UCX_WARN_UNUSED_ENV_VARS=n " + perftest +
                             " -p " + port_of_two_ends();
  const Finished done = run_two_ends(
      {on(0), on(1), common,
       common + " 127.0.0.1 -v -f -t " + test + " -s " + std::to_string(row.bare_bytes) + " -n " +
           std::to_string(operations) + " -w " + std::to_string(operations / 10)});
  used_ns += done.processor_ns;
  if (done.succeeded && parse_last_column(done.output, column, us)) return true;
  trouble = std::string(perftest) + " -t " + test + " over " + transports + " failed" +
            (done.succeeded ? "" : ": " + done.trouble);
  return false;
}

}  // namespace gexperf
