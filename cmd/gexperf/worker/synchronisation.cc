// Barriers, and what a wait is made of.

#include "machine_limits.h"
#include "measurements.h"

namespace gexperf {

namespace {

Repeated barriers(const Job& job) {
  return [&job](std::uint64_t repetitions) {
    for (std::uint64_t i = 0; i < repetitions; ++i) job.barrier();
  };
}

}  // namespace

// Has no subject: a figure of the machine's, beside the one that messages are compared with.
void word_bounce(const Context& context) {
  compare(context, {}, [&](std::uint64_t repetitions) { context.limits.bounce_word(repetitions); });
}

void barrier_of_two(const Context& context) {
  compare(context, barriers(context.job),
          [&](std::uint64_t repetitions) { context.limits.exchange(repetitions); });
}

void barrier_of_many(const Context& context) {
  compare(context, barriers(context.job),
          [&](std::uint64_t repetitions) { context.limits.yield(repetitions); });
}

void idle_poll(const Context& context) {
  compare(context, [&](std::uint64_t repetitions) {
    if (context.job.rank() != 0) return;
    for (std::uint64_t i = 0; i < repetitions; ++i) gasnet_AMPoll();
  });
}

// The cheapest operation that always makes an event: a barrier of a team of one, which is complete
// when it starts.
void event_allocate_and_test(const Context& context) {
  const Job& job = context.job;
  gex_TM_t alone{};
  gex_TM_Split(&alone, job.team(), static_cast<int>(job.rank()), 0, nullptr, 0,
               GEX_FLAG_TM_NO_SCRATCH);
  compare(context, [&](std::uint64_t repetitions) {
    if (job.rank() != 0) return;
    for (std::uint64_t i = 0; i < repetitions; ++i) {
      const gex_Event_t event = gex_Coll_BarrierNB(alone, 0);
      if (event == GEX_EVENT_INVALID) job.fail("a barrier of one rank made no event");
      while (gex_Event_Test(event) != GASNET_OK) gasnet_AMPoll();
    }
  });
  gex_TM_Destroy(alone, nullptr, 0);
}

}  // namespace gexperf
