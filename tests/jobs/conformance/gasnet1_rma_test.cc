// GASNet-1: put, get, memset, values, and their synchronisation, in every form and against what a
// plain loop would do; and beside those of GASNet-EX.

#include <gasnet.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <thread>

#include "message.h"
#include "transfer.h"

namespace conformance::gasnet1_rma_test {
namespace {

constexpr std::size_t sizes[] = {0, 1, 2, 3, 8, 13, 64, 1000, 4096, 70001};

/// Every way to synchronise one handle, each the only call that polls.
enum class Sync { wait, try_one, wait_all, try_all, wait_some, try_some };
constexpr Sync every_sync[] = {Sync::wait,    Sync::try_one,   Sync::wait_all,
                               Sync::try_all, Sync::wait_some, Sync::try_some};

/// Calls `attempt`, which polls by itself, until it answers GASNET_OK.
void until_ok(const std::function<int()>& attempt) {
  const Patience patience;
  int answer = GASNET_ERR_NOT_READY;
  while ((answer = attempt()) == GASNET_ERR_NOT_READY && !patience.over())
    std::this_thread::yield();
  ASSERT_EQ(answer, GASNET_OK);
}

void synchronise(Sync how, gasnet_handle_t handle) {
  gasnet_handle_t handles[] = {GASNET_INVALID_HANDLE, handle, GASNET_INVALID_HANDLE};
  switch (how) {
    case Sync::wait:
      gasnet_wait_syncnb(handle);
      return;
    case Sync::try_one:
      until_ok([&] { return gasnet_try_syncnb(handle); });
      return;
    case Sync::wait_all:
      gasnet_wait_syncnb_all(handles, 3);
      break;
    case Sync::try_all:
      until_ok([&] { return gasnet_try_syncnb_all(handles, 3); });
      break;
    case Sync::wait_some:
      gasnet_wait_syncnb_some(handles, 3);
      break;
    case Sync::try_some:
      until_ok([&] { return gasnet_try_syncnb_some(handles, 3); });
      break;
  }
  for (const gasnet_handle_t each : handles) ASSERT_EQ(each, GASNET_INVALID_HANDLE);
}

Count polled;
void count_polled(gex_Token_t) {
  ++polled;
}
const Handlers handlers({entry(count_polled, short_request, 0, "GASNet-1: count polled")});

TEST(Gasnet1Sync, TryPollsWhateverTheHandle) {
  polled.reset();
  barrier();
  gex_AM_RequestShort0(team(), next(), handlers[0], 0);
  until_ok([] {
    EXPECT_EQ(gasnet_try_syncnb(GASNET_INVALID_HANDLE), GASNET_OK);
    return polled.get() == 1 ? GASNET_OK : GASNET_ERR_NOT_READY;
  });
}

/// A put in one of its forms; those that are not bulk leave the source to the caller at once.
struct PutForm {
  const char* name;
  bool source_is_free;
  std::function<void(gasnet_node_t, void*, void*, std::size_t)> start;
  std::function<void()> finish;
};

gasnet_handle_t pending = GASNET_INVALID_HANDLE;

std::vector<PutForm> put_forms() {
  const auto nothing = [] {};
  const auto handle = [] { gasnet_wait_syncnb(pending); };
  return {
      {"put", true, gasnet_put, nothing},
      {"put_bulk", true, gasnet_put_bulk, nothing},
      {"put_nb", true,
       [](gasnet_node_t node, void* to, void* from, std::size_t n) {
         pending = gasnet_put_nb(node, to, from, n);
       },
       handle},
      {"put_nb_bulk", false,
       [](gasnet_node_t node, void* to, void* from, std::size_t n) {
         pending = gasnet_put_nb_bulk(node, to, from, n);
       },
       handle},
      {"put_nbi", true, gasnet_put_nbi, gasnet_wait_syncnbi_puts},
      {"put_nbi_bulk", false, gasnet_put_nbi_bulk, gasnet_wait_syncnbi_all},
      {"put_nbi in a region", true,
       [](gasnet_node_t node, void* to, void* from, std::size_t n) {
         gasnet_begin_nbi_accessregion();
         gasnet_put_nbi(node, to, from, n);
         pending = gasnet_end_nbi_accessregion();
       },
       handle},
  };
}

struct GetForm {
  const char* name;
  std::function<void(void*, gasnet_node_t, void*, std::size_t)> get;
};

std::vector<GetForm> get_forms() {
  return {
      {"get", gasnet_get},
      {"get_bulk", gasnet_get_bulk},
      {"get_nb", [](void* to, gasnet_node_t node, void* from,
                    std::size_t n) { gasnet_wait_syncnb(gasnet_get_nb(to, node, from, n)); }},
      {"get_nb_bulk",
       [](void* to, gasnet_node_t node, void* from, std::size_t n) {
         gasnet_wait_syncnb(gasnet_get_nb_bulk(to, node, from, n));
       }},
      {"get_nbi",
       [](void* to, gasnet_node_t node, void* from, std::size_t n) {
         gasnet_get_nbi(to, node, from, n);
         gasnet_wait_syncnbi_gets();
       }},
      {"get_nbi_bulk",
       [](void* to, gasnet_node_t node, void* from, std::size_t n) {
         gasnet_get_nbi_bulk(to, node, from, n);
         gasnet_wait_syncnbi_all();
       }},
  };
}

TEST(Gasnet1Rma, EveryPutWritesItsBytesAndNoOthers) {
  for (const PutForm& form : put_forms()) {
    std::vector<std::byte> expected(200000, std::byte{0x5A});
    std::memset(own_segment(), 0x5A, expected.size());
    barrier();
    std::size_t at = 3;
    std::uint64_t seed = 0;
    for (const std::size_t bytes : sizes) {
      // One byte more, so that there is memory even for none.
      std::vector<std::byte> source = patterned(rank() * 100 + seed, bytes + 1);
      form.start(next(), segment_of(next()) + at, source.data(), bytes);
      if (form.source_is_free) std::fill(source.begin(), source.end(), std::byte{0xFF});
      form.finish();
      const std::vector<std::byte> arriving = patterned(previous() * 100 + seed, bytes);
      std::copy(arriving.begin(), arriving.end(),
                expected.begin() + static_cast<std::ptrdiff_t>(at));
      at += bytes + 5;
      ++seed;
    }
    barrier();
    EXPECT_TRUE(same_bytes(own_segment(), expected.data(), expected.size())) << form.name;
    barrier();
  }
}

TEST(Gasnet1Rma, EveryGetReadsItsBytesAndNoOthers) {
  fill(own_segment(), rank() + 7, 200000);
  barrier();
  const std::vector<std::byte> theirs = patterned(next() + 7, 200000);
  for (const GetForm& form : get_forms()) {
    for (const std::size_t bytes : sizes) {
      const std::size_t from = bytes * 3 % 1001;
      std::vector<std::byte> local(bytes + 2, std::byte{0x77});
      form.get(local.data() + 1, next(), segment_of(next()) + from, bytes);
      EXPECT_TRUE(same_bytes(local.data() + 1, theirs.data() + from, bytes)) << form.name;
      EXPECT_EQ(local.front(), std::byte{0x77});
      EXPECT_EQ(local.back(), std::byte{0x77});
    }
  }
}

TEST(Gasnet1Rma, ToAndFromSelf) {
  std::vector<std::byte> source = patterned(5, 3000);
  for (const PutForm& form : put_forms()) {
    std::memset(own_segment(), 0, 4096);
    form.start(gasnet_mynode(), own_segment() + 1, source.data(), source.size());
    form.finish();
    EXPECT_TRUE(same_bytes(own_segment() + 1, source.data(), source.size())) << form.name;
    for (const GetForm& get : get_forms()) {
      std::vector<std::byte> local(source.size());
      get.get(local.data(), gasnet_mynode(), own_segment() + 1, local.size());
      EXPECT_EQ(local, source) << get.name;
    }
  }
}

TEST(Gasnet1Rma, MemsetDoesAsTheOwnersMemsetWould) {
  const std::function<void(gasnet_node_t, void*, int, std::size_t)> forms[] = {
      gasnet_memset,
      [](gasnet_node_t node, void* to, int value, std::size_t n) {
        gasnet_wait_syncnb(gasnet_memset_nb(node, to, value, n));
      },
      [](gasnet_node_t node, void* to, int value, std::size_t n) {
        gasnet_memset_nbi(node, to, value, n);
        gasnet_wait_syncnbi_puts();
      },
      [](gasnet_node_t node, void* to, int value, std::size_t n) {
        gasnet_begin_nbi_accessregion();
        gasnet_memset_nbi(node, to, value, n);
        gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
      },
  };
  for (const auto& form : forms) {
    std::vector<std::byte> expected(300000, std::byte{1});
    std::memset(own_segment(), 1, expected.size());
    barrier();
    std::size_t at = 1;
    // Only the low byte of the value counts.
    for (int value : {0x00, 0x7F, -1, 0x1A5}) {
      for (const std::size_t bytes : sizes) {
        if (at + bytes > expected.size()) continue;
        form(next(), segment_of(next()) + at, value + static_cast<int>(rank()), bytes);
        std::memset(expected.data() + at, value + static_cast<int>(previous()), bytes);
        at += bytes + 2;
      }
    }
    barrier();
    EXPECT_TRUE(same_bytes(own_segment(), expected.data(), expected.size()));
    barrier();
  }
}

/// All bits in use and the highest set; or few.
constexpr gasnet_register_value_t values[] = {0xF1E2D3C4B5A69788U, 0x7FFFFFFFFFFFFFFFU,
                                              0x8000000000000000U, 0, 1};

gasnet_register_value_t low_bytes(gasnet_register_value_t value, std::size_t bytes) {
  return bytes == 8 ? value : value & ((gasnet_register_value_t{1} << (8 * bytes)) - 1);
}

TEST(Gasnet1Rma, ValuesKeepTheirLowBytesAndZeroTheRest) {
  const std::function<void(gasnet_node_t, void*, gasnet_register_value_t, std::size_t)> puts[] = {
      gasnet_put_val,
      [](gasnet_node_t node, void* to, gasnet_register_value_t value, std::size_t n) {
        gasnet_wait_syncnb(gasnet_put_nb_val(node, to, value, n));
      },
      [](gasnet_node_t node, void* to, gasnet_register_value_t value, std::size_t n) {
        gasnet_put_nbi_val(node, to, value, n);
        gasnet_wait_syncnbi_puts();
      },
  };
  for (const auto& put : puts) {
    for (const gasnet_register_value_t value : values) {
      for (std::size_t bytes = 1; bytes <= SIZEOF_GASNET_REGISTER_VALUE_T; ++bytes) {
        std::memset(own_segment() + 64, 0xEE, 32);
        barrier();
        put(next(), segment_of(next()) + 64 + bytes, value, bytes);
        EXPECT_EQ(gasnet_get_val(next(), segment_of(next()) + 64 + bytes, bytes),
                  low_bytes(value, bytes));
        EXPECT_EQ(gasnet_wait_syncnb_valget(
                      gasnet_get_nb_val(next(), segment_of(next()) + 64 + bytes, bytes)),
                  low_bytes(value, bytes));
        barrier();
        EXPECT_EQ(own_segment()[64 + bytes - 1], std::byte{0xEE});
        EXPECT_EQ(own_segment()[64 + bytes + bytes], std::byte{0xEE});
      }
    }
  }
}

TEST(Gasnet1Rma, ValueGetsAreSynchronisedEachByItself) {
  constexpr std::size_t count = 400;
  auto* own = reinterpret_cast<gasnet_register_value_t*>(own_segment());
  const auto value_of = [](gasnet_node_t node, std::size_t i) {
    return values[i % std::size(values)] + node * 1000 + i;
  };
  for (std::size_t i = 0; i < count; ++i) own[i] = value_of(rank(), i);
  barrier();
  const auto start = [](std::size_t i) {
    return gasnet_get_nb_val(next(), segment_of(next()) + 8 * i, 8);
  };
  std::vector<gasnet_valget_handle_t> handles(count);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < count; ++i) handles[i] = start(i);
    // What else is synchronised is no business of theirs.
    gasnet_wait_syncnbi_all();
    for (std::size_t i = 0; i < count; i += 2)
      ASSERT_EQ(gasnet_wait_syncnb_valget(handles[i]), value_of(next(), i));
    // Handles of ended gets are used again while the other gets are under way.
    for (std::size_t i = 0; i < count; i += 4) handles[i] = start(i);
    for (std::size_t i = count; i-- > 0;) {
      if (i % 4 == 2) continue;
      ASSERT_EQ(gasnet_wait_syncnb_valget(handles[i]), value_of(next(), i));
    }
  }
}

