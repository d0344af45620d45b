// Memory of CUDA's devices, over a driver that is not there (fake/fake.h): every rank has segments
// of the host's memory and of two devices, of the library's and of the client's memory, and each
// kind is copied to each at every rank. Clients of the public interface.
//
//   cuda_test            all of it; ranks with an odd number have device 1 first
//   cuda_test WHAT SORT  with the client's memory of a pool, managed or mapped, not of cuMemAlloc
//   cuda_test few        rank 0 alone has devices
//   cuda_test sizes      all sizes and alignments in every combination
//   cuda_test strided    transfers that are not contiguous
//   cuda_test waits      a stream that the client waits for without polls
//   cuda_test threads    threads with several contexts
//   cuda_test repeat     1000 small puts and gets between devices of neighbors
//   cuda_test messages   100 of them, since each takes a millisecond or two where messages carry it
//   cuda_test WHAT       one thing that is refused, or goes wrong: see `main`

#include <dlfcn.h>
#include <gasnet_coll.h>
#include <gasnet_mk.h>
#include <gasnet_vis.h>
#include <gasnetex.h>
#include <gex/mk_streams.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

namespace {

[[noreturn]] void fail(const char* what, int line) {
  std::fprintf(stderr, "cuda_test: rank %u, line %d: %s\n", gex_System_QueryJobRank(), line, what);
  gasnet_exit(1);
  _exit(1);
}
#define CHECK(condition) ((condition) ? void() : fail(#condition, __LINE__))

// What a client has of the driver.
using Context = void*;
using Address = unsigned long long;
struct AllocationOfDevice {
  int type = 1;
  unsigned handle_types = 1;  ///< descriptors
  int location = 1;
  int device = 0;
  void* unused[2] = {};
};
struct AccessOfDevice {
  int location = 1;
  int device = 0;
  unsigned flags = 3;
};
struct {
  int (*init)(unsigned);
  int (*device_count)(int*);
  int (*create_context)(Context*, unsigned, int);
  int (*current)(Context*);
  int (*pop)(Context*);
  int (*push)(Context);
  int (*retain)(Context*, int);
  int (*allocate)(Address*, std::size_t);
  int (*release)(Address);
  int (*allocate_of_pool)(Address*, std::size_t, void*);
  int (*allocate_managed)(Address*, std::size_t, unsigned);
  int (*create)(unsigned long long*, std::size_t, const AllocationOfDevice*, unsigned long long);
  int (*reserve)(Address*, std::size_t, std::size_t, Address, unsigned long long);
  int (*map)(Address, std::size_t, std::size_t, unsigned long long, unsigned long long);
  int (*give_access)(Address, std::size_t, const AccessOfDevice*, std::size_t);
  int (*unmap)(Address, std::size_t);
  int (*create_stream)(void**, unsigned);
  int (*synchronize)(void*);
  int (*copy)(Address, Address, std::size_t, void*);
  int (*wait_value)(void*, Address, unsigned, unsigned);
  int (*create_event)(void**, unsigned);
  int (*record)(void*, void*);
  int (*to_device)(Address, const void*, std::size_t);
  int (*to_host)(void*, Address, std::size_t);
} driver;

void load_driver() {
  void* const library = dlopen(std::getenv("GEX_CUDA_LIBRARY"), RTLD_NOW);
  CHECK(library != nullptr);
  const auto find = [&](auto& member, const char* name) {
    member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(dlsym(library, name));
    CHECK(member != nullptr);
  };
  find(driver.init, "cuInit");
  find(driver.device_count, "cuDeviceGetCount");
  find(driver.create_context, "cuCtxCreate_v2");
  find(driver.current, "cuCtxGetCurrent");
  find(driver.pop, "cuCtxPopCurrent_v2");
  find(driver.push, "cuCtxPushCurrent_v2");
  find(driver.retain, "cuDevicePrimaryCtxRetain");
  find(driver.allocate, "cuMemAlloc_v2");
  find(driver.release, "cuMemFree_v2");
  find(driver.allocate_of_pool, "cuMemAllocAsync");
  find(driver.allocate_managed, "cuMemAllocManaged");
  find(driver.create, "cuMemCreate");
  find(driver.reserve, "cuMemAddressReserve");
  find(driver.map, "cuMemMap");
  find(driver.give_access, "cuMemSetAccess");
  find(driver.unmap, "cuMemUnmap");
  find(driver.create_stream, "cuStreamCreate");
  find(driver.synchronize, "cuStreamSynchronize");
  find(driver.copy, "cuMemcpyAsync");
  find(driver.wait_value, "cuStreamWaitValue32_v2");
  find(driver.create_event, "cuEventCreate");
  find(driver.record, "cuEventRecord");
  find(driver.to_device, "cuMemcpyHtoD_v2");
  find(driver.to_host, "cuMemcpyDtoH_v2");
  // Before the library does, in ranks that have a context first.
  CHECK(driver.init(0) == 0);
}

/// The second device, or the first where there is no other.
int second_device() {
  int count = 0;
  CHECK(driver.device_count(&count) == 0);
  return count > 1 ? 1 : 0;
}

gex_Client_t client;
gex_TM_t team;
gex_Rank_t rank, ranks;

void barrier() {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

/// The context that the client has made current; calls of libgex leave it so.
Context context;
void check_context() {
  Context now = nullptr;
  CHECK(driver.current(&now) == 0 && now == context);
}

int make_kind(gex_MK_t* kind, int device, gex_MK_Class_t kind_class = GEX_MK_CLASS_CUDA_UVA) {
  gex_MK_Create_args_t args{};
  args.gex_class = kind_class;
  args.gex_args.gex_class_cuda_uva.gex_CUdevice = device;
  return gex_MK_Create(kind, client, &args, 0);
}

constexpr std::size_t segment_bytes = std::size_t{1} << 20;
/// Each rank writes in a part of its own of every segment.
constexpr std::size_t part_bytes = segment_bytes / 4;

/// The kind of the client's memory of devices.
std::string_view sort_of_memory;

/// The client's own mapping, in whose middle the segment lies.
constexpr std::size_t mapping_bytes = std::size_t{2} << 20;
constexpr std::size_t place_in_mapping = 12345;

Address allocate_mapped(int device) {
  const AllocationOfDevice properties{.device = device};
  const AccessOfDevice access{.device = device};
  unsigned long long allocation = 0;
  Address mapping = 0;
  CHECK(driver.create(&allocation, mapping_bytes, &properties, 0) == 0);
  CHECK(driver.reserve(&mapping, mapping_bytes, 0, 0, 0) == 0);
  CHECK(driver.map(mapping, mapping_bytes, 0, allocation, 0) == 0);
  CHECK(driver.give_access(mapping, mapping_bytes, &access, 1) == 0);
  return mapping + place_in_mapping;
}

/// With the context of its device current.
Address allocate_own(int device) {
  Address memory = 0;
  if (sort_of_memory == "pool") {
    CHECK(driver.allocate_of_pool(&memory, segment_bytes, nullptr) == 0);
  } else if (sort_of_memory == "managed") {
    CHECK(driver.allocate_managed(&memory, segment_bytes, 1) == 0);
  } else if (sort_of_memory == "mapped") {
    memory = allocate_mapped(device);
  } else {
    CHECK(driver.allocate(&memory, segment_bytes) == 0);
  }
  return memory;
}

/// The ends of a transfer. Of these, `private_host` is no segment's.
enum Kind { host, first, second, private_host, kinds };

struct Own {
  gex_MK_t memory_kind = GEX_MK_HOST;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  gex_EP_t endpoint = GEX_EP_INVALID;
  std::byte* address = nullptr;
  Address of_client = 0;
} own[3];
std::vector<std::byte> private_memory(part_bytes);

/// Where the segments are at each rank; null: it has no such segment.
std::vector<std::byte*> at_rank[3];

constexpr gex_AM_Index_t medium_index = 200, long_index = 201, answer_index = 202,
                         written_index = 203;
void take_medium(gex_Token_t token, void* payload, std::size_t size, gex_AM_Arg_t sender);
void take_long(gex_Token_t token, void* payload, std::size_t size, gex_AM_Arg_t sender);
void take_answer(gex_Token_t token, void* payload, std::size_t size, gex_AM_Arg_t sender);
void take_notice(gex_Token_t token, void* payload, std::size_t size);

void make_own(Kind kind, int device, bool library_memory) {
  Own& made = own[kind];
  void* memory = nullptr;
  if (kind != host) CHECK(make_kind(&made.memory_kind, device) == GASNET_OK);
  if (!library_memory) {
    Context primary = nullptr, popped = nullptr;
    CHECK(driver.retain(&primary, device) == 0 && driver.push(primary) == 0);
    made.of_client = allocate_own(device);
    CHECK(driver.pop(&popped) == 0);
    memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(made.of_client));
  }
  CHECK(gex_Segment_Create(&made.segment, client, memory, segment_bytes, made.memory_kind, 0) ==
        GASNET_OK);
  CHECK(memory == nullptr || gex_Segment_QueryAddr(made.segment) == memory);
  CHECK(gex_Segment_QuerySize(made.segment) == segment_bytes);
  made.address = static_cast<std::byte*>(gex_Segment_QueryAddr(made.segment));
  check_context();
}

void make_all(bool has_devices) {
  for (Kind kind : {host, first, second}) {
    CHECK(gex_EP_Create(&own[kind].endpoint, client, GEX_EP_CAPABILITY_ALL, 0) == GASNET_OK);
    gex_AM_Entry_t handlers[] = {{medium_index, reinterpret_cast<gex_AM_Fn_t>(take_medium),
                                  GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQUEST, 1, nullptr, "medium"},
                                 {long_index, reinterpret_cast<gex_AM_Fn_t>(take_long),
                                  GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 1, nullptr, "long"},
                                 {answer_index, reinterpret_cast<gex_AM_Fn_t>(take_answer),
                                  GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REQREP, 1, nullptr, "answer"},
                                 {written_index, reinterpret_cast<gex_AM_Fn_t>(take_notice),
                                  GEX_FLAG_AM_MEDIUM | GEX_FLAG_AM_REPLY, 0, nullptr, "written"}};
    CHECK(gex_EP_RegisterHandlers(own[kind].endpoint, handlers, 4) == GASNET_OK);
    const int device = (rank % 2 == 0) == (kind == first) ? 0 : second_device();
    if (kind != host && !has_devices) continue;
    make_own(kind, device, kind != second);
    CHECK(gex_EP_BindSegment(own[kind].endpoint, own[kind].segment, 0) == GASNET_OK);
  }
  gex_EP_t all[] = {own[host].endpoint, own[first].endpoint, own[second].endpoint};
  CHECK(gex_EP_PublishBoundSegment(team, all, 3, 0) == GASNET_OK);
  for (Kind kind : {host, first, second}) {
    const gex_TM_t pair = gex_TM_Pair(own[host].endpoint, gex_EP_QueryIndex(own[kind].endpoint));
    for (gex_Rank_t peer = 0; peer < ranks; ++peer) {
      void *there = nullptr, *here = nullptr;
      uintptr_t size = 0;
      gex_Event_Wait(gex_EP_QueryBoundSegmentNB(pair, peer, &there, &here, &size, 0));
      // Processors do not reach a device's memory, its owner's included.
      CHECK(kind == host || here == nullptr);
      CHECK(size == 0 || size == segment_bytes);
      at_rank[kind].push_back(static_cast<std::byte*>(there));
    }
  }
  check_context();
}

/// Once others have closed what they have opened.
void destroy_all() {
  gex_EP_t all[] = {own[host].endpoint, own[first].endpoint, own[second].endpoint};
  for (const Own& each : own)
    if (each.segment != GEX_SEGMENT_INVALID)
      gex_EP_BindSegment(each.endpoint, GEX_SEGMENT_INVALID, 0);
  CHECK(gex_EP_PublishBoundSegment(team, all, 3, 0) == GASNET_OK);
  for (Own& each : own) {
    if (each.segment == GEX_SEGMENT_INVALID) continue;
    gex_Segment_Destroy(each.segment, 0);
    if (each.of_client != 0) {
      Context primary = nullptr, popped = nullptr;
      CHECK(driver.retain(&primary, 0) == 0 && driver.push(primary) == 0);
      CHECK((sort_of_memory == "mapped"
                 ? driver.unmap(each.of_client - place_in_mapping, mapping_bytes)
                 : driver.release(each.of_client)) == 0);
      CHECK(driver.pop(&popped) == 0);
    }
    if (each.memory_kind != GEX_MK_HOST) gex_MK_Destroy(each.memory_kind, 0);
  }
  check_context();
}

std::vector<std::byte> pattern(unsigned number, std::size_t bytes) {
  std::vector<std::byte> result(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    result[i] = static_cast<std::byte>(rank * 37 + number * 101 + i * 7 + i / 251);
  return result;
}

std::byte* local_memory(Kind kind) {
  return kind == private_host ? private_memory.data() : own[kind].address + rank * part_bytes;
}
void fill(Kind kind, std::byte* at, const std::vector<std::byte>& bytes) {
  if (kind != first && kind != second) {
    std::memcpy(at, bytes.data(), bytes.size());
    return;
  }
  Context popped = nullptr, primary = nullptr;
  CHECK(driver.retain(&primary, 0) == 0 && driver.push(primary) == 0);
  CHECK(driver.to_device(reinterpret_cast<std::uintptr_t>(at), bytes.data(), bytes.size()) == 0);
  CHECK(driver.pop(&popped) == 0);
}
bool holds(Kind kind, const std::byte* at, const std::vector<std::byte>& bytes) {
  std::vector<std::byte> found(bytes.size());
  if (kind != first && kind != second) {
    std::memcpy(found.data(), at, bytes.size());
  } else {
    Context popped = nullptr, primary = nullptr;
    CHECK(driver.retain(&primary, 0) == 0 && driver.push(primary) == 0);
    CHECK(driver.to_host(found.data(), reinterpret_cast<std::uintptr_t>(at), found.size()) == 0);
    CHECK(driver.pop(&popped) == 0);
  }
  return found == bytes;
}

constexpr std::size_t sizes[] = {1, 8, 4097, 70001};

/// From `here` to `there` at the peer and back, each size in one of the forms in turn.
void copy_both_ways(Kind here, Kind there, gex_Rank_t peer) {
  const gex_EP_t endpoint = own[here == private_host ? host : here].endpoint;
  const gex_TM_t pair = gex_TM_Pair(endpoint, gex_EP_QueryIndex(own[there].endpoint));
  // The own segment at the own rank has both ends: apart from one another.
  std::byte* const from = local_memory(here);
  std::byte* const back = from + part_bytes / 3;
  std::byte* const to = at_rank[there][peer] + rank * part_bytes + part_bytes / 3 * 2;
  unsigned number = here * 3U + there + peer + rank;
  for (const std::size_t size : sizes) {
    const std::size_t shift = ++number % 16;
    const auto bytes = pattern(number, size);
    const auto other = pattern(number + 1, size);
    // Once a put is complete locally its source is the client's again.
    const auto reuse_source = [&] { fill(here, from + shift, other); };
    fill(here, from + shift, bytes);
    if (number % 4 == 0) {
      gex_RMA_PutBlocking(pair, peer, to + shift, from + shift, size, 0);
      gex_RMA_GetBlocking(pair, back + shift, peer, to + shift, size, 0);
    } else if (number % 4 == 1) {
      gex_Event_t put = gex_RMA_PutNB(pair, peer, to, from + shift, size, GEX_EVENT_NOW, 0);
      reuse_source();
      gex_Event_Wait(put);
      gex_Event_Wait(gex_RMA_GetNB(pair, back + shift, peer, to, size, 0));
    } else if (number % 4 == 2) {
      gex_Event_t reusable = GEX_EVENT_INVALID;
      gex_Event_t put = gex_RMA_PutNB(pair, peer, to + 2, from + shift, size, &reusable, 0);
      gex_Event_Wait(reusable);
      reuse_source();
      gex_Event_Wait(put);
      gex_RMA_GetNBI(pair, back + shift, peer, to + 2, size, 0);
      gex_NBI_Wait(GEX_EC_GET, 0);
    } else {
      while (gex_RMA_PutNBI(pair, peer, to + 3, from + shift, size, GEX_EVENT_NOW,
                            GEX_FLAG_IMMEDIATE) != 0)
        gasnet_AMPoll();
      reuse_source();
      gex_NBI_Wait(GEX_EC_PUT, 0);
      gex_RMA_GetBlocking(pair, back + shift, peer, to + 3, size, 0);
    }
    CHECK(holds(here, back + shift, bytes));
    fill(here, back + shift, other);
    check_context();
  }
}

/// Sizes about which parts, pages and injection have their limits, at places of all alignments.
void copy_all_sizes(Kind here, Kind there, gex_Rank_t peer) {
  const gex_EP_t endpoint = own[here == private_host ? host : here].endpoint;
  const gex_TM_t pair = gex_TM_Pair(endpoint, gex_EP_QueryIndex(own[there].endpoint));
  std::byte* const from = local_memory(here);
  std::byte* const back = from + part_bytes / 3;
  std::byte* const to = at_rank[there][peer] + rank * part_bytes + part_bytes / 3 * 2;
  unsigned number = here * 3U + there;
  for (const std::size_t size :
       {1, 2, 7, 8, 9, 63, 192, 193, 4095, 4096, 4097, 65535, 65536, 65537})
    for (const std::size_t shift : {0, 1, 2, 4, 8, 15}) {
      const auto bytes = pattern(++number, size);
      fill(here, from + shift, bytes);
      gex_RMA_PutBlocking(pair, peer, to + 15 - shift, from + shift, size, 0);
      gex_RMA_GetBlocking(pair, back + number % 16, peer, to + 15 - shift, size, 0);
      CHECK(holds(here, back + number % 16, bytes));
    }
}

void use_values_and_offsets(Kind there, gex_Rank_t peer) {
  const gex_TM_t pair = gex_TM_Pair(own[there].endpoint, gex_EP_QueryIndex(own[there].endpoint));
  std::byte* const to = at_rank[there][peer] + rank * part_bytes;
  gex_RMA_PutBlockingVal(pair, peer, to + 8, 0x1122334455667788, 8, 0);
  CHECK(gex_RMA_GetBlockingVal(pair, peer, to + 8, 8, 0) == 0x1122334455667788);
  gex_Event_Wait(gex_RMA_PutNBVal(pair, peer, to + 9, 0x99, 1, 0));
  CHECK(gex_RMA_GetBlockingVal(pair, peer, to + 8, 8, 0) == 0x1122334455669988);
  const auto bytes = pattern(9, 100);
  fill(there, local_memory(there), bytes);
  const auto offset = reinterpret_cast<void*>(rank * part_bytes);
  const auto offset_there = reinterpret_cast<void*>(rank * part_bytes + 500);
  gex_RMA_PutBlocking(pair, peer, offset_there, offset, 100,
                      GEX_FLAG_SELF_SEG_OFFSET | GEX_FLAG_PEER_SEG_OFFSET);
  gex_RMA_GetBlocking(pair, local_memory(there) + 200, peer, to + 500, 100, 0);
  CHECK(holds(there, local_memory(there) + 200, bytes));
}

void use_many_at_once(Kind there, gex_Rank_t peer) {
  const gex_TM_t pair = gex_TM_Pair(own[host].endpoint, gex_EP_QueryIndex(own[there].endpoint));
  std::byte* const to = at_rank[there][peer] + rank * part_bytes;
  const auto bytes = pattern(11, 100 * 64);
  std::vector<std::byte> back(bytes.size());
  for (std::size_t i = 0; i < 100; ++i)
    gex_RMA_PutNBI(pair, peer, to + i * 64, const_cast<std::byte*>(bytes.data()) + i * 64, 64,
                   GEX_EVENT_DEFER, 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  for (std::size_t i = 0; i < 100; ++i)
    gex_RMA_GetNBI(pair, back.data() + i * 64, peer, to + i * 64, 64, 0);
  gex_NBI_Wait(GEX_EC_ALL, 0);
  CHECK(back == bytes);
}

std::atomic<unsigned> notices{0}, right_notices{0};

/// The bytes that are there when the notice of them comes.
struct Written {
  Kind there;
  std::byte* at;
  std::byte bytes[24];
};
void take_notice(gex_Token_t, void* payload, std::size_t) {
  Written written;
  std::memcpy(&written, payload, sizeof written);
  if (holds(written.there, written.at, {std::begin(written.bytes), std::end(written.bytes)}))
    ++right_notices;
  ++notices;
}

/// In rows, in columns, whose order is reversed at one end, in planes, of which the peer gets a
/// notice, and in pieces of lists; there and back.
void use_non_contiguous(Kind here, Kind there, gex_Rank_t peer) {
  const gex_EP_t endpoint = own[here == private_host ? host : here].endpoint;
  const gex_TM_t pair = gex_TM_Pair(endpoint, gex_EP_QueryIndex(own[there].endpoint));
  std::byte* const to = at_rank[there][peer] + rank * part_bytes + part_bytes / 2;
  std::byte* const from = local_memory(here);
  std::byte* const back = from + part_bytes / 4;
  auto bytes = pattern(13U + here, std::size_t{24} * 40 * 10);
  const std::size_t count[] = {40, 10};
  const std::ptrdiff_t dense[] = {24, 24 * 40};
  const std::ptrdiff_t loose[] = {48, 72 * 40};
  fill(here, from, bytes);
  gex_VIS_StridedPutBlocking(pair, peer, to, loose, from, dense, 24, count, 2, 0);
  gex_VIS_StridedGetBlocking(pair, back, dense, peer, to, loose, 24, count, 2, 0);
  CHECK(holds(here, back, bytes));
  fill(here, back, pattern(1, bytes.size()));
  const std::ptrdiff_t reversed[] = {-48, 72 * 40};
  const std::ptrdiff_t columns[] = {24 * 10, 24};
  gex_Event_Wait(gex_VIS_StridedPutNB(pair, peer, to + std::ptrdiff_t{39} * 48, reversed, from,
                                      columns, 24, count, 2, 0));
  gex_Event_Wait(gex_VIS_StridedGetNB(pair, back, columns, peer, to + std::ptrdiff_t{39} * 48,
                                      reversed, 24, count, 2, 0));
  CHECK(holds(here, back, bytes));
  fill(here, back, pattern(1, bytes.size()));
  const std::size_t planes[] = {6, 4, 3};
  const std::ptrdiff_t packed[] = {24, 24 * 6, 24 * 6 * 4};
  const std::ptrdiff_t apart[] = {48, 48 * 8, 48 * 8 * 5};
  gex_Event_t reusable = GEX_EVENT_INVALID;
  gex_Event_t put = gex_VIS_StridedPutNB(pair, peer, to, apart, from, packed, 24, planes, 3,
                                         GEX_FLAG_ENABLE_LEAF_LC);
  reusable = gex_Event_QueryLeaf(put, GEX_EC_LC);
  gex_Event_Wait(reusable);
  fill(here, from, pattern(2, bytes.size()));
  gex_Event_Wait(put);
  gex_VIS_StridedGetBlocking(pair, back, packed, peer, to, apart, 24, planes, 3, 0);
  CHECK(holds(here, back, {bytes.begin(), bytes.begin() + 24 * 6 * 4 * 3}));
  fill(here, from, bytes);
  // The notice comes when it may, and what it is of stays.
  std::byte* const noted = to + 65536 + here * 8192;
  Written written{there, noted + 5 * 48 + 3 * 48 * 8 + 2 * 48 * 8 * 5, {}};
  std::copy_n(bytes.begin() + 24 * 71, 24, written.bytes);
  gex_VIS_SetPeerCompletionHandler(written_index, &written, sizeof written, 0);
  gex_VIS_StridedPutBlocking(pair, peer, noted, apart, from, packed, 24, planes, 3, 0);
  const gex_Memvec_t list_there[] = {{to + 5000, 700}, {to + 100, 0}, {to + 1, 3300}};
  const gex_Memvec_t list_from[] = {{from, 2000}, {from + 2000, 2000}};
  const gex_Memvec_t list_back[] = {{back, 1}, {back + 1, 3999}};
  gex_VIS_VectorPutBlocking(pair, peer, 3, list_there, 2, list_from, 0);
  gex_VIS_VectorGetBlocking(pair, 2, list_back, peer, 3, list_there, 0);
  CHECK(holds(here, back, {bytes.begin(), bytes.begin() + 4000}));
}

std::atomic<unsigned> right_messages{0};

void take_answer(gex_Token_t, void* payload, std::size_t size, gex_AM_Arg_t sender) {
  // What that rank has sent from device memory.
  const auto* const bytes = static_cast<const std::byte*>(payload);
  for (std::size_t i = 0; i < size; ++i)
    if (bytes[i] != static_cast<std::byte>(sender * 37 + 17 * 101 + i * 7 + i / 251)) return;
  ++right_messages;
}
void take_medium(gex_Token_t token, void* payload, std::size_t size, gex_AM_Arg_t sender) {
  take_answer(token, payload, size, sender);
  // The answer is of device memory, too.
  gex_AM_ReplyMedium1(token, answer_index, own[first].address + (ranks + 1) * 1024, 1000,
                      GEX_EVENT_NOW, 0, static_cast<gex_AM_Arg_t>(rank));
}
void take_long(gex_Token_t, void* payload, std::size_t size, gex_AM_Arg_t sender) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>(sender * 37 + 17 * 101 + i * 7 + i / 251);
  if (holds(first, static_cast<std::byte*>(payload), bytes)) ++right_messages;
}

/// Payloads that lie on a device are sent, and answered with such; those of long messages arrive on
/// one, by every way.
void use_messages() {
  // Others may still use this rank's segments otherwise.
  barrier();
  const auto bytes = pattern(17, 3000);
  std::byte* const from = own[first].address + (ranks + 1) * std::size_t{1024};
  fill(first, from, bytes);
  barrier();
  unsigned expected = 0;
  const gex_EP_Index_t index = gex_EP_QueryIndex(own[first].endpoint);
  for (gex_Rank_t distance = 0; distance < ranks; ++distance)
    for (const std::size_t size : {std::size_t{7}, std::size_t{900}, std::size_t{3000}}) {
      const gex_Rank_t peer = (rank + distance) % ranks;
      const gex_TM_t pair = gex_TM_Pair(own[first].endpoint, index);
      gex_AM_RequestMedium1(pair, peer, medium_index, from, size, GEX_EVENT_NOW, 0,
                            static_cast<gex_AM_Arg_t>(rank));
      std::byte* const to = at_rank[first][peer] + segment_bytes / 2 + rank * std::size_t{8192};
      gex_AM_RequestLong1(pair, peer, long_index, from, size, to, GEX_EVENT_NOW, 0,
                          static_cast<gex_AM_Arg_t>(rank));
      const gex_AM_SrcDesc_t prepared =
          gex_AM_PrepareRequestMedium(pair, peer, from, size, size, GEX_EVENT_NOW, 0, 1);
      gex_AM_CommitRequestMedium1(prepared, answer_index, size, static_cast<gex_AM_Arg_t>(rank));
      // As many come from one rank; the first is answered.
      expected += 4;
      while (right_messages < expected) gasnet_AMPoll();
      barrier();
    }
}

/// A put waits for a kernel, as it were, and other puts do not wait for that; a stream waits for a
/// get; a neighbor's memory is there to be copied from.
void use_stream_order() {
  const gex_Rank_t peer = (rank + 1) % ranks;
  gex_MK_t const kind = own[first].memory_kind;
  const gex_TM_t pair = gex_TM_Pair(own[first].endpoint, gex_EP_QueryIndex(own[first].endpoint));
  std::byte* const to = at_rank[first][peer] + rank * part_bytes;
  std::byte* const from = local_memory(first);
  const auto address_of = [](const void* at) -> Address {
    return reinterpret_cast<std::uintptr_t>(at);
  };
  Context primary = nullptr, popped = nullptr;
  void *stream = nullptr, *event = nullptr, *earlier = nullptr;
  CHECK(driver.retain(&primary, rank % 2 == 0 ? 0 : second_device()) == 0 &&
        driver.push(primary) == 0);
  CHECK(driver.create_stream(&stream, 1) == 0 && driver.create_event(&event, 0) == 0);
  CHECK(driver.create_event(&earlier, 0) == 0);
  // The stream writes the source once this word is set.
  alignas(64) static std::atomic<unsigned> word{0};
  auto bytes = pattern(21, 5000);
  fill(first, from, pattern(22, 5000));
  CHECK(driver.record(earlier, stream) == 0);
  CHECK(driver.wait_value(stream, address_of(&word), 1, 0) == 0);
  CHECK(driver.copy(address_of(from), address_of(bytes.data()), bytes.size(), stream) == 0);
  CHECK(driver.record(event, stream) == 0);
  gex_Event_t put = gex_MK_PutAfterNB(pair, peer, to, from, bytes.size(), kind, event, 0);
  gex_Event_Wait(gex_MK_PutAfterNB(pair, peer, to + 8192, from, 100, kind, earlier, 0));
  CHECK(gex_Event_Test(put) == GASNET_ERR_NOT_READY);
  word = 1;
  gex_Event_Wait(put);
  std::vector<std::byte> found(bytes.size());
  gex_RMA_GetBlocking(gex_TM_Pair(own[host].endpoint, gex_EP_QueryIndex(own[first].endpoint)),
                      found.data(), peer, to, found.size(), 0);
  CHECK(found == bytes);
  // What the stream does behind a get finds what that has brought.
  for (int i = 0; i < 3; ++i) {
    fill(first, from, pattern(23, 5000));
    gex_MK_StreamWait(kind, stream, gex_RMA_GetNB(pair, from, peer, to, bytes.size(), 0), 0);
    found.assign(found.size(), std::byte{0});
    CHECK(driver.copy(address_of(found.data()), address_of(from), found.size(), stream) == 0);
    CHECK(driver.record(event, stream) == 0);
    gex_Event_Wait(gex_MK_PutAfterNB(pair, peer, to + 16384, from, 1, kind, event, 0));
    CHECK(found == bytes);
  }
  auto* const theirs = static_cast<std::byte*>(gex_MK_QueryPeerPointer(pair, peer));
  CHECK(gex_MK_QueryPeerPointer(gex_TM_Pair(own[host].endpoint, 0), peer) == nullptr);
  if (theirs != nullptr) {
    CHECK(driver.copy(address_of(found.data()), address_of(theirs + (to - at_rank[first][peer])),
                      found.size(), stream) == 0);
    CHECK(driver.synchronize(stream) == 0 && found == bytes);
  } else {
    CHECK(std::getenv("GASNET_SUPERNODE_MAXSIZE") != nullptr ||
          std::getenv("GEX_CUDA_SHARE") != nullptr || std::getenv("FAKE_CUDA_FAIL") != nullptr);
  }
  CHECK(driver.pop(&popped) == 0);
  check_context();
}

/// Threads, each with another current context or none, that use all at once.
void use_threads() {
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 3; ++number)
    threads.emplace_back([number] {
      Context mine = nullptr, now = nullptr;
      if (number != 0)
        CHECK(driver.create_context(&mine, 0, number == 1 ? 0 : second_device()) == 0);
      const gex_TM_t pair =
          gex_TM_Pair(own[first].endpoint, gex_EP_QueryIndex(own[second].endpoint));
      const gex_Rank_t peer = (rank + 1) % ranks;
      std::byte* const from = local_memory(first) + number * std::size_t{16384};
      std::byte* const to = at_rank[second][peer] + rank * part_bytes + number * std::size_t{16384};
      for (unsigned i = 0; i < 50; ++i) {
        const auto bytes = pattern(number * 50 + i, 4000);
        fill(first, from, bytes);
        gex_RMA_PutBlocking(pair, peer, to, from, bytes.size(), 0);
        gex_Event_Wait(gex_RMA_GetNB(pair, from + 8192, peer, to, bytes.size(), 0));
        CHECK(holds(first, from + 8192, bytes));
        CHECK(driver.current(&now) == 0 && now == mine);
      }
    });
  for (std::thread& one : threads) one.join();
}

/// Waits for the notices of what all ranks write here in planes. Other transfers may have written
/// there before a notice came; if there are none, all are `right_notices`.
void await_notices(const std::atomic<unsigned>& counted) {
  const auto has_devices = [](gex_Rank_t of) { return at_rank[first][of] != nullptr; };
  unsigned writers = 0;
  for (gex_Rank_t of = 0; of < ranks; ++of) writers += has_devices(of) ? 4 : 2;
  GASNET_BLOCKUNTIL(counted >= writers * (has_devices(rank) ? 3 : 1));
}

void use_strided() {
  for (gex_Rank_t peer = 0; peer < ranks; ++peer)
    for (int here = host; here < kinds; ++here)
      for (int there = host; there < private_host; ++there)
        use_non_contiguous(static_cast<Kind>(here), static_cast<Kind>(there), peer);
  await_notices(right_notices);
}

/// A stream waits for a get, and the client for the stream, in the driver, while the progress
/// thread polls.
void wait_for_stream() {
  const gex_Rank_t peer = (rank + 1) % ranks;
  const gex_TM_t pair = gex_TM_Pair(own[first].endpoint, gex_EP_QueryIndex(own[second].endpoint));
  Context primary = nullptr, popped = nullptr;
  void* stream = nullptr;
  CHECK(driver.retain(&primary, rank % 2 == 0 ? 0 : second_device()) == 0 &&
        driver.push(primary) == 0 && driver.create_stream(&stream, 1) == 0);
  const auto bytes = pattern(29, 5000);
  fill(second, local_memory(second), bytes);
  barrier();
  std::byte* const from = at_rank[second][peer] + peer * part_bytes;
  for (int i = 0; i < 10; ++i) {
    gex_MK_StreamWait(own[first].memory_kind, stream,
                      gex_RMA_GetNB(pair, local_memory(first), peer, from, bytes.size(), 0), 0);
    CHECK(driver.synchronize(stream) == 0);
  }
  std::vector<std::byte> theirs(bytes.size());
  for (std::size_t i = 0; i < theirs.size(); ++i)
    theirs[i] = static_cast<std::byte>(peer * 37 + 29 * 101 + i * 7 + i / 251);
  CHECK(holds(first, local_memory(first), theirs));
  CHECK(driver.pop(&popped) == 0);
}

void use_all_sizes() {
  for (gex_Rank_t peer = 0; peer < ranks; ++peer)
    for (int here = host; here < kinds; ++here)
      for (int there = host; there < private_host; ++there)
        copy_all_sizes(static_cast<Kind>(here), static_cast<Kind>(there), peer);
}

void use_all() {
  for (gex_Rank_t peer = 0; peer < ranks; ++peer) {
    for (int here = host; here < kinds; ++here)
      for (int there = host; there < private_host; ++there) {
        const bool is_here = here == private_host || own[here].address != nullptr;
        if (!is_here || at_rank[there][peer] == nullptr) continue;
        copy_both_ways(static_cast<Kind>(here), static_cast<Kind>(there), peer);
        use_non_contiguous(static_cast<Kind>(here), static_cast<Kind>(there), peer);
      }
    for (Kind there : {host, first, second}) {
      if (at_rank[there][peer] == nullptr) continue;
      use_many_at_once(there, peer);
      if (own[there].address != nullptr) use_values_and_offsets(there, peer);
    }
  }
  await_notices(notices);
}

/// Puts and gets of 8 bytes between devices of neighbors, for tests that count what carries them.
void use_one_after_the_other(unsigned count) {
  const gex_Rank_t peer = (rank + 1) % ranks;
  const gex_TM_t pair = gex_TM_Pair(own[first].endpoint, gex_EP_QueryIndex(own[second].endpoint));
  const auto bytes = pattern(3, 8);
  fill(first, local_memory(first), bytes);
  std::byte* const to = at_rank[second][peer] + rank * part_bytes;
  for (unsigned i = 0; i < count; ++i) {
    gex_RMA_PutBlocking(pair, peer, to, local_memory(first), 8, 0);
    gex_RMA_GetBlocking(pair, local_memory(first) + 8, peer, to, 8, 0);
  }
  CHECK(holds(first, local_memory(first) + 8, bytes));
}

/// The last rank dies, whose memory others have opened, and which has opened theirs.
void use_until_a_peer_dies() {
  use_one_after_the_other(1);
  barrier();
  if (rank == ranks - 1) std::raise(SIGKILL);
  for (;;) use_one_after_the_other(1);
}

/// A child that ends as a program does leaves the devices alone.
void use_beside_children() {
  use_one_after_the_other(10);
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    use_one_after_the_other(10);
  }
}

