#pragma once
// The reports of a job's ranks, put together from what their hosts have sent: in an agent that
// starts hosts, which sends one message for all of them, and in the coordinator.
//
//   guardian a --ranks--> branch b --ranks or classes--> coordinator
//   guardian b --ranks-->
//
// Each rank's report is kept while the job has few ranks. In a larger job only classes of equal
// ranks are (rank_classes.h), so that neither messages nor memory grow with the number of ranks.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "launch/hang/rank_classes.h"
#include "launch/hang/rank_report.h"

namespace gex::launch {

/// The content of reports that travel as bytes.
enum class ReportForm : std::uint32_t {
  ranks,   ///< a report of each rank
  classes  ///< RankClasses
};

class CollectedReports {
 public:
  /// The reports of a job of so many ranks.
  explicit CollectedReports(std::uint32_t ranks) : ranks_of_job_(ranks) {}

  /// Adds the reports of some ranks. Returns false if the bytes are invalid.
  bool add(ReportForm form, std::span<const std::byte> bytes);

  /// The reports that were added, as bytes of the form `form`.
  ReportForm form() const noexcept;
  std::vector<std::byte> encoded() const;

  /// All reports as classes: of few ranks each is one of its own. Nothing is kept.
  RankClasses take();

 private:
  std::uint32_t ranks_of_job_;
  std::vector<RankReport> ranks_;
  RankClasses classes_;
};

}  // namespace gex::launch
