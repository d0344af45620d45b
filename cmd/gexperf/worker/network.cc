#include "network.h"

#include <gasnet_ratomic.h>
#include <time.h>

#include <atomic>
#include <cstdlib>
#include <vector>

#include "sampling.h"

namespace gexperf {

namespace {

constexpr std::string_view emulated = "emu.";
constexpr std::string_view real = "net.";

enum Handler : gex_AM_Index_t { ask = 220, answer, take, taken };

std::atomic<std::uint64_t> asked{0};
std::atomic<std::uint64_t> answered{0};
std::atomic<std::uint64_t> received{0};
std::atomic<std::uint64_t> floods{0};
std::uint64_t expected_in_floods = 0;

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

/// The limit of emu: rank 0 lets as much time pass as the model gives so many operations.
Repeated time_of_model(const Job& job, const EmuTime& by_model) {
  return [&job, by_model](std::uint64_t repetitions) {
    if (job.rank() != 0) return;
    const double begun = now_ns();
    const double end = begun + by_model.of(repetitions);
    while (now_ns() < end) {
    }
  };
}

/// Rank 0 does `operation` n times, alone; rank 1 waits in the barrier behind it.
template <class Operation>
Repeated by_root(const Job& job, Operation operation) {
  return [&job, operation](std::uint64_t repetitions) mutable {
    if (job.rank() == 0) operation(repetitions);
  };
}

Repeated put_latency(const Job& job) {
  return by_root(job, [&job](std::uint64_t repetitions) {
    const std::uint64_t word = 1;
    for (std::uint64_t i = 0; i < repetitions; ++i)
      gex_RMA_PutBlocking(job.team(), 1, job.segment_at_owner(1), &word, sizeof word, 0);
  });
}

Repeated get_latency(const Job& job) {
  return by_root(job, [&job](std::uint64_t repetitions) {
    std::uint64_t word = 0;
    for (std::uint64_t i = 0; i < repetitions; ++i)
      gex_RMA_GetBlocking(job.team(), &word, 1, job.segment_at_owner(1), sizeof word, 0);
    keep(word);
  });
}

Repeated barriers(const Job& job) {
  return [&job](std::uint64_t repetitions) {
    for (std::uint64_t i = 0; i < repetitions; ++i) job.barrier();
  };
}

Repeated fetch_add_latency(const Job& job) {
  gex_AD_t made = GEX_AD_INVALID;
  gex_AD_Create(&made, job.team(), GEX_DT_U64, GEX_OP_FADD, 0);
  return by_root(job, [&job, made](std::uint64_t repetitions) {
    std::uint64_t old = 0;
    for (std::uint64_t i = 0; i < repetitions; ++i)
      gex_Event_Wait(gex_AD_OpNB_U64(made, &old, 1, job.segment_at_owner(1), GEX_OP_FADD, 1, 0, 0));
    keep(old);
  });
}

template <std::size_t bytes>
Repeated put_flood(const Job& job) {
  const std::vector<std::byte> source(bytes, std::byte{1});
  return by_root(job, [&job, source](std::uint64_t repetitions) {
    for (std::uint64_t i = 0; i < repetitions; ++i)
      gex_RMA_PutNBI(job.team(), 1, job.segment_at_owner(1), source.data(), bytes, GEX_EVENT_DEFER,
                     0);
    gex_NBI_Wait(GEX_EC_PUT, 0);
  });
}

/// Puts of all other ranks to rank 0, each to a place of its own, until all are there.
template <std::size_t bytes>
Repeated puts_to_one(const Job& job) {
  const std::vector<std::byte> source(bytes, std::byte{1});
  return [&job, source](std::uint64_t repetitions) {
    if (job.rank() != 0) {
      const std::uint64_t senders = job.size() - 1;
      const std::uint64_t sender = job.rank() - 1;
      const std::uint64_t own =
          repetitions / senders + (sender < repetitions % senders ? std::uint64_t{1} : 0);
      for (std::uint64_t i = 0; i < own; ++i)
        gex_RMA_PutNBI(job.team(), 0, job.segment_at_owner(0) + sender * bytes, source.data(),
                       bytes, GEX_EVENT_DEFER, 0);
      gex_NBI_Wait(GEX_EC_PUT, 0);
    }
    job.barrier();
  };
}

template <std::size_t bytes>
Repeated get_flood(const Job& job) {
  std::vector<std::byte> destination(bytes);
  return by_root(job, [&job, destination](std::uint64_t repetitions) mutable {
    for (std::uint64_t i = 0; i < repetitions; ++i)
      gex_RMA_GetNBI(job.team(), destination.data(), 1, job.segment_at_owner(1), bytes, 0);
    gex_NBI_Wait(GEX_EC_GET, 0);
  });
}

Repeated round_trip(const Job& job) {
  return [&job](std::uint64_t repetitions) {
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
  };
}

template <std::size_t bytes>
Repeated message_flood(const Job& job) {
  const std::vector<std::byte> payload(bytes, std::byte{1});
  return [&job, payload](std::uint64_t repetitions) {
    if (job.rank() == 0) {
      const std::uint64_t expected = floods.load() + 1;
      for (std::uint64_t i = 0; i < repetitions; ++i)
        gex_AM_RequestMedium0(job.team(), 1, take, payload.data(), bytes, GEX_EVENT_NOW, 0);
      GASNET_BLOCKUNTIL(floods.load(std::memory_order_relaxed) == expected);
    } else if (job.rank() == 1) {
      expected_in_floods += repetitions;
      GASNET_BLOCKUNTIL(received.load(std::memory_order_relaxed) == expected_in_floods);
      gex_AM_RequestShort0(job.team(), 0, taken, 0);
    }
  };
}

struct OverNetwork {
  std::string_view name;  ///< behind the network's part
  Repeated (*subject)(const Job& job);
};
constexpr std::size_t part = 65536;
constexpr std::size_t large_part = 1048576;
constexpr OverNetwork measurements[] = {
    {"barrier", barriers},
    {"fadd.8", fetch_add_latency},
    {"put.8", put_latency},
    {"get.8", get_latency},
    {"am.short.rtt", round_trip},
    {"put.65536.flood", put_flood<part>},
    {"put.65536.to_one", puts_to_one<part>},
    {"get.65536.flood", get_flood<part>},
    {"put.1048576.flood", put_flood<large_part>},
    {"am.8.flood", message_flood<8>},
    {"am.8192.flood", message_flood<8192>},
    {"am.16384.flood", message_flood<16384>},
};

}  // namespace

bool is_over_network(std::string_view measurement) {
  return is_over_emu(measurement) || measurement.starts_with(real);
}

bool is_over_emu(std::string_view measurement) {
  return measurement.starts_with(emulated);
}

void leave_neighborhood(const char* model) {
  if (model != nullptr) setenv("GEX_EMU", model, 1);
  setenv("GASNET_SUPERNODE_MAXSIZE", "1", 1);
}

Repeated operation_of(const Job& job, std::string_view name) {
  for (const OverNetwork& one : measurements)
    if (one.name == name) return one.subject(job);
  return {};
}

bool measure_network(const Job& job, std::string_view measurement, unsigned rounds,
                     const EmuTime& by_model) {
  if (!is_over_network(measurement)) return false;
  const bool has_model = is_over_emu(measurement);
  measurement.remove_prefix(has_model ? emulated.size() : real.size());
  for (const OverNetwork& one : measurements) {
    if (one.name != measurement) continue;
    if (job.size() < 2) job.fail("a measurement needs two ranks");
    compare(job, rounds, one.subject(job), has_model ? time_of_model(job, by_model) : Repeated());
    return true;
  }
  return false;
}

void register_network_handlers(const Job& job) {
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
