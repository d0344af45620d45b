// Nothing that a thread writes for each operation is in a line that another thread writes or reads
// for each operation: what is measured are libgex's shared lines, not ours.

#include "threads.h"

#include <gasnet_ratomic.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "arena.h"
#include "bare_ring.h"
#include "bound_threads.h"
#include "spin.h"

namespace gexperf {

namespace {

enum Handler : gex_AM_Index_t { count = 180, ask, answer, finished };

/// Messages that handlers in this thread have received.
thread_local std::uint64_t received = 0;

struct alignas(256) Count {
  std::atomic<std::uint64_t> value{0};
};

/// `received` of each thread when the thread last published it.
Count published[max_threads];
/// The last answer to a thread of this rank, by its number.
Count answered[max_threads];
/// All messages of the samples so far, once they have been received.
Count all_received;
/// Samples whose messages the other rank has received.
Count samples_finished;

void on_count(gex_Token_t) {
  ++received;
}
void on_ask(gex_Token_t token, gex_AM_Arg_t thread, gex_AM_Arg_t number) {
  ++received;
  gex_AM_ReplyShort2(token, answer, 0, thread, number);
}
// Runs in any thread that polls; at most one answer to a thread is under way.
void on_answer(gex_Token_t, gex_AM_Arg_t thread, gex_AM_Arg_t number) {
  answered[thread].value.store(static_cast<std::uint32_t>(number), std::memory_order_release);
}
void on_finished(gex_Token_t) {
  samples_finished.value.fetch_add(1, std::memory_order_relaxed);
}

/// Thread `thread` of `threads` polls until all threads together have received `goal` messages.
void receive_until(std::uint64_t goal, unsigned thread, unsigned threads) {
  // Others read what is published. So it changes rarely while messages arrive.
  constexpr std::uint64_t publish_after = 256;
  constexpr unsigned idle_polls = 16;
  auto& mine = published[thread].value;
  // Not `received`: the barrier before may have received some of these messages.
  std::uint64_t last_published = mine.load(std::memory_order_relaxed);
  const auto publish = [&] {
    last_published = received;
    mine.store(last_published, std::memory_order_relaxed);
  };
  unsigned idle = 0;
  while (all_received.value.load(std::memory_order_acquire) != goal) {
    const std::uint64_t before = received;
    gasnet_AMPoll();
    if (received != before) {
      idle = 0;
      if (received - last_published >= publish_after) publish();
      continue;
    }
    if (++idle % idle_polls != 0) continue;
    if (received != last_published) publish();
    if (thread == 0) {
      std::uint64_t sum = 0;
      for (unsigned other = 0; other < threads; ++other)
        sum += published[other].value.load(std::memory_order_relaxed);
      if (sum == goal) all_received.value.store(goal, std::memory_order_release);
    }
    wait_pause(idle);
  }
}

/// Word i of a thread's own part of rank 1's segment.
constexpr std::uint64_t words_of_thread = 1024;

/// Own words of a thread, with room between the threads.
struct alignas(4096) ThreadWords {
  std::uint64_t words[words_of_thread];
  std::byte between[4096];
};

struct alignas(256) Flag {
  std::atomic<std::uint32_t> value;
};

/// Flags of a pair of threads, one on each rank.
struct Flags {
  Flag there;
  Flag back;
};

/// Both ranks' threads and memory.
class ThreadSides {
 public:
  explicit ThreadSides(const Context& context)
      : context_(context),
        threads_(context.job, own_processors(context)),
        arena_(context.job),
        rings_(arena_.take<BareRing>(threads_.count())),
        flags_(arena_.take<Flags>(threads_.count())),
        words_(arena_.take<ThreadWords>(threads_.count())) {
    for (unsigned thread = 0; thread < threads_.count(); ++thread) {
      BareRing& ring = rings_.here(1)[thread];
      producers_.push_back({BareProducer(ring)});
      consumers_.push_back({BareConsumer(ring)});
    }
    for (gex_Rank_t rank = 0; rank < job().size(); ++rank)
      displacements_.push_back(job().segment_here(rank) - job().segment_at_owner(rank));
  }