/// The driver ends before libgex does.
[[noreturn]] void exit_with_all_in_use() {
  const gex_Rank_t peer = (rank + 1) % ranks;
  const gex_TM_t pair = gex_TM_Pair(own[first].endpoint, gex_EP_QueryIndex(own[second].endpoint));
  barrier();
  gex_RMA_PutNBI(pair, peer, at_rank[second][peer], local_memory(first), 100000, GEX_EVENT_DEFER,
                 0);
  std::exit(0);
}

/// The kind of device 0, for what follows.
gex_MK_t kind_of_first() {
  gex_MK_t kind = GEX_MK_INVALID;
  CHECK(make_kind(&kind, 0) == GASNET_OK);
  return kind;
}

void exhaust() {
  gex_MK_t kind = kind_of_first();
  gex_Segment_t some = GEX_SEGMENT_INVALID, more = GEX_SEGMENT_INVALID;
  constexpr std::uintptr_t max = std::uintptr_t{40} << 20;
  CHECK(gex_Segment_Create(&some, client, nullptr, max, kind, 0) == GASNET_OK);
  CHECK(gex_Segment_Create(&more, client, nullptr, max, kind, 0) == GASNET_ERR_RESOURCE);
  gex_Segment_Destroy(some, 0);
  CHECK(gex_Segment_Create(&more, client, nullptr, max, kind, 0) == GASNET_OK);
  gex_Segment_Destroy(more, 0);
  gex_MK_Destroy(kind, 0);
}

