#include "bare_ucx.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "two_ends.h"

namespace gexperf {

namespace {

constexpr const char* perftest = "ucx_perftest";

/// Bytes that one measurement moves at least, and the most operations it makes.
constexpr std::size_t least_put = std::size_t{512} << 20;
constexpr std::size_t max_operations = 50000;

struct Test {
  const char* name;
  bool is_one_way;  ///< of what libgex does there and back
};

Test test_for(BareUcx what) {
  switch (what) {
    case BareUcx::message:
      return {"ucp_am_lat", true};
    case BareUcx::put:
      return {"ucp_put_lat", true};
    default:
      return {"ucp_put_bw", false};
  }
}

/// Of the last line, the microseconds of one operation, over the whole measurement:
/// "50000,3.201,3.195,3.195,2.39,2.39,312981,312981".
bool parse_microseconds(const std::string& output, double& microseconds) {
  std::string last;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) last = line;
  std::replace(last.begin(), last.end(), ',', ' ');
  std::istringstream columns(last);
  double skipped = 0;
  return static_cast<bool>(columns >> skipped >> skipped >> skipped >> microseconds);
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

bool time_bare_ucx(const Plan& plan, const Row& row, double& ns, double& used_ns,
                   std::string& trouble) {
  const Test test = test_for(row.bare_ucx);
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
       common + " 127.0.0.1 -v -f -t " + test.name + " -s " + std::to_string(row.bare_bytes) +
           " -n " + std::to_string(operations) + " -w " + std::to_string(operations / 10)});
  used_ns += done.processor_ns;
  double microseconds = 0;
  if (!done.succeeded || !parse_microseconds(done.output, microseconds)) {
    trouble = std::string(perftest) + " -t " + test.name + " over " + transports + " failed" +
              (done.succeeded ? "" : ": " + done.trouble);
    return false;
  }
  ns = microseconds * 1e3 * (test.is_one_way ? 2 : 1);
  return true;
}

}  // namespace gexperf
