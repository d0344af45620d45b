#include "launch/local/local_job.h"

#include <unistd.h>

#include "launch/process_tree.h"
#include "launch/report.h"

namespace gex::launch {

LocalJob::LocalJob(const Launch& launch_here)
    : launch(launch_here), part(launch_here.part()), ranks(part.ranks.size()) {
}

void LocalJob::mark_gone(LocalRank& rank) noexcept {
  rank.gone = true;
  ++gone_count_;
}

void LocalJob::request_end(const job::Ending& asked, const std::string& text) {
  if (ending) return;
  coordinator->end(page.claim(asked), text);
}

void LocalJob::fault(std::uint32_t rank, const std::string& what) {
  request_end({1, rank}, name_of(rank) + ' ' + what);
}

void LocalJob::died(std::uint32_t rank, const std::string& how) {
  request_end({1, rank, /*death=*/true}, name_of(rank) + ' ' + how);
}

std::string LocalJob::name_of(std::uint32_t rank) const {
  const LocalRank& self = at(rank);
  return job::rank_name(rank, part.name,
                        self.joined_process != 0 ? self.joined_process : self.process);
}

std::string LocalJob::moment_of(std::uint32_t rank) const {
  if (!at(rank).joined) return " before it had joined the job";
  return page.last_call(index_of(rank))->describe();
}

void LocalJob::fail_start(const std::string& why) const {
  report(launch.program_name, "%s", why.c_str());
  kill_descendants({}, [](pid_t, int) {});
  _exit(1);
}

}  // namespace gex::launch
