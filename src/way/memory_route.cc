#include "way/memory_route.h"

#include <map>
#include <mutex>
#include <utility>

#include "base/env.h"
#include "base/error.h"
#include "base/immortal.h"
#include "core/memory_class.h"
#include "core/process.h"
#include "way/requirement.h"

namespace gex {

namespace {

struct Routes {
  std::mutex mutex;
  std::map<std::pair<unsigned, gex_Rank_t>, MemoryRoute> all;  ///< by endpoint and owner
};
Immortal<Routes> the_routes;

std::string in_parentheses(const std::string& reason) {
  return reason.empty() ? "" : " (" + reason + ")";
}

}  // namespace

void note_route(unsigned endpoint_address, MemoryRoute route) {
  const bool is_own = route.owner == gex_proc_.jobrank;
  const std::string text = env::text(env::Variable::require);
  const Requirement required(text);
  const MemoryClassInfo& named = class_info(route.memory_class);
  const std::string memory = std::string(named.name) + " device " + std::to_string(route.device);
  if (!is_own && required.names(named.entry) && !required.accepts(named.entry, route.way))
    fatal(
        "GEX_REQUIRE=%s: rank %u reaches rank %u's segment on %s by %s, which is not in the list%s",
        text.c_str(), gex_proc_.jobrank, route.owner, memory.c_str(), route.way.c_str(),
        in_parentheses(route.reason).c_str());
  if (!is_own)
    inform("memory kinds: rank %u's segment on %s is reached by %s%s", route.owner, memory.c_str(),
           route.way.c_str(), route.reason.empty() ? "" : (": " + route.reason).c_str());
  Routes& routes = the_routes.get();
  const std::lock_guard lock(routes.mutex);
  const std::pair place(endpoint_address, route.owner);
  routes.all[place] = std::move(route);
}

std::vector<MemoryRoute> memory_routes() {
  Routes& routes = the_routes.get();
  const std::lock_guard lock(routes.mutex);
  std::vector<MemoryRoute> result;
  for (const auto& [place, route] : routes.all) result.push_back(route);
  return result;
}

void require_memory(net::MemoryClass which, const std::string& why) {
  const std::string text = env::text(env::Variable::require);
  const MemoryClassInfo& named = class_info(which);
  if (Requirement(text).names(named.entry))
    fatal("GEX_REQUIRE=%s: no %s memory for this process: %s", text.c_str(), named.name,
          why.c_str());
}

}  // namespace gex
