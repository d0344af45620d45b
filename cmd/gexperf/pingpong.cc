#include "pingpong.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "child.h"

namespace gexperf {

namespace {

constexpr const char* tool = "fi_pingpong";

/// Both ends, each on a processor or a host of its own, as $1 and $2 say: each runs a shell that is
/// told what to do, since what reaches another host may take words apart. The client asks until the
/// server is there. A server that lost its client, or whose $1 has been killed, ends by itself.
constexpr const char* script = R"(
trap 'kill $server; exit 1' INT TERM HUP
$1 sh >/dev/null 2>&1 <<END &
exec timeout 120 fi_pingpong -p '$4' -e rdm -S $5 -I $6 -B $7
END
server=$!
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  sleep 0.1
  if $2 sh 2>/dev/null <<END
exec fi_pingpong -p '$4' -e rdm -S $5 -I $6 -P $7 $3
END
  then
    wait $server
    exit 0
  fi
done
kill $server
exit 1
)";

/// Bytes that one measurement moves at least, and the most exchanges it makes.
constexpr std::size_t least_moved = std::size_t{256} << 20;
constexpr std::size_t most_exchanges = 20000;

constexpr int first_port = 20000;
constexpr int ports = 10000;

bool is_in_path(const char* program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

/// Of the last line, the microseconds a message took: "8  20k  =20k  312k  0.29s  1.09  7.31 0.14".
bool parse_microseconds(const std::string& output, double& microseconds) {
  std::string last;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) last = line;
  std::istringstream columns(last);
  std::string skipped;
  for (int column = 0; column < 6; ++column) columns >> skipped;
  return static_cast<bool>(columns >> microseconds);
}

/// Where the two ends run, and where the client finds the server.
struct Ends {
  std::string server;
  std::string client;
  std::string address;
};

bool find_ends(const Plan& plan, Ends& ends, std::string& trouble) {
  if (plan.hosts.empty()) {
    const auto on = [&plan](std::size_t end) {
      return "taskset -c " + std::to_string(plan.processors[end]);
    };
    ends = {on(0), on(1), "127.0.0.1"};
    return true;
  }
  ends.server = plan.rsh + ' ' + plan.hosts[0];
  ends.client = plan.rsh + ' ' + plan.hosts[1];
  const Finished asked = run({"sh", "-c", "$1 hostname -I", "sh", ends.server});
  std::istringstream(asked.output) >> ends.address;
  if (asked.succeeded && !ends.address.empty()) return true;
  trouble = "host " + plan.hosts[0] + " does not tell its address";
  return false;
}

}  // namespace

std::string why_no_pingpong() {
  for (const char* program : {tool, "taskset"})
    if (!is_in_path(program)) return std::string(program) + " is not there (package libfabric-bin)";
  return {};
}

bool time_pingpong(const Plan& plan, std::size_t bytes, double& ns, double& used_ns,
                   std::string& trouble) {
  Ends ends;
  if (!find_ends(plan, ends, trouble)) return false;
  const std::size_t exchanges = std::min(most_exchanges, least_moved / bytes);
  const Finished done = run({"sh", "-c", script, "sh", ends.server, ends.client, ends.address,
                             plan.provider, std::to_string(bytes), std::to_string(exchanges),
                             std::to_string(first_port + getpid() % ports)});
  used_ns += done.processor_ns;
  double microseconds = 0;
  if (!done.succeeded || !parse_microseconds(done.output, microseconds)) {
    trouble = std::string(tool) + " over " + plan.provider + " failed" +
              (done.succeeded ? "" : ": " + done.trouble);
    return false;
  }
  ns = microseconds * 1e3;
  return true;
}

}  // namespace gexperf