/// Managed memory, which is of no segment, is memory of the host.
void put_managed_memory() {
  Address memory = 0;
  CHECK(driver.create_context(&context, 0, 0) == 0);
  CHECK(driver.allocate_managed(&memory, 4096, 1) == 0);
  auto* const word = reinterpret_cast<std::uint64_t*>(static_cast<std::uintptr_t>(memory));
  *word = 77;
  const gex_TM_t pair = gex_TM_Pair(own[host].endpoint, gex_EP_QueryIndex(own[first].endpoint));
  gex_RMA_PutBlocking(pair, 0, at_rank[first][0], word, sizeof *word, 0);
  gex_RMA_GetBlocking(pair, word + 1, 0, at_rank[first][0], sizeof *word, 0);
  CHECK(word[1] == 77);
}

/// Memory of another context, which is of no segment, as the local side of an endpoint with host
/// memory.
void put_unknown_memory() {
  Address memory = 0;
  CHECK(driver.create_context(&context, 0, 0) == 0 && driver.allocate(&memory, 4096) == 0);
  const gex_TM_t pair = gex_TM_Pair(own[host].endpoint, gex_EP_QueryIndex(own[host].endpoint));
  gex_RMA_PutBlocking(pair, 0, at_rank[host][0],
                      reinterpret_cast<void*>(static_cast<std::uintptr_t>(memory)), 8, 0);
}

