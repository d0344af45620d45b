// Segments of another kind of memory: nothing reaches them but the kind's own copy.
//
// The kind stands for a device's memory: pages that may not be touched where their segment lies,
// and which its copy function reaches at another address. What bypasses that function dies of a
// signal.
//
// The kind is of a class of its own, a further one beside those that libgex and its networks have:
// to be one it needs what this file registers, and no change elsewhere.
//
//   kinds_test                        transfers of all forms and messages
//   kinds_test of_cuda                the same with a kind of CUDA's class
//   kinds_test atomics|collectives    what is refused, with the reason, and the end of the job

#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnet_vis.h>
#include <gasnetex.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "../../inert_kind.h"
#include "base/error_environment.h"
#include "core/memory.h"
#include "core/memory_class.h"
#include "core/memory_sharing.h"
#include "core/segment.h"
#include "core/thread.h"

namespace {

constexpr std::size_t device_bytes = std::size_t{1} << 20;

std::byte* device = nullptr;  ///< as the segment names it: it may not be touched
std::byte* reached = nullptr;
std::atomic<std::uint64_t> copies{0};

void* reach(const void* address) {
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - device);
  return offset < device_bytes ? reached + offset : const_cast<void*>(address);
}
struct Fake final : gex::InertKind {
  constexpr explicit Fake(gex::net::MemoryClass of) : InertKind(of, 7) {}
  void copy(void* to, const void* from, std::size_t bytes) const noexcept override {
    copies.fetch_add(1);
    std::memcpy(reach(to), reach(from), bytes);
  }
  void begin_copy(void* to, const void* from, std::size_t bytes, gex::CompletionTarget done,
                  gex::CompletionTarget local) const noexcept override {
    copy(to, from, bytes);
    gex::complete(done);
    if (local != nullptr) gex::complete(local);
  }
};
constexpr gex::net::MemoryClass further_class{gex::net::max_memory_classes - 1};
constexpr Fake of_further_class(further_class);
constexpr Fake of_cuda(gex::net::cuda_memory);

constexpr gex::MemoryClassInfo further_info{
    .memory_class = further_class,
    .name = "FURTHER",
    .entry = "further",
    .sharing = &gex::no_sharing,
    .describe_unknown = [](const void*) { return std::string(); },
    .unpin = [](const void*) {}};

[[noreturn]] void fail(const char* what, int line) {
  std::fprintf(stderr, "kinds_test: rank %u, line %d: %s\n", gex_System_QueryJobRank(), line, what);
  gasnet_exit(1);
  _exit(1);
}
#define CHECK(condition) ((condition) ? void() : fail(#condition, __LINE__))

gex_TM_t team;
/// For local memory of the host: the team, or in checked mode, where that must be memory of the
/// endpoint's segment, an endpoint with host memory.
gex_TM_t from_host;
gex_Rank_t rank, ranks;

void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

