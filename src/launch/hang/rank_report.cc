#include "launch/hang/rank_report.h"

#include <algorithm>

#include "launch/hang/report_archive.h"

namespace gex::launch {

std::uint32_t TeamReport::calls(job::OpKind kind) const noexcept {
  switch (kind) {
    case job::OpKind::barrier:
      return barriers;
    case job::OpKind::collective:
      return collectives;
    case job::OpKind::agreement:
      return agreements;
    case job::OpKind::named_barrier:
      return named_barriers;
    default:
      return 0;
  }
}

void add_stacks(std::vector<RankReport>& picture, const std::vector<RankReport>& stacks) {
  for (const RankReport& from : stacks) {
    const auto rank = std::ranges::lower_bound(picture, from.rank, {}, &RankReport::rank);
    if (rank == picture.end() || rank->rank != from.rank || rank->process != from.process) continue;
    for (const ThreadReport& thread : from.threads)
      for (ThreadReport& seen : rank->threads)
        if (seen.kernel_thread == thread.kernel_thread) seen.backtrace = thread.backtrace;
  }
}

std::vector<std::byte> encode(const std::vector<RankReport>& reports) {
  ReportWriter writer;
  writer.field(reports);
  return writer.take();
}

std::optional<std::vector<RankReport>> decode(std::span<const std::byte> bytes) {
  ReportReader reader(bytes);
  std::vector<RankReport> reports;
  reader.field(reports);
  if (reader.failed() || !reader.at_end()) return std::nullopt;
  return reports;
}

}  // namespace gex::launch