gex_TM_t make_team_of_devices(gex_Flags_t flags, void* scratch, std::size_t scratch_bytes) {
  std::vector<gex_EP_Location_t> members;
  for (gex_Rank_t member = 0; member < ranks; ++member)
    members.push_back({member, gex_EP_QueryIndex(own[first].endpoint)});
  gex_TM_t made = GEX_TM_INVALID;
  gex_Addr_t addresses[] = {scratch};
  gex_TM_Create(&made, 1, team, members.data(), members.size(), addresses, scratch_bytes,
                flags != 0 ? flags : GEX_FLAG_TM_LOCAL_SCRATCH);
  return made;
}

void broadcast_on_device() {
  std::uint64_t word = 0;
  gex_Event_Wait(gex_Coll_BroadcastNB(make_team_of_devices(GEX_FLAG_TM_NO_SCRATCH, nullptr, 0), 0,
                                      &word, &word, sizeof word, 0));
}

/// Where a collective ignores an argument, that may be memory of a device.
void pass_ignored_addresses() {
  void* const ignored = own[first].address;
  constexpr int flags = GASNET_COLL_IN_MYSYNC | GASNET_COLL_OUT_MYSYNC | GASNET_COLL_LOCAL;
  for (gex_Rank_t root = 0; root < ranks; ++root) {
    const bool is_root = rank == root;
    std::uint64_t word = rank + 1, result = 0;
    gex_Event_Wait(
        gex_Coll_BroadcastNB(team, root, &result, is_root ? &word : ignored, sizeof word, 0));
    CHECK(result == root + 1);
    gex_Event_Wait(gex_Coll_ReduceToOneNB(team, root, is_root ? &result : ignored, &word,
                                          GEX_DT_U64, sizeof word, 1, GEX_OP_ADD, nullptr, nullptr,
                                          0));
    CHECK(!is_root || result == std::uint64_t{ranks} * (ranks + 1) / 2);
    std::vector<std::uint64_t> words(ranks, word);
    gasnet_coll_scatter(team, &result, root, is_root ? words.data() : ignored, sizeof word, flags);
    CHECK(result == root + 1);
    gasnet_coll_gather(team, root, is_root ? words.data() : ignored, &word, sizeof word, flags);
    for (gex_Rank_t member = 0; is_root && member < ranks; ++member)
      CHECK(words[member] == member + 1);
  }
}