TEST(Gasnet1Rma, EverySynchronisationOfOneHandle) {
  const std::vector<std::byte> source = patterned(rank() + 3, 20000);
  std::vector<std::byte> back(source.size());
  for (const Sync how : every_sync) {
    synchronise(how, GASNET_INVALID_HANDLE);
    synchronise(how, gasnet_put_nb_bulk(next(), segment_of(next()), source.data(), source.size()));
    std::fill(back.begin(), back.end(), std::byte{0});
    synchronise(how, gasnet_get_nb_bulk(back.data(), next(), segment_of(next()), back.size()));
    ASSERT_EQ(back, source);
    synchronise(how, gasnet_memset_nb(next(), segment_of(next()), 0, source.size()));
    synchronise(how, gasnet_put_nb_val(next(), segment_of(next()), 9, 4));
    gasnet_begin_nbi_accessregion();
    synchronise(how, gasnet_end_nbi_accessregion());
  }
}

TEST(Gasnet1Rma, ArraysOfHandlesShrinkAsTheyComplete) {
  constexpr std::size_t count = 300;
  std::vector<std::uint64_t> source(count);
  for (std::size_t i = 0; i < count; ++i) source[i] = rank() * 1000 + i;
  const auto start_all = [&] {
    std::vector<gasnet_handle_t> handles(2 * count, GASNET_INVALID_HANDLE);
    for (std::size_t i = 0; i < count; ++i)
      handles[2 * i] = gasnet_put_nb_bulk(next(), segment_of(next()) + 8 * i, &source[i], 8);
    return handles;
  };
  const auto left_of = [](const std::vector<gasnet_handle_t>& handles) {
    return static_cast<std::size_t>(
        std::count_if(handles.begin(), handles.end(),
                      [](gasnet_handle_t h) { return h != GASNET_INVALID_HANDLE; }));
  };
  for (int round = 0; round < 4; ++round) {
    std::vector<gasnet_handle_t> handles = start_all();
    switch (round) {
      case 0:
        gasnet_wait_syncnb_all(handles.data(), handles.size());
        break;
      case 1:
        until_ok([&] { return gasnet_try_syncnb_all(handles.data(), handles.size()); });
        break;
      case 2:
        // At least one fewer each time.
        for (std::size_t before = left_of(handles); before > 0;) {
          gasnet_wait_syncnb_some(handles.data(), handles.size());
          const std::size_t now = left_of(handles);
          ASSERT_LT(now, before);
          before = now;
        }
        break;
      default: {
        const Patience patience;
        for (std::size_t before = left_of(handles); before > 0 && !patience.over();) {
          const int answer = gasnet_try_syncnb_some(handles.data(), handles.size());
          const std::size_t now = left_of(handles);
          ASSERT_EQ(answer, now < before ? GASNET_OK : GASNET_ERR_NOT_READY);
          before = now;
        }
      }
    }
    EXPECT_EQ(left_of(handles), 0U);
    // Nothing valid in it: complete.
    gasnet_wait_syncnb_some(handles.data(), handles.size());
    EXPECT_EQ(gasnet_try_syncnb_some(handles.data(), handles.size()), GASNET_OK);
    EXPECT_EQ(gasnet_try_syncnb_all(handles.data(), handles.size()), GASNET_OK);
    EXPECT_EQ(gasnet_try_syncnb_some(nullptr, 0), GASNET_OK);
    EXPECT_EQ(gasnet_try_syncnb_all(nullptr, 0), GASNET_OK);
    barrier();
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(look_at<std::uint64_t>(own_segment() + 8 * i), previous() * 1000 + i);
    barrier();
  }
}

