#include "bare_ofi.h"

#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/shell_word.h"
#include "child.h"
#include "two_ends.h"

namespace gexperf {

namespace {

constexpr const char* ping_pong = "fi_pingpong";

/// Bytes that one measurement moves at least, and the most exchanges it makes.
constexpr std::size_t least_moved = std::size_t{256} << 20;
constexpr std::size_t max_exchanges = 20000;

/// Where a message's microseconds stand in the last line of fi_pingpong's:
/// "8  20k  =20k  312k  0.29s  1.09  7.31 0.14".
constexpr int ping_pong_column = 6;

/// Where the two ends run, and where the client finds the server.
struct Ends {
  std::string server;
  std::string client;
  std::string address;
};

bool find_ends(const Plan& plan, Ends& ends, std::string& trouble) {
  if (!plan.hosts) {
    const auto on = [&plan](std::size_t end) {
      return "taskset -c " + std::to_string(plan.processors[end]);
    };
    ends = {on(0), on(1), "127.0.0.1"};
    return true;
  }
  ends.server = plan.rsh + ' ' + plan.hosts->first;
  ends.client = plan.rsh + ' ' + plan.hosts->second;
  const Finished asked = run({"sh", "-c", "$1 hostname -I", "sh", ends.server});
  std::istringstream(asked.output) >> ends.address;
  if (asked.succeeded && !ends.address.empty()) return true;
  trouble = "host " + plan.hosts->first + " does not print its address";
  return false;
}

/// The commands of the two ends.
struct Tool {
  std::string name;
  std::string server;
  std::string client;
};

std::string flood_of(const Plan& plan) {
  return plan.worker_folder + "/gexperf-fi-flood";
}

Tool tool_for(const Plan& plan, const Row& row, const std::string& address) {
  const std::string exchanges =
      std::to_string(std::min(max_exchanges, least_moved / row.bare_bytes));
  const std::string size = std::to_string(row.bare_bytes);
  const std::string port = port_of_two_ends();
  if (row.bare == Bare::flood) {
    const std::string common = gex::shell_word(flood_of(plan)) + ' ' +
                               gex::shell_word(plan.provider) + ' ' + size + ' ' + exchanges + ' ' +
                               port;
    return {"gexperf-fi-flood", common, common + ' ' + address};
  }
  std::string common = ping_pong;
  common += " -p " + gex::shell_word(plan.provider) + " -e rdm -S " + size + " -I " + exchanges;
  return {ping_pong, common + " -B " + port, common + " -P " + port + ' ' + address};
}

}  // namespace

std::string why_no_bare_ofi(const Plan& plan) {
  for (const char* program : {ping_pong, "taskset"})
    if (!is_in_path(program)) return std::string(program) + " is not there (package libfabric-bin)";
  if (access(flood_of(plan).c_str(), X_OK) != 0)
    return flood_of(plan) + " is not there: gexperf was built without libfabric";
  return {};
}

bool time_bare_ofi(const Plan& plan, const Row& row, double& us, double& used_ns,
                   std::string& trouble) {
  Ends ends;
  if (!find_ends(plan, ends, trouble)) return false;
  const Tool tool = tool_for(plan, row, ends.address);
  const Finished done = run_two_ends({ends.server, ends.client, tool.server, tool.client});
  used_ns += done.processor_ns;
  const int column = row.bare == Bare::ping_pong ? ping_pong_column : 0;
  if (done.succeeded && parse_last_column(done.output, column, us)) return true;
  trouble = tool.name + " over " + plan.provider + " failed" +
            (done.succeeded ? "" : ": " + done.trouble);
  return false;
}

}  // namespace gexperf