/// The second block is memory of the host.
void put_list_from_host(gex_TM_t pair) {
  void* to[] = {at_rank[host][0], static_cast<std::byte*>(at_rank[host][0]) + 8};
  void* from[] = {own[first].address, private_memory.data()};
  gex_VIS_IndexedPutBlocking(pair, 0, 2, to, 8, 2, from, 8, 0);
}

/// Rank 1 calls the library no more. What rank 0 puts before that may still be answered.
[[noreturn]] void put_unanswered(bool strided) {
  barrier();
  const gex_TM_t pair = gex_TM_Pair(own[host].endpoint, gex_EP_QueryIndex(own[first].endpoint));
  while (rank == 1) pause();
  constexpr std::size_t element = 8, count = 3;
  constexpr std::ptrdiff_t apart = 16;
  for (;;) {
    if (strided)
      gex_VIS_StridedPutBlocking(pair, 1, at_rank[first][1], &apart, private_memory.data(), &apart,
                                 element, &count, 1, 0);
    else
      gex_RMA_PutBlocking(pair, 1, at_rank[first][1], private_memory.data(), element * count, 0);
  }
}

/// Segments of more than is registered with the driver at a time; again after they have ended.
void copy_large() {
  constexpr std::size_t bytes = std::size_t{40} << 20;
  gex_MK_t kind = kind_of_first();
  gex_EP_t here = GEX_EP_INVALID, there = GEX_EP_INVALID;
  CHECK(gex_EP_Create(&here, client, GEX_EP_CAPABILITY_RMA, 0) == GASNET_OK);
  CHECK(gex_EP_Create(&there, client, GEX_EP_CAPABILITY_RMA, 0) == GASNET_OK);
  for (int i = 0; i < 2; ++i) {
    gex_Segment_t on_host = GEX_SEGMENT_INVALID, on_device = GEX_SEGMENT_INVALID;
    CHECK(gex_Segment_Create(&on_host, client, nullptr, bytes, GEX_MK_HOST, 0) == GASNET_OK);
    CHECK(gex_Segment_Create(&on_device, client, nullptr, bytes, kind, 0) == GASNET_OK);
    CHECK(gex_EP_BindSegment(here, on_host, 0) == GASNET_OK);
    CHECK(gex_EP_BindSegment(there, on_device, 0) == GASNET_OK);
    auto* const from = static_cast<std::byte*>(gex_Segment_QueryAddr(on_host));
    auto* const to = static_cast<std::byte*>(gex_Segment_QueryAddr(on_device));
    constexpr std::size_t part = (std::size_t{33} << 20) + 5;
    for (std::size_t at = 0; at < part; at += 4096) from[at] = static_cast<std::byte>(at >> 12);
    const gex_TM_t pair = gex_TM_Pair(here, gex_EP_QueryIndex(there));
    gex_RMA_PutBlocking(pair, 0, to, from, part, 0);
    std::memset(from, 0, bytes);
    gex_RMA_GetBlocking(pair, from + 7, 0, to, part, 0);
    for (std::size_t at = 0; at < part; at += 4096)
      CHECK(from[at + 7] == static_cast<std::byte>(at >> 12));
    CHECK(gex_EP_BindSegment(here, GEX_SEGMENT_INVALID, 0) == GASNET_OK);
    CHECK(gex_EP_BindSegment(there, GEX_SEGMENT_INVALID, 0) == GASNET_OK);
    gex_Segment_Destroy(on_host, 0);
    gex_Segment_Destroy(on_device, 0);
  }
  gex_MK_Destroy(kind, 0);
}

