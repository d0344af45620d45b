// Active messages between ranks 0 and 1.

#include <cstring>
#include <string>
#include <system_error>
#include <thread>

#include "machine_limits.h"
#include "measurements.h"

namespace gexperf {

namespace {

enum Handler : gex_AM_Index_t {
  ping = 200,
  pong,
  count,
  finished,
  noticed,
  echo,
  echoed,
  read_large,
  read_words
};

/// State that handlers write and the client waits for. One thread of a rank runs the handlers that
/// write a counter; relaxed loads and stores cost what plain ones do.
struct Counters {
  std::atomic<std::uint64_t> pings{0};     ///< requests answered
  std::atomic<std::uint64_t> pongs{0};     ///< answers received
  std::atomic<std::uint64_t> counted{0};   ///< messages of floods
  std::atomic<std::uint64_t> finished{0};  ///< floods that the other rank has received
  std::atomic<std::uint64_t> noticed{0};   ///< messages to oneself among those to others
} counters;

void increment(std::atomic<std::uint64_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

std::uint64_t value(const std::atomic<std::uint64_t>& counter) {
  return counter.load(std::memory_order_relaxed);
}

std::uint64_t sum_words(const void* payload, std::size_t bytes) {
  std::uint64_t total = 0;
  for (std::size_t at = 0; at + 8 <= bytes; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, static_cast<const char*>(payload) + at, 8);
    total += word;
  }
  return total;
}

void on_ping(gex_Token_t token) {
  increment(counters.pings);
  gex_AM_ReplyShort0(token, pong, 0);
}
void on_pong(gex_Token_t) {
  increment(counters.pongs);
}
void on_count(gex_Token_t) {
  increment(counters.counted);
}
void on_finished(gex_Token_t) {
  increment(counters.finished);
}
void on_noticed(gex_Token_t) {
  increment(counters.noticed);
}
void on_echo(gex_Token_t token, void* payload, std::size_t bytes) {
  increment(counters.pings);
  gex_AM_ReplyMedium0(token, echoed, payload, bytes, GEX_EVENT_NOW, 0);
}
void on_echoed(gex_Token_t, void* payload, std::size_t bytes) {
  keep(sum_words(payload, bytes));
  increment(counters.pongs);
}
void on_read_large(gex_Token_t token, void* payload, std::size_t) {
  keep(sum(static_cast<const std::uint64_t*>(payload)));
  increment(counters.pings);
  gex_AM_ReplyShort0(token, pong, 0);
}

void on_read_words(gex_Token_t, void* payload, std::size_t bytes) {
  keep(sum_words(payload, bytes));
}

/// Rank 0 does `request(i)` and waits for its answer; rank 1 answers.
template <class Request>
Repeated round_trips(const Job& job, Request request) {
  return [&job, request](std::uint64_t repetitions) {
    if (job.rank() == 0) {
      std::uint64_t expected = value(counters.pongs);
      for (std::uint64_t i = 0; i < repetitions; ++i) {
        ++expected;
        request(i);
        GASNET_BLOCKUNTIL(value(counters.pongs) == expected);
      }
    } else if (job.rank() == 1) {
      // Every repetition begins behind a barrier, before which all was answered.
      static std::uint64_t answered = 0;
      answered += repetitions;
      GASNET_BLOCKUNTIL(value(counters.pings) == answered);
    }
  };
}

template <std::size_t bytes>
Repeated medium_round_trips(const Job& job) {
  return round_trips(job, [team = job.team()](std::uint64_t i) {
    std::uint64_t payload[bytes / 8];
    for (std::uint64_t& word : payload) word = i++;
    gex_AM_RequestMedium0(team, 1, echo, payload, bytes, GEX_EVENT_NOW, 0);
  });
}

void inject(gex_TM_t team, gex_Rank_t rank, std::uint64_t messages) {
  for (std::uint64_t i = 0; i < messages; ++i) gex_AM_RequestShort0(team, rank, count, 0);
}

/// Waits for `messages` more of a flood than at the last call.
void receive(std::uint64_t messages) {
  static std::uint64_t received = 0;
  received += messages;
  GASNET_BLOCKUNTIL(value(counters.counted) == received);
}

/// Rank 0 does `inject_all(n)`, which sends n messages to rank 1, until rank 1 reports that all are
/// there.
template <class Inject>
Repeated flood(const Job& job, Inject inject_all) {
  return [&job, inject_all](std::uint64_t messages) {
    if (job.rank() == 0) {
      const std::uint64_t expected = value(counters.finished) + 1;
      inject_all(messages);
      GASNET_BLOCKUNTIL(value(counters.finished) == expected);
    } else if (job.rank() == 1) {
      receive(messages);
      gex_AM_RequestShort0(job.team(), 0, finished, 0);
    }
  };
}

Repeated flood_of_one_thread(const Job& job) {
  return flood(job, [&job](std::uint64_t messages) { inject(job.team(), 1, messages); });
}

template <class Function>
gex_AM_Entry_t entry(Handler index, Function* function, gex_Flags_t flags, const char* name) {
  return {index, reinterpret_cast<gex_AM_Fn_t>(function), flags, 0, nullptr, name};
}

}  // namespace

void register_handlers(const Job& job) {
  constexpr gex_Flags_t short_request = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST;
  constexpr gex_Flags_t medium_request = GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST;
  gex_AM_Entry_t table[] = {
      entry(ping, on_ping, short_request, "ping"),
      entry(pong, on_pong, GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, "pong"),
      entry(count, on_count, short_request, "count"),
      entry(finished, on_finished, short_request, "finished"),
      entry(noticed, on_noticed, short_request, "noticed"),
      entry(echo, on_echo, medium_request, "echo"),
      entry(echoed, on_echoed, GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, "echoed"),
      entry(read_large, on_read_large, medium_request, "read_large"),
      entry(read_words, on_read_words, medium_request, "read_words"),
  };
  if (gex_EP_RegisterHandlers(job.endpoint(), table, std::size(table)) != GASNET_OK)
    job.fail("gex_EP_RegisterHandlers refused the handlers");
}

void short_round_trip(const Context& context) {
  compare(context,
          round_trips(context.job, [team = context.job.team()](
                                       std::uint64_t) { gex_AM_RequestShort0(team, 1, ping, 0); }),
          [&](std::uint64_t repetitions) { context.limits.bounce(repetitions); });
}

void medium_8_round_trip(const Context& context) {
  compare(context, medium_round_trips<8>(context.job),
          [&](std::uint64_t repetitions) { context.limits.bounce(repetitions); });
}

void medium_64_round_trip(const Context& context) {
  compare(context, medium_round_trips<64>(context.job),
          [&](std::uint64_t repetitions) { context.limits.bounce_two_lines(repetitions); });
}

void negotiated_medium(const Context& context) {
  const gex_TM_t team = context.job.team();
  const std::size_t max =
      gex_AM_MaxRequestMedium(team, 1, nullptr, GEX_FLAG_AM_PREPARE_LEAST_ALLOC, 0);
  if (max < large_bytes)
    context.job.fail("a negotiated medium holds at most " + std::to_string(max) + " bytes");
  compare(context,
          round_trips(context.job,
                      [team](std::uint64_t i) {
                        const gex_AM_SrcDesc_t payload = gex_AM_PrepareRequestMedium(
                            team, 1, nullptr, large_bytes, large_bytes, nullptr, 0, 0);
                        fill(static_cast<std::uint64_t*>(gex_AM_SrcDescAddr(payload)), i);
                        gex_AM_CommitRequestMedium0(payload, read_large, large_bytes);
                      }),
          [&](std::uint64_t repetitions) { context.limits.write_and_read(repetitions); });
}

void short_to_self(const Context& context) {
  const Job& job = context.job;
  compare(context, [&job](std::uint64_t messages) { inject(job.team(), job.rank(), messages); });
}

void medium_64_to_self(const Context& context) {
  const Job& job = context.job;
  compare(context, [&job](std::uint64_t messages) {
    std::uint64_t payload[8];
    for (std::uint64_t i = 0; i < messages; ++i) {
      for (std::uint64_t& word : payload) word = i;
      gex_AM_RequestMedium0(job.team(), job.rank(), read_words, payload, sizeof payload,
                            GEX_EVENT_NOW, 0);
    }
  });
}

void short_flood(const Context& context) {
  compare(context, flood_of_one_thread(context.job));
}

// One repetition is a message in each direction.
void short_flood_both_ways(const Context& context) {
  const Job& job = context.job;
  compare(context, [&job](std::uint64_t messages) {
    if (job.rank() > 1) return;
    inject(job.team(), 1 - job.rank(), messages);
    receive(messages);
  });
}

namespace {

/// Both ranks do `work()` before each message to the other. The limit is the work alone.
template <class Work>
void compare_with_work(const Context& context, Work work) {
  const Job& job = context.job;
  compare(
      context,
      [&job, work](std::uint64_t messages) {
        if (job.rank() > 1) return;
        for (std::uint64_t i = 0; i < messages; ++i) {
          work();
          gex_AM_RequestShort0(job.team(), 1 - job.rank(), count, 0);
        }
        receive(messages);
      },
      [work](std::uint64_t repetitions) {
        for (std::uint64_t i = 0; i < repetitions; ++i) work();
      });
}

}  // namespace

void short_flood_both_ways_with_work(const Context& context) {
  compare_with_work(context, [] {
    for (int i = 0; i < 120; ++i) keep(i);
  });
}

void short_flood_both_ways_with_stores(const Context& context) {
  compare_with_work(context, [] {
    static volatile std::uint64_t words[64];
    for (std::size_t i = 0; i < 80; ++i) words[i % std::size(words)] = i;
  });
}

// The limit is as many messages of both kinds, one kind after the other.
void short_flood_to_both(const Context& context) {
  const Job& job = context.job;
  compare(
      context,
      [&job](std::uint64_t messages) {
        if (job.rank() > 1) return;
        for (std::uint64_t i = 0; i < messages; ++i) {
          gex_AM_RequestShort0(job.team(), 1 - job.rank(), count, 0);
          gex_AM_RequestShort0(job.team(), job.rank(), noticed, 0);
        }
        receive(messages);
      },
      [&job](std::uint64_t messages) {
        if (job.rank() > 1) return;
        inject(job.team(), 1 - job.rank(), messages);
        receive(messages);
        for (std::uint64_t i = 0; i < messages; ++i)
          gex_AM_RequestShort0(job.team(), job.rank(), noticed, 0);
      });
}

// The limit is the flood of one thread. The second thread shares the processor that the rank is
// bound to.
void short_flood_two_threads(const Context& context) {
  const Job& job = context.job;
#if GASNET_PAR
  compare(context,
          flood(job,
                [&job](std::uint64_t messages) {
                  std::thread second;
                  try {
                    second = std::thread(inject, job.team(), 1, messages / 2);
                  } catch (const std::system_error& error) {
                    job.fail(std::string("cannot start the second thread: ") + error.what());
                  }
                  inject(job.team(), 1, messages - messages / 2);
                  second.join();
                }),
          flood_of_one_thread(job));
#else
  job.fail("two threads send only in a program compiled for PAR");
#endif
}

// Rank 0 sends until there is no room, which is the same every time because rank 1 does not poll
// meanwhile: it waits for a word in memory. What then fails again and again is timed.
void failed_immediate(const Context& context) {
  const Job& job = context.job;
  auto& released = context.limits.board().released.word;
  std::uint32_t turn = 0;
  std::uint64_t accepted = 0;
  compare(context, [&](std::uint64_t repetitions) {
    ++turn;
    if (job.rank() == 0) {
      std::uint64_t failed = 0;
      while (failed < repetitions) {
        if (gex_AM_RequestShort0(job.team(), 1, count, GEX_FLAG_IMMEDIATE) != 0)
          ++failed;
        else
          ++accepted;
      }
      context.limits.board().accepted.store(accepted, std::memory_order_relaxed);
      released.store(turn, std::memory_order_release);
    } else if (job.rank() == 1) {
      while (released.load(std::memory_order_acquire) != turn) {
      }
      GASNET_BLOCKUNTIL(value(counters.counted) ==
                        context.limits.board().accepted.load(std::memory_order_relaxed));
    }
  });
}

}  // namespace gexperf