TEST(Gasnet1Rma, SixtyFiveThousandHandlesAtOnce) {
  // What the specification demands; fewer where many ranks share the processors.
  const std::size_t count = size() <= 2 ? 65535 : 2000;
  const std::uint8_t byte = 0x3C;
  std::vector<gasnet_handle_t> handles(count);
  for (std::size_t i = 0; i < count; ++i)
    handles[i] = gasnet_put_nb(next(), segment_of(next()) + i, &byte, 1);
  gasnet_wait_syncnb_all(handles.data(), count);
  barrier();
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(own_segment()[i], std::byte{0x3C});
}

TEST(Gasnet1Rma, ImplicitHandlesByCategory) {
  fill(own_segment(), rank() + 40, 30000);
  barrier();
  for (int round = 0; round < 12; ++round) {
    std::vector<std::byte> source = patterned(rank() + 50 + round, 30000);
    std::vector<std::byte> local(30000);
    gasnet_put_nbi_bulk(next(), segment_of(next()) + 65536, source.data(), 30000);
    gasnet_get_nbi(local.data(), next(), segment_of(next()), 30000);
    switch (round % 4) {
      case 0:
        gasnet_wait_syncnbi_gets();
        break;
      case 1:
        until_ok(gasnet_try_syncnbi_gets);
        break;
      case 2:
        gasnet_wait_syncnbi_all();
        break;
      default:
        until_ok(gasnet_try_syncnbi_all);
    }
    ASSERT_TRUE(holds(local.data(), next() + 40, 30000)) << round;
    if (round % 2 == 0)
      gasnet_wait_syncnbi_puts();
    else
      until_ok(gasnet_try_syncnbi_puts);
    // The source is the caller's again.
    std::fill(source.begin(), source.end(), std::byte{0});
    gasnet_get(local.data(), next(), segment_of(next()) + 65536, 30000);
    ASSERT_TRUE(holds(local.data(), rank() + 50 + round, 30000)) << round;
  }
  EXPECT_EQ(gasnet_try_syncnbi_gets(), GASNET_OK);
  EXPECT_EQ(gasnet_try_syncnbi_puts(), GASNET_OK);
  EXPECT_EQ(gasnet_try_syncnbi_all(), GASNET_OK);
}

