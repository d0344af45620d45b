// Atomic operations on words of rank 1's segment. Rank 0 is active; rank 1 waits in a barrier.
//
// Opcodes are constants, as clients have them; domain, rank, flags and table are unknown to the
// compiler.

#include <gasnet_ratomic.h>

#include <algorithm>
#include <cstring>

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

/// The same, of which nobody wants the old value.
auto add_through(const std::ptrdiff_t* table) {
  return [table](const Place& place) {
    char* const at = reinterpret_cast<char*>(place.address) + unknown(table)[place.rank];
    __atomic_fetch_add(reinterpret_cast<std::uint64_t*>(at), std::uint64_t{1}, __ATOMIC_ACQ_REL);
  };
}

/// A sum of doubles, exchanged when nobody else was faster.
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

}  // namespace

void atomic_fetch_add(const Context& context) {
  const Words words(context.job);
  const Domain domain(context.job, GEX_DT_U64);
  compare(context,
          over_places(context.job, words,
                      [ad = domain.handle()](const Place& place) {
                        std::uint64_t old;
                        gex_Event_Wait(gex_AD_OpNB_U64(unknown(ad), &old, place.rank, place.address,
                                                       GEX_OP_FADD, 1, 0, unknown(gex_Flags_t{0})));
                        keep(old);
                      }),
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
  compare(
      context,
      [&](std::uint64_t repetitions) {
        for (std::uint64_t done = 0; done < repetitions; done += place_count) {
          adds(std::min<std::uint64_t>(place_count, repetitions - done));
          gex_NBI_Wait(GEX_EC_RMW, 0);
        }
      },
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

}  // namespace gexperf