  const Job& job() const { return context_.job; }
  unsigned count() const { return threads_.count(); }
  const std::ptrdiff_t* table() const { return displacements_.data(); }
  /// The words of a thread in rank 1's addresses.
  std::uint64_t* words(unsigned thread) const { return words_.at_owner(1)[thread].words; }
  BareProducer& producer(unsigned thread) { return producers_[thread].end; }
  BareConsumer& consumer(unsigned thread) { return consumers_[thread].end; }
  Flags& flags(unsigned thread) const { return flags_.here(0)[thread]; }

  /// Each repetition is done by every thread: `on_0(thread, repetitions)` by those of rank 0,
  /// `on_1(thread, repetitions)` by those of rank 1.
  template <class On0, class On1>
  Repeated repeat(On0 on_0, On1 on_1) {
    return [this, on_0, on_1](std::uint64_t repetitions) mutable {
      if (job().rank() > 1) return;
      threads_.run([&](unsigned thread) {
        if (job().rank() == 0)
          on_0(thread, repetitions);
        else
          on_1(thread, repetitions);
      });
    };
  }
  /// Rank 1's threads do nothing.
  template <class On0>
  Repeated repeat_on_0(On0 on_0) {
    return repeat(on_0, [](unsigned, std::uint64_t) {});
  }

  /// Rank 0's threads repeatedly call `one(thread, i)`, which sends a message to rank 1 that
  /// `count` receives; rank 1's threads poll until all have arrived, which rank 0 waits for.
  template <class One>
  Repeated flood(One one) {
    return repeat(
        [one](unsigned thread, std::uint64_t repetitions) {
          const std::uint64_t expected = samples_finished.value.load(std::memory_order_relaxed) + 1;
          for (std::uint64_t i = 0; i < repetitions; ++i) one(thread, i);
          if (thread == 0)
            GASNET_BLOCKUNTIL(samples_finished.value.load(std::memory_order_relaxed) == expected);
        },
        [this](unsigned thread, std::uint64_t repetitions) {
          receive(thread, repetitions);
          if (thread == 0) gex_AM_RequestShort0(job().team(), 0, finished, 0);
        });
  }

  /// On rank 1: `repetitions` messages from each thread of rank 0.
  void receive(unsigned thread, std::uint64_t repetitions) {
    goal_of_[thread].value += repetitions * count();
    receive_until(goal_of_[thread].value, thread, count());
  }

 private:
  static std::vector<unsigned> own_processors(const Context& context) {
    const Job& job = context.job;
    const auto threads = std::strtoul(std::string(context.options.at(0)).c_str(), nullptr, 10);
    const std::vector<unsigned> all = parse_processors(context.options.at(1));
    if (threads == 0 || threads > max_threads || job.size() != 2 || all.size() != 2 * threads)
      job.fail("expected two ranks and a processor for each of their threads, not '" +
               std::string(context.options[0]) + "' threads on '" +
               std::string(context.options[1]) + "'");
    std::vector<unsigned> sorted = all;
    std::sort(sorted.begin(), sorted.end());
    shares_processors = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(job.rank() * threads);
    return {first, first + static_cast<std::ptrdiff_t>(threads)};
  }

  /// A thread's own, without a line in common with another's.
  template <class End>
  struct alignas(256) Padded {
    End end;
  };
  struct alignas(256) Goal {
    std::uint64_t value = 0;
  };

