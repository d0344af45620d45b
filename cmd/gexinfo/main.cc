// gexinfo: what this libgex and this machine can do, and every environment variable.

#include <gasnetex.h>

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/start_process.h"
#include "base/env.h"
#include "base/error.h"
#include "base/error_environment.h"
#include "base/os_file.h"
#include "conduits.h"
#include "environment.h"
#include "facts.h"
#include "job/job.h"
#include "job/protocol.h"
#include "json.h"
#include "launch/client/hook.h"
#include "options.h"
#include "pairs.h"
#include "text.h"

namespace {

constexpr const char* name = "gexinfo";

/// This process's place in a job of gexrun; none when it is alone, or when GEX_JOB is no place,
/// which joining the job reports.
std::optional<gex::job::Membership> place() {
  std::string why;
  const auto text = gex::env::value(gex::env::Variable::job);
  return text ? gex::job::parse_membership(*text, why) : std::nullopt;
}

template <class Content>
void print(const Content& content, bool json) {
  if (json)
    gexinfo::print_json(content);
  else
    gexinfo::print_text(content);
}

int run(int count, char** arguments) {
  gex::os::fill_standard_descriptors();
  gex::follow_error_environment();
  gex::launch::register_launch_hook();
  const gexinfo::Reading reading = gexinfo::read_command_line(count, arguments);
  const auto membership = place();
  const bool speaks = !membership || membership->rank == 0;
  if (!reading.message.empty()) {
    return speaks ? reading.print(name) : reading.status;
  }

  gexinfo::look_beside_libgex();
  // Before the job is joined: that removes variables, and conduits are tried out by no rank.
  std::vector<gexinfo::EnvironmentRow> environment;
  gexinfo::Conduits conduits;
  if (speaks) {
    gex::env::warn_unknown();
    environment = gexinfo::environment();
    // A job of gexrun has its network; what others there are is not asked for.
    if (!reading.options.environment && !(reading.options.pairs && membership))
      conduits = gexinfo::find_conduits(membership ? membership->control : -1);
  }
  // The table needs no job; but an error in it is reported by one rank, before others find it.
  if (membership || !reading.options.environment) gex::job::Job::join();
  const bool reports = gex::speaks_for_job();
  if (reports) gex::env::check_values();
  if (gex::job::Job::joined()) gex::job::Job::current().barrier();
  if (reading.options.environment) {
    if (reports) print(environment, reading.options.json);
    return gex::cmd::finish_output(name);
  }

  gex::suppress_singleton_warning = true;
  gex_Client_t client{};
  gex_EP_t endpoint{};
  gex_TM_t team{};
  if (gex_Client_Init(&client, &endpoint, &team, "GEXINFO", &count, &arguments, 0) != GASNET_OK)
    gex::fatal("gexinfo: gex_Client_Init failed");
  if (reading.options.pairs) {
    const gexinfo::PairsFacts pairs =
        gexinfo::gather_pairs(conduits, reading.options.matrix, client, team);
    if (reports) print(pairs, reading.options.json);
  } else if (reports) {
    print(gexinfo::gather(std::move(conduits)), reading.options.json);
  }
  return gex::cmd::finish_output(name);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const std::exception& error) {
    gex::fatal("gexinfo: %s", error.what());
  }
}
