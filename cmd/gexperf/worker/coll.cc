// Collectives of 8 bytes between two ranks.

#include <gasnet_coll.h>

#include <cstdint>

#include "measurements.h"

namespace gexperf {

// The ranks are the root in turn, so that each repetition begins when the value of the one before
// has come: it lasts as long as a line takes one way.
void broadcast_8(const Context& context) {
  const Job& job = context.job;
  compare(
      context,
      [&](std::uint64_t repetitions) {
        std::uint64_t value = job.rank();
        for (std::uint64_t i = 0; i < repetitions; ++i) {
          const auto root = static_cast<gex_Rank_t>(i % 2);
          gex_Event_Wait(gex_Coll_BroadcastNB(job.team(), root, &value, &value, sizeof value, 0));
        }
        keep(value);
      },
      [&](std::uint64_t repetitions) { context.limits.bounce((repetitions + 1) / 2); });
}

void reduce_to_all_8(const Context& context) {
  const Job& job = context.job;
  compare(
      context,
      [&](std::uint64_t repetitions) {
        std::uint64_t value = job.rank();
        for (std::uint64_t i = 0; i < repetitions; ++i)
          gex_Event_Wait(gex_Coll_ReduceToAllNB(job.team(), &value, &value, GEX_DT_U64,
                                                sizeof value, 1, GEX_OP_ADD, nullptr, nullptr, 0));
        keep(value);
      },
      [&](std::uint64_t repetitions) { context.limits.exchange(repetitions); });
}

}  // namespace gexperf