TEST(Gasnet1Rma, ARegionKeepsItsOperationsToItself) {
  fill(own_segment(), rank() + 60, 20000);
  barrier();
  for (int round = 0; round < 10; ++round) {
    const std::vector<std::byte> source = patterned(rank() + 61 + round, 20000);
    std::vector<std::byte> local(20000);
    std::vector<std::byte> beside(20000);
    gasnet_begin_nbi_accessregion();
    gasnet_get_nbi_bulk(local.data(), next(), segment_of(next()), 20000);
    gasnet_put_nbi_bulk(next(), segment_of(next()) + 65536, source.data(), 20000);
    gasnet_put_nbi_val(next(), segment_of(next()) + 130000, 77, 1);
    // Explicit handles go on as usual.
    gasnet_wait_syncnb(gasnet_get_nb(beside.data(), next(), segment_of(next()), 20000));
    ASSERT_TRUE(holds(beside.data(), next() + 60, 20000));
    const gasnet_handle_t handle = gasnet_end_nbi_accessregion();
    EXPECT_EQ(gasnet_try_syncnbi_all(), GASNET_OK) << "they are implicit no more";
    synchronise(every_sync[static_cast<std::size_t>(round) % std::size(every_sync)], handle);
    ASSERT_TRUE(holds(local.data(), next() + 60, 20000));
    gasnet_get(local.data(), next(), segment_of(next()) + 65536, 20000);
    ASSERT_EQ(local, source);
    EXPECT_EQ(gasnet_get_val(next(), segment_of(next()) + 130000, 1), 77U);
  }
}

