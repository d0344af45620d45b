#include "launch/hang/rank_report.h"

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