  const Context& context_;
  BoundThreads threads_;
  Arena arena_;
  Arena::Array<BareRing> rings_;  ///< in rank 1's segment
  Arena::Array<Flags> flags_;
  Arena::Array<ThreadWords> words_;
  std::vector<Padded<BareProducer>> producers_;
  std::vector<Padded<BareConsumer>> consumers_;
  std::vector<std::ptrdiff_t> displacements_;
  Goal goal_of_[max_threads];
};

std::uint64_t* word(std::uint64_t* words, std::uint64_t i) {
  // An odd step visits all words, and no two that are neighbors.
  return words + i * 367 % words_of_thread;
}

void put_with_event(gex_TM_t team, std::uint64_t* to, const std::uint64_t& from) {
  gex_Event_Wait(gex_RMA_PutNB(unknown(team), 1, to, &from, sizeof from, GEX_EVENT_NOW,
                               unknown(gex_Flags_t{0})));
}

void fetch_add(gex_AD_t domain, std::uint64_t* at) {
  std::uint64_t old;
  gex_Event_Wait(
      gex_AD_OpNB_U64(unknown(domain), &old, 1, at, GEX_OP_FADD, 1, 0, unknown(gex_Flags_t{0})));
  keep(old);
}

std::uint64_t* through(const std::ptrdiff_t* table, std::uint64_t* at) {
  return reinterpret_cast<std::uint64_t*>(reinterpret_cast<char*>(at) + unknown(table)[1]);
}

void bare_put(const std::ptrdiff_t* table, std::uint64_t* to, const std::uint64_t& from) {
  std::memcpy(through(table, to), &from, sizeof from);
  keep(to);
}

void bare_fetch_add(const std::ptrdiff_t* table, std::uint64_t* at) {
  keep(__atomic_fetch_add(through(table, at), std::uint64_t{1}, __ATOMIC_ACQ_REL));
}

/// A domain of fetch-and-add; ends with the measurement.
class FetchAddDomain {
 public:
  explicit FetchAddDomain(const Job& job) {
    gex_AD_Create(&handle_, job.team(), GEX_DT_U64, GEX_OP_FADD, 0);
  }
  ~FetchAddDomain() { gex_AD_Destroy(handle_); }
  FetchAddDomain(const FetchAddDomain&) = delete;
  FetchAddDomain& operator=(const FetchAddDomain&) = delete;
  gex_AD_t handle() const { return handle_; }