TEST(Gasnet1Rma, MixesWithGasnetEx) {
  const std::vector<std::byte> source = patterned(rank() + 90, 10000);
  std::vector<std::byte> back(10000);
  // Started in one interface, synchronised and read in the other.
  gex_Event_Wait(gasnet_put_nb_bulk(next(), segment_of(next()), source.data(), source.size()));
  gex_RMA_GetNBI(team(), back.data(), next(), segment_of(next()), back.size(), 0);
  gasnet_wait_syncnbi_gets();
  ASSERT_EQ(back, source);
  gasnet_wait_syncnb(gex_RMA_PutNB(team(), next(), segment_of(next()) + 20000, source.data(), 10000,
                                   GEX_EVENT_DEFER, 0));
  std::fill(back.begin(), back.end(), std::byte{0});
  gasnet_get_nbi(back.data(), next(), segment_of(next()) + 20000, back.size());
  gex_NBI_Wait(GEX_EC_GET, 0);
  ASSERT_EQ(back, source);
  gasnet_handle_t both[] = {
      gex_RMA_PutNBVal(team(), next(), segment_of(next()) + 40000, 0x12345678, 4, 0),
      gasnet_put_nb_val(next(), segment_of(next()) + 40004, 0x9ABCDEF0, 4),
      gex_Coll_BarrierNB(team(), 0)};
  gasnet_wait_syncnb_all(both, 3);
  barrier();
  EXPECT_EQ(look_at<std::uint32_t>(own_segment() + 40000), 0x12345678U);
  EXPECT_EQ(look_at<std::uint32_t>(own_segment() + 40004), 0x9ABCDEF0U);
  barrier();
  gasnet_begin_nbi_accessregion();
  gasnet_memset_nbi(next(), segment_of(next()) + 40000, 0, 4);
  gex_Event_t region = gex_NBI_EndAccessRegion(0);
  gex_Event_Wait(gex_Event_QueryLeaf(region, GEX_EC_PUT));
  gasnet_wait_syncnb(region);
  EXPECT_EQ(gex_RMA_GetBlockingVal(team(), next(), segment_of(next()) + 40000, 8, 0),
            0x9ABCDEF000000000U);
}

