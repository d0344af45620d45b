// Barriers, messages and atomics of many ranks, each on a core of its own.

#include "cores.h"

#include <gasnet_ratomic.h>

#include <atomic>
#include <vector>

#include "arena.h"
#include "bare_barriers.h"
#include "bare_ring.h"

namespace gexperf {

namespace {

enum Handler : gex_AM_Index_t { arrive = 190 };

/// Messages that have arrived. The only thread of the rank runs the handler.
std::uint64_t arrived = 0;

void on_arrive(gex_Token_t) {
  ++arrived;
}

std::uint64_t arrived_so_far() {
  return unknown(&arrived)[0];
}

/// Waits for so many more messages than at the last call.
void await_messages(std::uint64_t messages) {
  static std::uint64_t expected = 0;
  expected += messages;
  GASNET_BLOCKUNTIL(arrived_so_far() == expected);
}

/// A bare ring from each rank to each other, in the receiver's segment.
class BareRings {
 public:
  BareRings(const Job& job, Arena& arena) : job_(job), rings_(arena.take<BareRing>(job.size())) {
    for (gex_Rank_t rank = 0; rank < job.size(); ++rank) {
      producers_.emplace_back(rings_.here(rank)[job.rank()]);
      consumers_.emplace_back(rings_.here(job.rank())[rank]);
    }
  }

  BareProducer& to(gex_Rank_t rank) { return producers_[rank]; }

  /// Receives what has arrived, but not more from one rank than an eighth of its ring while others
  /// may have filled theirs; returns how many messages those were.
  std::uint64_t poll() {
    std::uint64_t count = 0;
    for (gex_Rank_t rank = 0; rank < job_.size(); ++rank)
      if (rank != job_.rank()) count += receive_some(consumers_[rank], BareRing::cell_count / 8);
    return count;
  }

 private:
  const Job& job_;
  Arena::Array<BareRing> rings_;
  std::vector<BareProducer> producers_;
  std::vector<BareConsumer> consumers_;
};

}  // namespace

void register_core_handlers(const Job& job) {
  gex_AM_Entry_t entry{arrive,
                       reinterpret_cast<gex_AM_Fn_t>(on_arrive),
                       GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST,
                       0,
                       nullptr,
                       "cores_arrive"};
  if (gex_EP_RegisterHandlers(job.endpoint(), &entry, 1) != GASNET_OK)
    job.fail("gex_EP_RegisterHandlers refused the handler of cores");
}

void cores_barrier(const Context& context) {
  const Job& job = context.job;
  Arena arena(job);
  BareBarriers bare(job, arena);
  bare.choose_fastest();
  compare(
      context,
      [&job](std::uint64_t repetitions) {
        for (std::uint64_t i = 0; i < repetitions; ++i) job.barrier();
      },
      [&bare](std::uint64_t repetitions) { bare.wait(repetitions); });
}

// One repetition is a message from each of the others to rank 0.
void cores_to_one(const Context& context) {
  const Job& job = context.job;
  Arena arena(job);
  BareRings bare(job, arena);
  const std::uint64_t senders = job.size() - 1;
  compare(
      context,
      [&](std::uint64_t repetitions) {
        if (job.rank() == 0) return await_messages(repetitions * senders);
        for (std::uint64_t i = 0; i < repetitions; ++i)
          gex_AM_RequestShort0(job.team(), 0, arrive, 0);
      },
      [&](std::uint64_t repetitions) {
        if (job.rank() == 0) {
          spin_through(repetitions * senders, [&bare] { return bare.poll(); });
          return;
        }
        send_all(bare.to(0), repetitions);
      });
}

// One repetition is a message from each rank to each other. libgex polls where there is no room;
// the limit polls more often, but not so often that it meets the line that is being written.
void cores_to_all(const Context& context) {
  const Job& job = context.job;
  Arena arena(job);
  BareRings bare(job, arena);
  constexpr std::uint64_t rounds_between_polls = 8;
  const std::uint64_t others = job.size() - 1;
  const auto peer = [&job](gex_Rank_t distance) { return (job.rank() + distance) % job.size(); };
  compare(
      context,
      [&](std::uint64_t repetitions) {
        for (std::uint64_t i = 0; i < repetitions; ++i) {
          for (gex_Rank_t distance = 1; distance < job.size(); ++distance)
            gex_AM_RequestShort0(job.team(), peer(distance), arrive, 0);
        }
        await_messages(repetitions * others);
      },
      [&](std::uint64_t repetitions) {
        std::uint64_t received = 0;
        for (std::uint64_t i = 0; i < repetitions; ++i) {
          for (gex_Rank_t distance = 1; distance < job.size(); ++distance) {
            BareProducer& producer = bare.to(peer(distance));
            spin_until([&] {
              if (producer.try_send(i)) return true;
              received += bare.poll();
              return false;
            });
          }
          if (i % rounds_between_polls == 0) received += bare.poll();
        }
        spin_through(repetitions * others - received, [&bare] { return bare.poll(); });
      });
}

// All ranks add to one word of rank 0's; one repetition is an add by each. Both ways end with a
// barrier, since rank 0 may have done its part first.
void cores_hot_spot(const Context& context) {
  const Job& job = context.job;
  Arena arena(job);
  const auto word = arena.take<std::uint64_t>(1);
  gex_AD_t domain = GEX_AD_INVALID;
  gex_AD_Create(&domain, job.team(), GEX_DT_U64, GEX_OP_FADD, 0);
  compare(
      context,
      [&](std::uint64_t repetitions) {
        for (std::uint64_t i = 0; i < repetitions; ++i) {
          std::uint64_t old;
          gex_Event_Wait(gex_AD_OpNB_U64(unknown(domain), &old, unknown(gex_Rank_t{0}),
                                         word.at_owner(0), GEX_OP_FADD, 1, 0,
                                         unknown(gex_Flags_t{0})));
          keep(old);
        }
        job.barrier();
      },
      [&](std::uint64_t repetitions) {
        for (std::uint64_t i = 0; i < repetitions; ++i)
          keep(__atomic_fetch_add(unknown(word.here(0)), std::uint64_t{1}, __ATOMIC_ACQ_REL));
        job.barrier();
      });
  gex_AD_Destroy(domain);
}

}  // namespace gexperf