 private:
  gex_AD_t handle_ = GEX_AD_INVALID;
};

template <class Function>
gex_AM_Entry_t entry(Handler index, Function* function, gex_Flags_t kind, unsigned arguments,
                     const char* name) {
  return {
      index, reinterpret_cast<gex_AM_Fn_t>(function), GEX_FLAG_AM_SHORT | kind, arguments, nullptr,
      name};
}

}  // namespace

void register_thread_handlers(const Job& job) {
  gex_AM_Entry_t table[] = {
      entry(count, on_count, GEX_FLAG_AM_REQUEST, 0, "threads_count"),
      entry(ask, on_ask, GEX_FLAG_AM_REQUEST, 2, "threads_ask"),
      entry(answer, on_answer, GEX_FLAG_AM_REPLY, 2, "threads_answer"),
      entry(finished, on_finished, GEX_FLAG_AM_REQUEST, 0, "threads_finished"),
  };
  if (gex_EP_RegisterHandlers(job.endpoint(), table, std::size(table)) != GASNET_OK)
    job.fail("gex_EP_RegisterHandlers refused the handlers of threads");
}

// The limit is a bare ring for each pair of threads.
void threads_flood(const Context& context) {
  ThreadSides sides(context);
  compare(context, sides.flood([team = context.job.team()](unsigned, std::uint64_t) {
    gex_AM_RequestShort0(team, 1, count, 0);
  }),
          sides.repeat(
              [&](unsigned thread, std::uint64_t repetitions) {
                send_all(sides.producer(thread), repetitions);
              },
              [&](unsigned thread, std::uint64_t repetitions) {
                receive_all(sides.consumer(thread), repetitions);
              }));
}

// The limit is a line that goes there and one that comes back, between each pair of threads.
void threads_round_trip(const Context& context) {
  ThreadSides sides(context);
  // The number of each thread's last request or flag.
  std::vector<Count> asked(sides.count());
  std::vector<Count> flagged(sides.count());
  compare(
      context,
      sides.repeat(
          [&, team = context.job.team()](unsigned thread, std::uint64_t repetitions) {
            auto number = static_cast<std::uint32_t>(asked[thread].value.load());
            const auto& got = answered[thread].value;
            for (std::uint64_t i = 0; i < repetitions; ++i) {
              ++number;
              gex_AM_RequestShort2(team, 1, ask, 0, static_cast<gex_AM_Arg_t>(thread),
                                   static_cast<gex_AM_Arg_t>(number));
              GASNET_BLOCKUNTIL(got.load(std::memory_order_acquire) == number);
            }
            asked[thread].value.store(number);
          },
          [&](unsigned thread, std::uint64_t repetitions) { sides.receive(thread, repetitions); }),
      sides.repeat(
          [&](unsigned thread, std::uint64_t repetitions) {
            auto number = static_cast<std::uint32_t>(flagged[thread].value.load());
            Flags& flags = sides.flags(thread);
            for (std::uint64_t i = 0; i < repetitions; ++i) {
              flags.there.value.store(++number, std::memory_order_release);
              spin_until_reached(flags.back.value, number);
            }
            flagged[thread].value.store(number);
          },
          [&](unsigned thread, std::uint64_t repetitions) {
            auto number = static_cast<std::uint32_t>(flagged[thread].value.load());
            Flags& flags = sides.flags(thread);
            for (std::uint64_t i = 0; i < repetitions; ++i) {
              spin_until_reached(flags.there.value, ++number);
              flags.back.value.store(number, std::memory_order_release);
            }
            flagged[thread].value.store(number);
          }));
}

// The limit are copies through a table of displacements, by as many threads.
void threads_put(const Context& context) {
  ThreadSides sides(context);
  compare(
      context,
      sides.repeat_on_0([&, team = context.job.team()](unsigned thread, std::uint64_t repetitions) {
        std::uint64_t* const words = sides.words(thread);
        for (std::uint64_t i = 0; i < repetitions; ++i) put_with_event(team, word(words, i), i);
      }),
      sides.repeat_on_0([&](unsigned thread, std::uint64_t repetitions) {
        std::uint64_t* const words = sides.words(thread);
        for (std::uint64_t i = 0; i < repetitions; ++i) bare_put(sides.table(), word(words, i), i);
      }));
}

// The limit is the processor's locked add through a table of displacements, by as many threads.
void threads_fetch_add(const Context& context) {
  ThreadSides sides(context);
  const FetchAddDomain domain(context.job);
  compare(context,
          sides.repeat_on_0([&, ad = domain.handle()](unsigned thread, std::uint64_t repetitions) {
            std::uint64_t* const words = sides.words(thread);
            for (std::uint64_t i = 0; i < repetitions; ++i) fetch_add(ad, word(words, i));
          }),
          sides.repeat_on_0([&](unsigned thread, std::uint64_t repetitions) {
            std::uint64_t* const words = sides.words(thread);
            for (std::uint64_t i = 0; i < repetitions; ++i)
              bare_fetch_add(sides.table(), word(words, i));
          }));
}

// A message, a put and a fetch-and-add are one repetition; the limit is the sum of theirs.
void threads_mixed(const Context& context) {
  ThreadSides sides(context);
  const FetchAddDomain domain(context.job);
  compare(context,
          sides.flood([&, team = context.job.team(), ad = domain.handle()](unsigned thread,
                                                                           std::uint64_t i) {
            std::uint64_t* const words = sides.words(thread);
            gex_AM_RequestShort0(team, 1, count, 0);
            put_with_event(team, word(words, 2 * i), i);
            fetch_add(ad, word(words, 2 * i + 1));
          }),
          sides.repeat(
              [&](unsigned thread, std::uint64_t repetitions) {
                std::uint64_t* const words = sides.words(thread);
                BareProducer producer = sides.producer(thread);
                for (std::uint64_t i = 0; i < repetitions; ++i) {
                  producer.send(i);
                  bare_put(sides.table(), word(words, 2 * i), i);
                  bare_fetch_add(sides.table(), word(words, 2 * i + 1));
                }
                sides.producer(thread) = producer;
              },
              [&](unsigned thread, std::uint64_t repetitions) {
                receive_all(sides.consumer(thread), repetitions);
              }));
}

}  // namespace gexperf
