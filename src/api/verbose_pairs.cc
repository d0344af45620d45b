#include "api/verbose_pairs.h"

#include <string>
#include <vector>

#include "am/limits.h"
#include "am/network.h"
#include "base/error.h"
#include "core/process.h"
#include "net/operations.h"
#include "way/pairs.h"

namespace gex {

namespace {

std::string operations_text() {
  const Process& self = process();
  const std::string reference = list_operations(net::Means::reference, self.conduit, &self.network);
  return "native: " + list_operations(net::Means::native, self.conduit, &self.network) +
         "; made of messages: " + (reference.empty() ? "nothing" : reference);
}

std::string memory_text() {
  const gex_Rank_t self = gex_proc_.jobrank;
  return "shared memory; medium " + std::to_string(am::max_medium(self)) + ", long " +
         std::to_string(am::max_long(self, /*is_reply=*/false, 0)) +
         " bytes; every operation native";
}

std::string network_text(const PairClass& pairs) {
  const Process& self = process();
  std::string text = self.conduit->name;
  if (!pairs.way.name.empty()) text.append(":").append(pairs.way.name);
  text += "; medium " + std::to_string(am::network_medium_limit()) + ", long " +
          std::to_string(am::network_long_limit(/*is_reply=*/false)) + " bytes, " +
          std::to_string(self.network.reply_depth) + " requests a peer; " + operations_text() +
          "; no shared memory: " + why_no_memory(pairs.kind);
  if (!pairs.way.reason.empty())
    text.append("; ").append(pairs.way.name).append(": ").append(pairs.way.reason);
  return text;
}

}  // namespace

void report_pairs() {
  if (!process().reports_pairs) return;
  const std::vector<PairClass> classes = gather_pairs();
  if (!speaks_for_job()) return;
  for (const PairClass& pairs : classes)
    inform("%s: %s", describe_pairs(pairs).c_str(),
           pairs.kind == PairKind::memory ? memory_text().c_str() : network_text(pairs).c_str());
}

}  // namespace gex
