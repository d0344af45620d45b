#include "job/rank_variables.h"

#include <cstdlib>
#include <string>

namespace gex::job {

void set_rank_variables(const RankPlace& place) {
  const auto set = [](const char* name, std::uint32_t value) {
    setenv(name, std::to_string(value).c_str(), 1);
  };
  set("GEX_RANK", place.rank);
  set("GEX_SIZE", place.size);
  set("GEX_LOCAL_RANK", place.local_rank);
  set("GEX_LOCAL_SIZE", place.local_size);
}

}  // namespace gex::job
