#include "job/line_output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/env.h"

namespace gex::job {

namespace {

bool is_pipe(int descriptor) noexcept {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode);
}

[[gnu::constructor(101)]] void print_by_lines_at_load() {
  print_by_lines();
}

}  // namespace

void print_by_lines() noexcept {
  static bool done = false;
  if (std::exchange(done, true)) return;
  // A wrapper between gexrun and the rank may have redirected its output to a file of its own.
  const bool relayed = env::raw(env::Variable::job) != nullptr && is_pipe(STDOUT_FILENO);
  const bool shared = env::raw(env::Variable::pshm_nodes) != nullptr && isatty(STDOUT_FILENO) == 0;
  if (relayed || shared) std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
}

}  // namespace gex::job
