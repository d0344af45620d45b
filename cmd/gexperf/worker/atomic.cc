// Atomic operations on words of rank 1's segment. Rank 0 is active; rank 1 waits in a barrier, but
// where both operate on one word.
//
// Domain, rank, flags and table are unknown to the compiler, and where a row's name ends so the
// opcode, as it is to what is layered above; else that is a constant.

#include <gasnet_ratomic.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "measurements.h"
#include "words.h"

namespace gexperf {

namespace {

/// A domain of the operations measured; ends with the measurement.
class Domain {
 public:
  Domain(const Job& job, gex_DT_t type) {
    gex_AD_Create(&ad_, job.team(), type, GEX_OP_ADD | GEX_OP_FADD, 0);
  }
  ~Domain() { gex_AD_Destroy(ad_); }
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  gex_AD_t handle() const { return ad_; }

 private:
  gex_AD_t ad_ = GEX_AD_INVALID;
};

/// The processor's own locked add, through a table of displacements.
auto fetch_add_through(const std::ptrdiff_t* table) {
  return [table](const Place& place) {
    char* const at = reinterpret_cast<char*>(place.address) + unknown(table)[place.rank];
    keep(__atomic_fetch_add(reinterpret_cast<std::uint64_t*>(at), std::uint64_t{1},
                            __ATOMIC_ACQ_REL));
  };
}

/// The processor's own locked add whose old value is not wanted.
auto add_through(const std::ptrdiff_t* table) {
  return [table](const Place& place) {
    char* const at = reinterpret_cast<char*>(place.address) + unknown(table)[place.rank];
    __atomic_fetch_add(reinterpret_cast<std::uint64_t*>(at), std::uint64_t{1}, __ATOMIC_ACQ_REL);
  };
}

/// A sum of doubles, exchanged if the word has not changed meanwhile.
auto fetch_add_double_through(const std::ptrdiff_t* table) {
  return [table](const Place& place) {
    auto* const at = reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(place.address) +
                                                      unknown(table)[place.rank]);
    std::uint64_t old = __atomic_load_n(at, __ATOMIC_RELAXED);
    std::uint64_t sum;
    do {
      double value;
      std::memcpy(&value, &old, sizeof value);
      value += 1;
      std::memcpy(&sum, &value, sizeof sum);
    } while (
        !__atomic_compare_exchange_n(at, &old, sum, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    keep(old);
  };
}

// What several rows share is inlined in each as what stands in one alone is.

/// A fetch-and-add, and what waits for it.
auto fetch_add(gex_AD_t ad) {
  return [ad](const Place& place) __attribute__((always_inline)) {
    std::uint64_t old;
    gex_Event_Wait(gex_AD_OpNB_U64(unknown(ad), &old, place.rank, place.address, GEX_OP_FADD, 1, 0,
                                   unknown(gex_Flags_t{0})));
    keep(old);
  };
}

/// The implicit form with an opcode unknown to the compiler.
auto variable_fetch_add_nbi(gex_AD_t ad) {
  return [ad](const Place& place) __attribute__((always_inline)) {
    std::uint64_t old;
    gex_AD_OpNBI_U64(unknown(ad), &old, place.rank, place.address, unknown(gex_OP_t{GEX_OP_FADD}),
                     1, 0, unknown(gex_Flags_t{0}));
    keep(old);
  };
}

/// The operations, all waited for after every `place_count` of them.
Repeated waited_for_together(Repeated operations) {
  return [operations = std::move(operations)](std::uint64_t repetitions) {
    for (std::uint64_t done = 0; done < repetitions; done += place_count) {
      operations(std::min<std::uint64_t>(place_count, repetitions - done));
      gex_NBI_Wait(GEX_EC_RMW, 0);
    }
  };
}

/// The ranks that operate on one word.
enum class By { rank_0, all_ranks };

/// Does `one(place)` as many times as asked, each time on the same word. All ranks that do are
/// waited for.
template <class One>
Repeated over_one_word(const Job& job, const Words& words, By who, One one) {
  return [&job, &words, who, one](std::uint64_t repetitions) {
    if (who == By::all_ranks || job.rank() == 0) {
      const Place place = words.places()[0];
      const One operation = one;
      for (std::uint64_t i = 0; i < repetitions; ++i) operation(place);
    }
    if (who == By::all_ranks) job.barrier();
  };
}

void compare_on_one_word(const Context& context, By who) {
  const Words words(context.job);
  const Domain domain(context.job, GEX_DT_U64);
  compare(context, over_one_word(context.job, words, who, fetch_add(domain.handle())),
          over_one_word(context.job, words, who, fetch_add_through(words.table())));
}

}  // namespace

void atomic_fetch_add(const Context& context) {
  const Words words(context.job);
  const Domain domain(context.job, GEX_DT_U64);
  compare(context, over_places(context.job, words, fetch_add(domain.handle())),
          over_places(context.job, words, fetch_add_through(words.table())));
}

void atomic_fetch_add_nbi(const Context& context) {
  const Words words(context.job);
  const Domain domain(context.job, GEX_DT_U64);
  const Repeated adds = over_places(context.job, words, [ad = domain.handle()](const Place& place) {
    std::uint64_t old;
    gex_AD_OpNBI_U64(unknown(ad), &old, place.rank, place.address, GEX_OP_FADD, 1, 0,
                     unknown(gex_Flags_t{0}));
    keep(old);
  });
  compare(context, waited_for_together(adds),
          over_places(context.job, words, fetch_add_through(words.table())));
}

void atomic_add(const Context& context) {
  const Words words(context.job);
  const Domain domain(context.job, GEX_DT_U64);
  compare(
      context,
      over_places(context.job, words,
                  [ad = domain.handle()](const Place& place) {
                    gex_Event_Wait(gex_AD_OpNB_U64(unknown(ad), nullptr, place.rank, place.address,
                                                   GEX_OP_ADD, 1, 0, unknown(gex_Flags_t{0})));
                  }),
      over_places(context.job, words, add_through(words.table())));
}

void atomic_fetch_add_double(const Context& context) {
  const Words words(context.job);
  const Domain domain(context.job, GEX_DT_DBL);
  compare(context,
          over_places(context.job, words,
                      [ad = domain.handle()](const Place& place) {
                        double old;
                        gex_Event_Wait(gex_AD_OpNB_DBL(unknown(ad), &old, place.rank, place.address,
                                                       GEX_OP_FADD, 1, 0, unknown(gex_Flags_t{0})));
                        keep(old);
                      }),
          over_places(context.job, words, fetch_add_double_through(words.table())));
}

void atomic_fetch_add_variable(const Context& context) {
  const Words words(context.job);
  const Domain domain(context.job, GEX_DT_U64);
  compare(context,
          over_places(context.job, words,
                      [ad = domain.handle()](const Place& place) {
                        std::uint64_t old;
                        gex_Event_Wait(gex_AD_OpNB_U64(unknown(ad), &old, place.rank, place.address,
                                                       unknown(gex_OP_t{GEX_OP_FADD}), 1, 0,
                                                       unknown(gex_Flags_t{0})));
                        keep(old);
                      }),
          over_places(context.job, words, fetch_add_through(words.table())));
}

void atomic_fetch_add_variable_nbi(const Context& context) {
  const Words words(context.job);
  const Domain domain(context.job, GEX_DT_U64);
  const auto add = variable_fetch_add_nbi(domain.handle());
  compare(context, waited_for_together(over_places(context.job, words, add)),
          over_places(context.job, words, fetch_add_through(words.table())));
}

void atomic_fetch_add_variable_each_waited_for(const Context& context) {
  const Words words(context.job);
  const Domain domain(context.job, GEX_DT_U64);
  compare(context,
          over_places(context.job, words,
                      [add = variable_fetch_add_nbi(domain.handle())](const Place& place) {
                        add(place);
                        gex_NBI_Wait(GEX_EC_RMW, 0);
                      }),
          over_places(context.job, words, fetch_add_through(words.table())));
}

void atomic_add_variable(const Context& context) {
  const Words words(context.job);
  const Domain domain(context.job, GEX_DT_U64);
  compare(context,
          over_places(context.job, words,
                      [ad = domain.handle()](const Place& place) {
                        gex_Event_Wait(gex_AD_OpNB_U64(unknown(ad), nullptr, place.rank,
                                                       place.address, unknown(gex_OP_t{GEX_OP_ADD}),
                                                       1, 0, unknown(gex_Flags_t{0})));
                      }),
          over_places(context.job, words, add_through(words.table())));
}

void atomic_fetch_add_same_word(const Context& context) {
  compare_on_one_word(context, By::rank_0);
}

void atomic_fetch_add_hot_spot(const Context& context) {
  compare_on_one_word(context, By::all_ranks);
}

}  // namespace gexperf
