#include "job/rank_set.h"

namespace gex::job {

std::string describe_ranks(const RankSet& ranks) {
  if (ranks.empty()) return "no rank";
  if (ranks.size() == 1) return "rank " + std::to_string(ranks.front());
  constexpr std::size_t max_text = 200;
  std::string text = "ranks ";
  for (std::uint32_t i = 0; i < ranks.size();) {
    if (text.size() > max_text) return text + " and " + std::to_string(ranks.size() - i) + " more";
    std::uint32_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (i > 0) text += ',';
    text += std::to_string(ranks[i]);
    if (last > i) text += (last == i + 1 ? ',' : '-') + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

std::string rank_name(std::uint32_t rank, const std::string& host, int process) {
  return "rank " + std::to_string(rank) + " (host " + host + ", pid " + std::to_string(process) +
         ')';
}

}  // namespace gex::job