/// Bytes that show which rank they are of, and what for.
std::vector<std::byte> pattern(gex_Rank_t of, unsigned number, std::size_t bytes) {
  std::vector<std::byte> result(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    result[i] = static_cast<std::byte>(of * 37 + number * 101 + i * 7 + i / 251);
  return result;
}
bool holds(const std::byte* at, const std::vector<std::byte>& bytes) {
  return std::memcmp(reach(at), bytes.data(), bytes.size()) == 0;
}
void fill(std::byte* at, const std::vector<std::byte>& bytes) {
  std::memcpy(reach(at), bytes.data(), bytes.size());
}

/// Every rank's device lies where it was mapped, which differs.
std::vector<std::byte*> devices;

constexpr std::size_t sizes[] = {1, 8, 64, 1000, 20000, 100000};

void try_puts_and_gets(gex_Rank_t peer) {
  std::byte* const there = devices[peer];
  for (const std::size_t size : sizes) {
    const auto number = static_cast<unsigned>(size);
    const auto bytes = pattern(rank, number, size);
    std::vector<std::byte> back(size);
    // From the host, in each form.
    gex_RMA_PutBlocking(from_host, peer, there, const_cast<std::byte*>(bytes.data()), size, 0);
    gex_RMA_GetBlocking(from_host, back.data(), peer, there, size, 0);
    CHECK(back == bytes);
    std::fill(back.begin(), back.end(), std::byte{0});
    gex_Event_Wait(gex_RMA_PutNB(from_host, peer, there + device_bytes / 4,
                                 const_cast<std::byte*>(bytes.data()), size, GEX_EVENT_DEFER, 0));
    gex_Event_Wait(gex_RMA_GetNB(from_host, back.data(), peer, there + device_bytes / 4, size, 0));
    CHECK(back == bytes);
    std::fill(back.begin(), back.end(), std::byte{0});
    gex_RMA_PutNBI(from_host, peer, there + device_bytes / 2, const_cast<std::byte*>(bytes.data()),
                   size, GEX_EVENT_NOW, 0);
    gex_NBI_Wait(GEX_EC_ALL, 0);
    gex_RMA_GetNBI(from_host, back.data(), peer, there + device_bytes / 2, size, 0);
    gex_NBI_Wait(GEX_EC_ALL, 0);
    CHECK(back == bytes);
  }
  gex_RMA_PutBlockingVal(from_host, peer, there, 0x1122334455667788, 8, 0);
  CHECK(gex_RMA_GetBlockingVal(from_host, peer, there, 8, 0) == 0x1122334455667788);
}

/// Both ends in devices.
void try_between_devices(gex_Rank_t peer) {
  constexpr std::size_t size = 50000;
  const auto bytes = pattern(rank, 3, size);
  std::byte* const own = device + device_bytes / 4;
  fill(own, bytes);
  gex_RMA_PutBlocking(team, peer, devices[peer] + device_bytes / 2, own, size, 0);
  fill(own, pattern(rank, 4, size));
  gex_RMA_GetBlocking(team, own, peer, devices[peer] + device_bytes / 2, size, 0);
  CHECK(holds(own, bytes));
}

void try_vis(gex_Rank_t peer) {
  constexpr std::size_t element = 24, rows = 40, columns = 30;
  constexpr std::size_t bytes = element * rows * columns;
  const std::size_t count[] = {columns, rows};
  const std::ptrdiff_t dense[] = {element, element * columns};
  const std::ptrdiff_t loose[] = {2 * element, 3 * element * columns};
  auto source = pattern(rank, 5, bytes);
  std::vector<std::byte> back(bytes);
  std::byte* const there = devices[peer] + 64;
  gex_VIS_StridedPutBlocking(from_host, peer, there, loose, source.data(), dense, element, count, 2,
                             0);
  gex_VIS_StridedGetBlocking(from_host, back.data(), dense, peer, there, loose, element, count, 2,
                             0);
  CHECK(back == source);
  // The own end in the device, and transposed.
  const std::ptrdiff_t turned[] = {element * rows, element};
  std::byte* const own = device + device_bytes / 2;
  gex_VIS_StridedGetBlocking(team, own, turned, peer, there, loose, element, count, 2, 0);
  std::fill(back.begin(), back.end(), std::byte{0});
  gex_VIS_StridedPutBlocking(team, peer, there, dense, own, turned, element, count, 2, 0);
  gex_RMA_GetBlocking(from_host, back.data(), peer, there, bytes, 0);
  CHECK(back == source);
  // Lists.
  std::vector<void*> entries, own_entries;
  std::vector<gex_Memvec_t> blocks;
  for (std::size_t i = 0; i < rows; ++i) {
    entries.push_back(there + i * 1000);
    own_entries.push_back(own + i * 700);
    blocks.push_back({source.data() + i * 600, 600});
  }
  gex_VIS_IndexedPutBlocking(from_host, peer, rows, entries.data(), 600, 1,
                             std::vector<void*>{source.data()}.data(), rows * 600, 0);
  gex_VIS_IndexedGetBlocking(team, rows, own_entries.data(), 600, peer, rows, entries.data(), 600,
                             0);
  for (std::size_t i = 0; i < rows; ++i)
    CHECK(std::memcmp(reach(own_entries[i]), source.data() + i * 600, 600) == 0);
  const gex_Memvec_t whole{there, rows * 600};
  gex_VIS_VectorPutBlocking(from_host, peer, 1, &whole, rows, blocks.data(), 0);
  gex_RMA_GetBlocking(from_host, back.data(), peer, there, rows * 600, 0);
  CHECK(std::memcmp(back.data(), source.data(), rows * 600) == 0);
  // One list with blocks of the host and of the device, which checked mode refuses.
  if (from_host != team) return;
  void* to[] = {there + 600};
  void* mixed[] = {source.data() + 600, own};
  gex_VIS_IndexedPutBlocking(team, peer, 1, to, 1200, 2, mixed, 600, 0);
  fill(own, pattern(rank, 6, 600));
  mixed[0] = back.data();
  gex_VIS_IndexedGetBlocking(team, 2, mixed, 600, peer, 1, to, 1200, 0);
  CHECK(std::memcmp(back.data(), source.data() + 600, 600) == 0);
  CHECK(std::memcmp(reach(own), source.data(), 600) == 0);
}

/// Every rank has an endpoint besides whose segment is the host's, which the network, or this
/// process, may reach by itself: the own end is the device's.
std::vector<std::byte*> hosts;
gex_EP_t host_endpoint, device_endpoint;

void try_host_segments(gex_Rank_t peer) {
  constexpr std::size_t size = 40000;
  const gex_TM_t pair = gex_TM_Pair(device_endpoint, gex_EP_QueryIndex(host_endpoint));
  const auto bytes = pattern(rank, 8, size);
  std::byte* const own = device + 1000;
  std::byte* const there = hosts[peer] + 16;
  fill(own, bytes);
  gex_RMA_PutBlocking(pair, peer, there, own, size, 0);
  fill(own, pattern(rank, 9, size));
  gex_RMA_GetBlocking(pair, own, peer, there, size, 0);
  CHECK(holds(own, bytes));
  gex_Event_Wait(gex_RMA_PutNB(pair, peer, there + size, own, size, GEX_EVENT_NOW, 0));
  gex_RMA_GetNBI(pair, own + size, peer, there + size, size, 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  CHECK(holds(own + size, bytes));
  // Rows of 100 bytes, and a transpose.
  const std::size_t count[] = {100, 20};
  const std::ptrdiff_t rows[] = {8, 800};
  const std::ptrdiff_t turned[] = {160, 8};
  gex_VIS_StridedPutBlocking(pair, peer, there, turned, own, rows, 8, count, 2, 0);
  fill(own, pattern(rank, 9, 16000));
  gex_VIS_StridedGetBlocking(pair, own, rows, peer, there, turned, 8, count, 2, 0);
  CHECK(std::memcmp(reach(own), bytes.data(), 16000) == 0);
}

constexpr gex_AM_Index_t request_handler = 200, reply_handler = 201;
constexpr std::size_t long_size = 3000;
std::atomic<int> replies{0};

void on_request(gex_Token_t token, void* at, std::size_t size, gex_AM_Arg_t source,
                gex_AM_Arg_t low, gex_AM_Arg_t high) {
  CHECK(size == long_size && holds(static_cast<std::byte*>(at), pattern(source, 6, size)));
  const auto answer = pattern(rank, 7, size);
  auto* to =
      reinterpret_cast<std::byte*>(static_cast<std::uint64_t>(static_cast<std::uint32_t>(low)) |
                                   static_cast<std::uint64_t>(high) << 32);
  gex_AM_ReplyLong1(token, reply_handler, const_cast<std::byte*>(answer.data()), size, to,
                    GEX_EVENT_NOW, 0, static_cast<gex_AM_Arg_t>(rank));
}
void on_reply(gex_Token_t, void* at, std::size_t size, gex_AM_Arg_t source) {
  CHECK(size == long_size && holds(static_cast<std::byte*>(at), pattern(source, 7, size)));
  replies.fetch_add(1);
}

void try_long_messages(gex_Rank_t peer) {
  auto payload = pattern(rank, 6, long_size);
  // Each sender has a place of its own.
  std::byte* const to = devices[peer] + device_bytes / 4 * 3 + rank * 4096;
  std::byte* const back = device + device_bytes / 8 * 7;
  const auto word = reinterpret_cast<std::uint64_t>(back);
  const int before = replies.load();
  gex_AM_RequestLong3(team, peer, request_handler, payload.data(), long_size, to, GEX_EVENT_NOW, 0,
                      static_cast<gex_AM_Arg_t>(rank), static_cast<gex_AM_Arg_t>(word),
                      static_cast<gex_AM_Arg_t>(word >> 32));
  while (replies.load() == before) gasnet_AMPoll();
}

void start(const gex::MemoryKind& kind) {
  gex_Client_t client;
  gex_EP_t endpoint;
  CHECK(gex_Client_Init(&client, &endpoint, &team, "KINDS", nullptr, nullptr, 0) == GASNET_OK);
  gex::register_memory_class(further_info);
  rank = gex_TM_QueryRank(team);
  ranks = gex_TM_QuerySize(team);
  gex_AM_Entry_t handlers[] = {{request_handler, reinterpret_cast<gex_AM_Fn_t>(on_request),
                                GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 3, nullptr, nullptr},
                               {reply_handler, reinterpret_cast<gex_AM_Fn_t>(on_reply),
                                GEX_FLAG_AM_LONG | GEX_FLAG_AM_REPLY, 1, nullptr, nullptr}};
  CHECK(gex_EP_RegisterHandlers(endpoint, handlers, 2) == GASNET_OK);

  const int file = memfd_create("kinds_test", MFD_CLOEXEC);
  CHECK(file >= 0 && ftruncate(file, device_bytes) == 0);
  device = static_cast<std::byte*>(mmap(nullptr, device_bytes, PROT_NONE, MAP_SHARED, file, 0));
  reached = static_cast<std::byte*>(
      mmap(nullptr, device_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  CHECK(device != MAP_FAILED && reached != MAP_FAILED);
  close(file);
  const gex_Segment_t segment = gex::register_segment(client, device, device_bytes, 0, &kind);
  gex_EP_BindSegment(endpoint, segment, 0);
  CHECK(gex_EP_PublishBoundSegment(team, &endpoint, 1, 0) == GASNET_OK);
  for (gex_Rank_t peer = 0; peer < ranks; ++peer) {
    void* address = nullptr;
    void* here = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(team, peer, &address, &here, nullptr, 0));
    // Mapped by no rank, its owner included.
    CHECK(here == nullptr);
    devices.push_back(static_cast<std::byte*>(address));
  }

  device_endpoint = endpoint;
  gex_Segment_t on_host;
  CHECK(gex_EP_Create(&host_endpoint, client, GEX_EP_CAPABILITY_RMA | GEX_EP_CAPABILITY_VIS, 0) ==
        GASNET_OK);
  CHECK(gex_Segment_Create(&on_host, client, nullptr, device_bytes, GEX_MK_HOST, 0) == GASNET_OK);
  gex_EP_BindSegment(host_endpoint, on_host, 0);
  CHECK(gex_EP_PublishBoundSegment(team, &host_endpoint, 1, 0) == GASNET_OK);
  from_host = std::getenv("GEX_CHECK") != nullptr
                  ? gex_TM_Pair(host_endpoint, gex_EP_QueryIndex(device_endpoint))
                  : team;
  const gex_TM_t pair = gex_TM_Pair(device_endpoint, gex_EP_QueryIndex(host_endpoint));
  for (gex_Rank_t peer = 0; peer < ranks; ++peer) {
    void* address = nullptr;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair, peer, &address, nullptr, nullptr, 0));
    hosts.push_back(static_cast<std::byte*>(address));
  }
}

void try_all() {
  // One rank after the other: they use the same places.
  for (gex_Rank_t turn = 0; turn < ranks; ++turn) {
    barrier();
    if (turn != rank) continue;
    for (gex_Rank_t peer = 0; peer < ranks; ++peer) {
      const std::uint64_t before = copies.load();
      try_puts_and_gets(peer);
      try_between_devices(peer);
      try_vis(peer);
      try_host_segments(peer);
      CHECK(copies.load() > before);
    }
  }
  barrier();
  for (gex_Rank_t peer = 0; peer < ranks; ++peer) try_long_messages(peer);
  barrier();
}

}  // namespace

int main(int count, char** arguments) {
  gex::follow_error_environment();
  const std::string_view what = count > 1 ? arguments[1] : "";
  start(what == "of_cuda" ? of_cuda : of_further_class);
  if (what == "atomics") {
    gex_AD_t domain;
    gex_AD_Create(&domain, team, GEX_DT_U64, GEX_OP_ADD, 0);
    if (rank == 0)
      gex_Event_Wait(
          gex_AD_OpNB_U64(domain, nullptr, ranks - 1, devices[ranks - 1], GEX_OP_ADD, 1, 0, 0));
    barrier();
  } else if (what == "collectives") {
    std::uint64_t sum = 0;
    gex_Event_Wait(gex_Coll_ReduceToAllNB(team, &sum, device, GEX_DT_U64, 8, 1, GEX_OP_ADD, nullptr,
                                          nullptr, 0));
  } else {
    try_all();
  }
  gasnet_exit(0);
}
