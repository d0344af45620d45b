#include "two_ends.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace gexperf {

namespace {

/// Both ends, each on a processor or a host of its own, as $1 and $2 have it: each runs a shell
/// that gets its commands, $3 and $4, since what reaches another host may take words apart. The
/// client asks until the server is there. A server that lost its client, or whose $1 has been
/// killed, ends by itself.
constexpr const char* script = R"(
trap 'kill $server; exit 1' INT TERM HUP
$1 sh >/dev/null 2>&1 <<END &
exec timeout 120 $3
END
server=$!
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  sleep 0.1
  if $2 sh 2>/dev/null <<END
exec $4
END
  then
    wait $server
    exit 0
  fi
done
kill $server
exit 1
)";

constexpr int first_port = 20000;
constexpr int ports = 10000;

}  // namespace

Finished run_two_ends(const TwoEnds& ends) {
  return run({"sh", "-c", script, "sh", ends.on_server, ends.on_client, ends.server, ends.client});
}

std::string port_of_two_ends() {
  return std::to_string(first_port + getpid() % ports);
}

bool is_in_path(const char* program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((std::filesystem::path(folder) / program).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace gexperf
