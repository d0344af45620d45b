// put and get. Rank 0 is active; rank 1 waits in a barrier.
//
// Nothing about team, rank, flags or table is known to the compiler, nor remembered by it from one
// turn to the next.

#include <algorithm>
#include <cstring>
#include <vector>

#include "machine_limits.h"
#include "measurements.h"
#include "words.h"

namespace gexperf {

namespace {

/// The copy with which a put of 8 bytes is compared.
auto copy_through(const std::ptrdiff_t* table) {
  return [table](const Place& place, const void* source) {
    std::memcpy(reinterpret_cast<char*>(place.address) + unknown(table)[place.rank], source, 8);
  };
}

auto put_to(gex_TM_t team) {
  return [team](const Place& place, const void* source) {
    gex_RMA_PutBlocking(unknown(team), place.rank, place.address, source, 8,
                        unknown(gex_Flags_t{0}));
  };
}

/// Puts none of which depends on another: the processor overlaps them as it can.
template <class Put>
Repeated independent(const Job& job, const Words& words, Put put, const std::uint64_t& source) {
  return over_places(job, words, [put, &source](const Place& place) { put(place, &source); });
}

/// Puts each of which sends the word that the one before has written: it cannot begin before that
/// one is complete.
template <class Put>
Repeated chained(const Job& job, const Words& words, Put put) {
  return [&job, &words, put](std::uint64_t repetitions) {
    if (job.rank() != 0) return;
    const Place* const places = words.places();
    const std::ptrdiff_t to_here = words.table()[1];
    const Put operation = put;
    const void* source = words.here(places[place_count - 1]);
    for (std::uint64_t i = 0; i < repetitions; ++i) {
      const Place& place = places[i % place_count];
      operation(place, source);
      source = reinterpret_cast<char*>(place.address) + to_here;
    }
  };
}

/// Gets that follow the list: the address of one is what the one before has got.
template <class Get>
Repeated chase(const Job& job, const Words& words, Get get) {
  return [&job, &words, get](std::uint64_t repetitions) {
    if (job.rank() != 0) return;
    const Get operation = get;
    // What is got lies in memory on both sides of the comparison.
    void* got = words.places()[0].address;
    for (std::uint64_t i = 0; i < repetitions; ++i)
      operation(unknown(&got), unknown(gex_Rank_t{1}), got);
    keep(got);
  };
}

}  // namespace

void put_blocking(const Context& context) {
  const Words words(context.job);
  compare(context, chained(context.job, words, put_to(words.team())),
          chained(context.job, words, copy_through(words.table())));
}

void put_rate(const Context& context) {
  const Words words(context.job);
  const std::uint64_t source = 1;
  compare(context, independent(context.job, words, put_to(words.team()), source),
          independent(context.job, words, copy_through(words.table()), source));
}

void put_nbi(const Context& context) {
  const Job& job = context.job;
  const Words words(job);
  const std::uint64_t source = 1;
  const Repeated puts = independent(
      job, words,
      [team = words.team()](const Place& place, const void* from) {
        gex_RMA_PutNBI(unknown(team), place.rank, place.address, from, 8, GEX_EVENT_NOW,
                       unknown(gex_Flags_t{0}));
      },
      source);
  compare(
      context,
      [&](std::uint64_t repetitions) {
        for (std::uint64_t done = 0; done < repetitions; done += place_count) {
          puts(std::min<std::uint64_t>(place_count, repetitions - done));
          gex_NBI_Wait(GEX_EC_PUT, 0);
        }
      },
      independent(job, words, put_to(words.team()), source));
}

void put_nb(const Context& context) {
  const Words words(context.job);
  const std::uint64_t source = 1;
  compare(context,
          independent(
              context.job, words,
              [team = words.team()](const Place& place, const void* from) {
                gex_Event_Wait(gex_RMA_PutNB(unknown(team), place.rank, place.address, from, 8,
                                             GEX_EVENT_NOW, unknown(gex_Flags_t{0})));
              },
              source),
          independent(context.job, words, put_to(words.team()), source));
}

void get_blocking(const Context& context) {
  const Words words(context.job);
  compare(context,
          chase(context.job, words,
                [team = words.team()](void* destination, gex_Rank_t rank, void* source) {
                  gex_RMA_GetBlocking(unknown(team), destination, rank, source, 8,
                                      unknown(gex_Flags_t{0}));
                }),
          chase(context.job, words,
                [table = words.table()](void* destination, gex_Rank_t rank, void* source) {
                  std::memcpy(destination, static_cast<char*>(source) + unknown(table)[rank], 8);
                }));
}

void put_large(const Context& context) {
  const Job& job = context.job;
  const std::vector<std::byte> source(copy_bytes, std::byte{1});
  void* const there = job.segment_at_owner(1) + sizeof(Board);
  void* const here = job.segment_here(1) + sizeof(Board);
  compare(
      context,
      [&](std::uint64_t repetitions) {
        for (std::uint64_t i = 0; job.rank() == 0 && i < repetitions; ++i)
          gex_RMA_PutBlocking(job.team(), 1, there, source.data(), copy_bytes, 0);
      },
      [&](std::uint64_t repetitions) {
        for (std::uint64_t i = 0; job.rank() == 0 && i < repetitions; ++i) {
          std::memcpy(here, source.data(), copy_bytes);
          keep(here);
        }
      });
}

}  // namespace gexperf
