#include "emulated.h"

#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "sampling.h"

namespace gexperf {

namespace {

constexpr std::string_view prefix = "emu.";
constexpr std::size_t part_bytes = 65536;
constexpr std::size_t medium_bytes = 8192;
/// A message without arguments has so much before its payload.
constexpr std::size_t header_bytes = 16;

enum Handler : gex_AM_Index_t { ask = 220, answer, take, taken };

std::atomic<std::uint64_t> asked{0};
std::atomic<std::uint64_t> answered{0};
std::atomic<std::uint64_t> received{0};
std::atomic<std::uint64_t> floods{0};

void on_ask(gex_Token_t token) {
  asked.fetch_add(1, std::memory_order_relaxed);
  gex_AM_ReplyShort0(token, answer, 0);
}
void on_answer(gex_Token_t) {
  answered.fetch_add(1, std::memory_order_relaxed);
}
void on_take(gex_Token_t, void*, std::size_t) {
  received.fetch_add(1, std::memory_order_relaxed);
}
void on_taken(gex_Token_t) {
  floods.fetch_add(1, std::memory_order_relaxed);
}

double now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// The limit: rank 0 lets as much time pass as the model gives so many operations.
Repeated time_of_model(const Job& job, double each_ns) {
  return [&job, each_ns](std::uint64_t repetitions) {
    if (job.rank() != 0) return;
    const double end = now_ns() + each_ns * static_cast<double>(repetitions);
    while (now_ns() < end) {
    }
  };
}

double bytes_ns(std::size_t bytes) {
  return static_cast<double>(bytes) * pretended.ns_per_byte;
}

/// What rank 0 does alone, `operation` n times; rank 1 waits in the barrier behind it.
template <class Operation>
Repeated by_root(const Job& job, Operation operation) {
  return [&job, operation](std::uint64_t repetitions) {
    if (job.rank() == 0) operation(repetitions);
  };
}

void put_latency(const Job& job, unsigned rounds) {
  compare(job, rounds,
          by_root(job,
                  [&job](std::uint64_t repetitions) {
                    const std::uint64_t word = 1;
                    for (std::uint64_t i = 0; i < repetitions; ++i)
                      gex_RMA_PutBlocking(job.team(), 1, job.segment_at_owner(1), &word,
                                          sizeof word, 0);
                  }),
          time_of_model(job, pretended.send_overhead_ns + bytes_ns(8) + 2 * pretended.latency_ns));
}

void get_latency(const Job& job, unsigned rounds) {
  compare(job, rounds,
          by_root(job,
                  [&job](std::uint64_t repetitions) {
                    std::uint64_t word = 0;
                    for (std::uint64_t i = 0; i < repetitions; ++i)
                      gex_RMA_GetBlocking(job.team(), &word, 1, job.segment_at_owner(1),
                                          sizeof word, 0);
                    keep(word);
                  }),
          time_of_model(job, pretended.send_overhead_ns + bytes_ns(8) + 2 * pretended.latency_ns));
}

void put_flood(const Job& job, unsigned rounds) {
  const std::vector<std::byte> source(part_bytes, std::byte{1});
  compare(job, rounds,
          by_root(job,
                  [&](std::uint64_t repetitions) {
                    for (std::uint64_t i = 0; i < repetitions; ++i)
                      gex_RMA_PutNBI(job.team(), 1, job.segment_at_owner(1), source.data(),
                                     part_bytes, GEX_EVENT_DEFER, 0);
                    gex_NBI_Wait(GEX_EC_PUT, 0);
                  }),
          time_of_model(job, bytes_ns(part_bytes)));
}

void get_flood(const Job& job, unsigned rounds) {
  std::vector<std::byte> destination(part_bytes);
  compare(job, rounds,
          by_root(job,
                  [&](std::uint64_t repetitions) {
                    for (std::uint64_t i = 0; i < repetitions; ++i)
                      gex_RMA_GetNBI(job.team(), destination.data(), 1, job.segment_at_owner(1),
                                     part_bytes, 0);
                    gex_NBI_Wait(GEX_EC_GET, 0);
                  }),
          time_of_model(job, bytes_ns(part_bytes)));
}

void round_trip(const Job& job, unsigned rounds) {
  const double one_way = pretended.send_overhead_ns + bytes_ns(header_bytes) +
                         pretended.latency_ns + pretended.receive_overhead_ns;
  compare(
      job, rounds,
      [&job](std::uint64_t repetitions) {
        if (job.rank() == 0) {
          std::uint64_t expected = answered.load();
          for (std::uint64_t i = 0; i < repetitions; ++i) {
            ++expected;
            gex_AM_RequestShort0(job.team(), 1, ask, 0);
            GASNET_BLOCKUNTIL(answered.load(std::memory_order_relaxed) == expected);
          }
        } else if (job.rank() == 1) {
          static std::uint64_t expected = 0;
          expected += repetitions;
          GASNET_BLOCKUNTIL(asked.load(std::memory_order_relaxed) == expected);
        }
      },
      time_of_model(job, 2 * one_way));
}

void message_flood(const Job& job, unsigned rounds) {
  const std::vector<std::byte> payload(medium_bytes, std::byte{1});
  compare(
      job, rounds,
      [&](std::uint64_t repetitions) {
        if (job.rank() == 0) {
          const std::uint64_t expected = floods.load() + 1;
          for (std::uint64_t i = 0; i < repetitions; ++i)
            gex_AM_RequestMedium0(job.team(), 1, take, payload.data(), medium_bytes, GEX_EVENT_NOW,
                                  0);
          GASNET_BLOCKUNTIL(floods.load(std::memory_order_relaxed) == expected);
        } else if (job.rank() == 1) {
          static std::uint64_t expected = 0;
          expected += repetitions;
          GASNET_BLOCKUNTIL(received.load(std::memory_order_relaxed) == expected);
          gex_AM_RequestShort0(job.team(), 0, taken, 0);
        }
      },
      time_of_model(job, bytes_ns(medium_bytes + header_bytes)));
}

struct NamedEmulation {
  std::string_view name;
  void (*take)(const Job& job, unsigned rounds);
};
constexpr NamedEmulation emulations[] = {
    {"emu.put.8", put_latency},         {"emu.get.8", get_latency},
    {"emu.am.short.rtt", round_trip},   {"emu.put.65536.flood", put_flood},
    {"emu.get.65536.flood", get_flood}, {"emu.am.8192.flood", message_flood},
};

}  // namespace

bool is_emulated(std::string_view measurement) {
  return measurement.substr(0, prefix.size()) == prefix;
}

void pretend() {
  char model[200];
  std::snprintf(model, sizeof model,
                "latency=%gns,send_overhead=%gns,receive_overhead=%gns,bandwidth=%gMB/s",
                pretended.latency_ns, pretended.send_overhead_ns, pretended.receive_overhead_ns,
                1e3 / pretended.ns_per_byte);
  setenv("GEX_EMU", model, 1);
  setenv("GASNET_SUPERNODE_MAXSIZE", "1", 1);
}

bool measure_emulated(const Job& job, std::string_view measurement, unsigned rounds) {
  for (const NamedEmulation& emulation : emulations) {
    if (emulation.name != measurement) continue;
    if (job.size() < 2) job.fail("a measurement needs two ranks");
    emulation.take(job, rounds);
    return true;
  }
  return false;
}

void register_emulated_handlers(const Job& job) {
  gex_AM_Entry_t table[] = {
      {ask, reinterpret_cast<gex_AM_Fn_t>(on_ask), GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0,
       nullptr, "ask"},
      {answer, reinterpret_cast<gex_AM_Fn_t>(on_answer), GEX_FLAG_AM_REPLY | GEX_FLAG_AM_SHORT, 0,
       nullptr, "answer"},
      {take, reinterpret_cast<gex_AM_Fn_t>(on_take), GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_MEDIUM, 0,
       nullptr, "take"},
      {taken, reinterpret_cast<gex_AM_Fn_t>(on_taken), GEX_FLAG_AM_REQUEST | GEX_FLAG_AM_SHORT, 0,
       nullptr, "taken"},
  };
  gex_EP_RegisterHandlers(job.endpoint(), table, sizeof table / sizeof *table);
}

}  // namespace gexperf
