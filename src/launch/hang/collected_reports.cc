#include "launch/hang/collected_reports.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gex::launch {

ReportForm CollectedReports::form() const noexcept {
  return ranks_of_job_ > max_ranks_in_full ? ReportForm::classes : ReportForm::ranks;
}

bool CollectedReports::add(ReportForm given, std::span<const std::byte> bytes) {
  if (given == ReportForm::classes) {
    const auto decoded = decode_classes(bytes);
    if (decoded) classes_ = merge(std::move(classes_), *decoded);
    return decoded.has_value();
  }
  auto decoded = decode(bytes);
  if (!decoded) return false;
  if (form() == ReportForm::classes)
    classes_ = merge(std::move(classes_), classes_of(*decoded));
  else
    std::ranges::move(*decoded, std::back_inserter(ranks_));
  return true;
}

std::vector<std::byte> CollectedReports::encoded() const {
  return form() == ReportForm::classes ? encode(classes_) : encode(ranks_);
}

RankClasses CollectedReports::take() {
  RankClasses classes = std::exchange(classes_, {});
  if (form() == ReportForm::classes) return classes;
  return each_alone(std::exchange(ranks_, {}));
}

}  // namespace gex::launch