TEST_IN_PAR(Gasnet1Rma, ThreadsSynchroniseTheirOwn) {
  constexpr std::size_t threads = 3;
  std::vector<std::thread> running;
  std::vector<int> wrong(threads, 0);
  for (std::size_t t = 0; t < threads; ++t) {
    running.emplace_back([t, &wrong] {
      GASNET_POST_THREADINFO(GASNET_GET_THREADINFO());
      GASNET_BEGIN_FUNCTION();
      std::byte* area = segment_of(next()) + t * 65536;
      for (std::uint64_t round = 0; round < 40; ++round) {
        const std::vector<std::byte> source = patterned(rank() * 7919 + t * 100 + round, 5000);
        std::vector<std::byte> back(source.size());
        gasnet_put_nbi_bulk(next(), area, source.data(), source.size());
        gasnet_wait_syncnbi_puts();
        const gasnet_valget_handle_t first = gasnet_get_nb_val(next(), area, 1);
        gasnet_wait_syncnb(gasnet_get_nb_bulk(back.data(), next(), area, back.size()));
        const auto byte = std::byte(gasnet_wait_syncnb_valget(first));
        if (back != source || byte != source[0]) ++wrong[t];
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  for (const int each : wrong) EXPECT_EQ(each, 0);
}

}  // namespace
}  // namespace conformance::gasnet1_rma_test