/// Wrong arguments of a kind and of a segment, with their error codes.
void refuse_all() {
  gex_MK_t kind = GEX_MK_INVALID;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  CHECK(make_kind(&kind, 17) == GASNET_ERR_BAD_ARG && make_kind(&kind, -1) == GASNET_ERR_BAD_ARG);
  CHECK(make_kind(&kind, 0, GEX_MK_CLASS_HIP) == GASNET_ERR_BAD_ARG);
  CHECK(make_kind(&kind, 0, GEX_MK_CLASS_ZE) == GASNET_ERR_BAD_ARG);
  kind = kind_of_first();
  // Memory of the host, of another device, of another context, and more than there is.
  CHECK(gex_Segment_Create(&segment, client, private_memory.data(), 100, kind, 0) ==
        GASNET_ERR_BAD_ARG);
  Address memory = 0;
  Context popped = nullptr, primary = nullptr;
  const auto at = [](Address address) {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
  };
  if (second_device() != 0) {
    CHECK(driver.retain(&primary, 1) == 0 && driver.push(primary) == 0);
    CHECK(driver.allocate(&memory, 4096) == 0 && driver.pop(&popped) == 0);
    CHECK(gex_Segment_Create(&segment, client, at(memory), 4096, kind, 0) == GASNET_ERR_BAD_ARG);
  }
  CHECK(driver.create_context(&context, 0, 0) == 0 && driver.allocate(&memory, 4096) == 0);
  CHECK(gex_Segment_Create(&segment, client, at(memory), 4096, kind, 0) == GASNET_ERR_BAD_ARG);
  check_context();
  CHECK(driver.retain(&primary, 0) == 0 && driver.push(primary) == 0);
  CHECK(driver.allocate(&memory, 4096) == 0 && driver.pop(&popped) == 0);
  CHECK(gex_Segment_Create(&segment, client, at(memory), 4097, kind, 0) == GASNET_ERR_BAD_ARG);
  CHECK(gex_Segment_Create(&segment, client, at(memory), 4096, kind, 0) == GASNET_OK);
  gex_Segment_Destroy(segment, 0);
  gex_MK_Destroy(kind, 0);
}

}  // namespace

int main(int count, char** arguments) {
  gex_EP_t endpoint;
  CHECK(gex_Client_Init(&client, &endpoint, &team, "CUDA", nullptr, nullptr, 0) == GASNET_OK);
  rank = gex_TM_QueryRank(team);
  ranks = gex_TM_QuerySize(team);
  const std::string_view what = count > 1 ? arguments[1] : "all";
  if (count > 2) sort_of_memory = arguments[2];
  if (what == "missing") {
    gex_MK_t kind = GEX_MK_INVALID;
    CHECK(make_kind(&kind, 0) == GASNET_ERR_RESOURCE && kind == GEX_MK_INVALID);
    gasnet_exit(0);
  }
  load_driver();
  // Every second rank has a context of its own, the others none.
  if (rank % 2 == 1) CHECK(driver.create_context(&context, 0, second_device()) == 0);
  if (what == "all" || what == "few" || what == "repeat" || what == "messages" ||
      what == "threads" || what == "sizes" || what == "strided" || what == "waits") {
    make_all(what != "few" || rank == 0);
    barrier();
    if (what == "repeat") {
      use_one_after_the_other(1000);
    } else if (what == "messages") {
      use_one_after_the_other(100);
    } else if (what == "sizes") {
      use_all_sizes();
    } else if (what == "strided") {
      use_strided();
    } else if (what == "waits") {
      wait_for_stream();
    } else if (what == "threads") {
      use_threads();
    } else {
      use_all();
      if (what == "all") use_messages();
      if (what == "all") use_stream_order();
    }
    barrier();
    destroy_all();
    barrier();
  } else if (what == "exhausted") {
    exhaust();
  } else if (what == "large") {
    copy_large();
  } else if (what == "refused" || what == "refused_loudly") {
    gex_System_SetVerboseErrors(what == "refused" ? 0 : 1);
    refuse_all();
  } else {
    make_all(true);
    const gex_TM_t pair = gex_TM_Pair(own[first].endpoint, gex_EP_QueryIndex(own[host].endpoint));
    if (what == "host_address")
      gex_RMA_PutBlocking(pair, 0, at_rank[host][0], private_memory.data(), 8, 0);
    else if (what == "host_address_strided")
      gex_VIS_StridedPutBlocking(pair, 0, at_rank[host][0], nullptr, private_memory.data(), nullptr,
                                 8, nullptr, 0, 0);
    else if (what == "host_address_in_list")
      put_list_from_host(pair);
    else if (what == "dies")
      use_until_a_peer_dies();
    else if (what == "fork")
      use_beside_children();
    else if (what == "exit")
      exit_with_all_in_use();
    else if (what == "kind_in_use")
      gex_MK_Destroy(own[first].memory_kind, 0);
    else if (what == "unknown_address")
      put_unknown_memory();
    else if (what == "managed_as_host")
      put_managed_memory();
    else if (what == "collective")
      broadcast_on_device();
    else if (what == "ignored_addresses")
      pass_ignored_addresses();
    else if (what == "scratch")
      make_team_of_devices(0, own[first].address, 4096);
    else if (what == "unanswered")
      put_unanswered(/*strided=*/false);
    else if (what == "unanswered_strided")
      put_unanswered(/*strided=*/true);
    else if (what == "put")
      gex_RMA_PutBlocking(pair, 0, at_rank[host][0], own[first].address, 8, 0);
    barrier();
  }
  gasnet_exit(0);
}
