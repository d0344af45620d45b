// Several clients in one process, and as many endpoints as a client can have: a program of its own,
// because clients and endpoints are never given back.
//
// Each client has handlers of its own under the same indices, a segment, and teams. What one does
// must not show to another. `clients refusals`: what cannot be had is refused by its error code.

#include <gasnet_mk.h>
#include <gasnet_ratomic.h>
#include <gasnetex.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

#define REQUIRE(condition)                                                                      \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      std::fprintf(stderr, "rank %u: %s:%d: not so: %s\n", gex_System_QueryJobRank(), __FILE__, \
                   __LINE__, #condition);                                                       \
      std::fflush(stderr);                                                                      \
      gasnet_exit(1);                                                                           \
    }                                                                                           \
  } while (0)

constexpr std::size_t segment_bytes = 16 * GASNET_PAGESIZE;
constexpr int client_count = 3;

struct Client {
  gex_Client_t client = GEX_CLIENT_INVALID;
  gex_EP_t endpoint = GEX_EP_INVALID;
  gex_TM_t team = GEX_TM_INVALID;
  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  std::vector<std::byte*> segments;
  std::atomic<int> requests{0};
  std::atomic<int> replies{0};
};
Client clients[client_count];

gex_Rank_t rank() {
  return gex_System_QueryJobRank();
}
gex_Rank_t size() {
  return gex_System_QueryJobSize();
}
gex_Rank_t next() {
  return (rank() + 1) % size();
}
gex_Rank_t previous() {
  return (rank() + size() - 1) % size();
}

/// The client whose endpoint a message has come to.
Client& receiver(gex_Token_t token) {
  gex_Token_Info_t info{};
  gex_Token_Info(token, &info, GEX_TI_ALL);
  for (Client& client : clients)
    if (client.endpoint == info.gex_ep) return client;
  REQUIRE(!"an endpoint of some client");
  return clients[0];
}

// One function for each client under one index, so that a message to the wrong one is seen.
template <int number>
void on_request(gex_Token_t token, gex_AM_Arg_t to) {
  REQUIRE(to == number);
  REQUIRE(&receiver(token) == &clients[number]);
  ++clients[number].requests;
  gex_AM_ReplyShort(token, 201, 0, to);
}
template <int number>
void on_reply(gex_Token_t token, gex_AM_Arg_t to) {
  REQUIRE(to == number);
  REQUIRE(&receiver(token) == &clients[number]);
  ++clients[number].replies;
}
template <int number>
void on_long(gex_Token_t token, void* payload, std::size_t bytes) {
  REQUIRE(&receiver(token) == &clients[number]);
  REQUIRE(payload == clients[number].segments[rank()] + 4096 && bytes == 1000);
  for (std::size_t i = 0; i < bytes; ++i)
    REQUIRE(static_cast<std::byte*>(payload)[i] == static_cast<std::byte>(number + i));
  ++clients[number].requests;
}

template <int number>
void add_handlers() {
  gex_AM_Entry_t table[] = {{200, reinterpret_cast<gex_AM_Fn_t>(on_request<number>),
                             GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 1, nullptr, "on_request"},
                            {201, reinterpret_cast<gex_AM_Fn_t>(on_reply<number>),
                             GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REPLY, 1, nullptr, "on_reply"},
                            {202, reinterpret_cast<gex_AM_Fn_t>(on_long<number>),
                             GEX_FLAG_AM_LONG | GEX_FLAG_AM_REQUEST, 0, nullptr, "on_long"}};
  REQUIRE(gex_EP_RegisterHandlers(clients[number].endpoint, table, 3) == GASNET_OK);
}

void barrier(gex_TM_t tm) {
  gex_Event_Wait(gex_Coll_BarrierNB(tm, 0));
}
void barrier_of_all() {
  std::vector<gex_Event_t> events;
  for (Client& client : clients) events.push_back(gex_Coll_BarrierNB(client.team, 0));
  gex_Event_WaitAll(events.data(), events.size(), 0);
}

/// Clients are made one after the other, while those before are in use.
void make(int number) {
  Client& self = clients[number];
  const std::string name = "CLIENT_" + std::to_string(number);
  REQUIRE(gex_Client_Init(&self.client, &self.endpoint, &self.team, name.c_str(), nullptr, nullptr,
                          number == 1 ? GEX_FLAG_USES_GASNET1 : 0) == GASNET_OK);
  REQUIRE(gex_Client_QueryName(self.client) == name);
  REQUIRE(gex_Client_QueryFlags(self.client) == (number == 1 ? GEX_FLAG_USES_GASNET1 : 0U));
  REQUIRE(gex_TM_QueryRank(self.team) == rank() && gex_TM_QuerySize(self.team) == size());
  REQUIRE(gex_EP_QueryIndex(self.endpoint) == 0);
  REQUIRE(gex_EP_QueryClient(self.endpoint) == self.client);
  REQUIRE(gex_TM_QueryClient(self.team) == self.client);
  REQUIRE(gex_EP_QuerySegment(self.endpoint) == GEX_SEGMENT_INVALID);
  REQUIRE(gex_Client_QueryCData(self.client) == nullptr);
  gex_Client_SetCData(self.client, &self);
  for (int other = 0; other < number; ++other) {
    REQUIRE(clients[other].client != self.client && clients[other].team != self.team);
    REQUIRE(gex_TM_Pair(clients[other].endpoint, 0) != gex_TM_Pair(self.endpoint, 0));
    REQUIRE(gex_Client_QueryCData(clients[other].client) == &clients[other]);
    barrier(clients[other].team);
  }
}

void attach(Client& self) {
  REQUIRE(gex_Segment_Attach(&self.segment, self.team, segment_bytes) == GASNET_OK);
  REQUIRE(gex_Segment_QueryClient(self.segment) == self.client);
  for (gex_Rank_t r = 0; r < size(); ++r) {
    void* address = nullptr;
    uintptr_t bytes = 0;
    gex_Event_Wait(gex_EP_QueryBoundSegmentNB(self.team, r, &address, nullptr, &bytes, 0));
    REQUIRE(bytes == segment_bytes);
    self.segments.push_back(static_cast<std::byte*>(address));
  }
}

void exchange_messages() {
  constexpr int count = 200;
  for (int i = 0; i < count; ++i)
    for (int c = 0; c < client_count; ++c)
      REQUIRE(gex_AM_RequestShort(clients[c].team, next(), 200, 0, c) == 0);
  std::vector<std::byte> payload(1000);
  for (int c = 0; c < client_count; ++c) {
    for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(c + i);
    REQUIRE(gex_AM_RequestLong(gex_TM_Pair(clients[c].endpoint, 0), next(), 202, payload.data(),
                               payload.size(), clients[c].segments[next()] + 4096, GEX_EVENT_NOW,
                               0) == 0);
  }
  for (Client& client : clients)
    GASNET_BLOCKUNTIL(client.requests == count + 1 && client.replies == count);
  barrier_of_all();
  for (Client& client : clients) REQUIRE(client.requests == count + 1 && client.replies == count);
}

/// Segments, teams, atomics and barriers of each client, all under way at once.
void communicate() {
  for (int c = 0; c < client_count; ++c) {
    const std::uint64_t value = 1000 * static_cast<unsigned>(c) + rank();
    gex_RMA_PutNBI(clients[c].team, next(), clients[c].segments[next()], &value, sizeof value,
                   GEX_EVENT_NOW, 0);
  }
  gex_NBI_Wait(GEX_EC_ALL, 0);
  barrier_of_all();
  for (int c = 0; c < client_count; ++c) {
    std::uint64_t found = 0;
    std::memcpy(&found, clients[c].segments[rank()], sizeof found);
    REQUIRE(found == 1000 * static_cast<unsigned>(c) + previous());
    REQUIRE(gex_RMA_GetBlockingVal(clients[c].team, next(), clients[c].segments[next()], 8, 0) ==
            1000 * static_cast<unsigned>(c) + rank());
  }
  barrier_of_all();
  for (Client& self : clients) {
    gex_TM_t turned = GEX_TM_INVALID;
    gex_TM_Split(&turned, self.team, 0, -static_cast<int>(rank()), nullptr, 0,
                 GEX_FLAG_TM_NO_SCRATCH);
    REQUIRE(gex_TM_QueryRank(turned) == size() - 1 - rank());
    REQUIRE(gex_TM_QueryClient(turned) == self.client);
    gex_AD_t ad = GEX_AD_INVALID;
    gex_AD_Create(&ad, turned, GEX_DT_U64, GEX_OP_ADD | GEX_OP_GET, 0);
    auto* word = reinterpret_cast<std::uint64_t*>(self.segments[0] + 8192);
    for (int i = 0; i < 50; ++i)
      gex_AD_OpNBI_U64(ad, nullptr, 0, word, GEX_OP_ADD, 1, 0, GEX_FLAG_RANK_IS_JOBRANK);
    gex_NBI_Wait(GEX_EC_ALL, 0);
    barrier(turned);
    std::uint64_t sum = 0;
    gex_Event_Wait(gex_AD_OpNB_U64(ad, &sum, size() - 1, word, GEX_OP_GET, 0, 0, 0));
    REQUIRE(sum == 50 * std::uint64_t{size()});
    barrier(turned);
    gex_AD_Destroy(ad);
    gex_TM_Destroy(turned, nullptr, 0);
  }
  // Barriers of one client wait for nothing of another's.
  std::vector<gex_Event_t> events;
  for (int i = 0; i < 30; ++i)
    for (Client& client : clients) events.push_back(gex_Coll_BarrierNB(client.team, 0));
  while (!events.empty()) {
    gex_Event_Wait(events.back());
    events.pop_back();
  }
  for (int i = 0; i < 5; ++i) REQUIRE(gasnet_barrier(i, 0) == GASNET_OK);
}

/// As many endpoints as there can be, in one team with all others.
void fill_up(Client& self) {
  std::vector<gex_EP_t> endpoints = {self.endpoint};
  std::vector<std::byte> memory(GASNET_MAXEPS * 64);
  while (endpoints.size() < GASNET_MAXEPS) {
    gex_EP_t made = GEX_EP_INVALID;
    gex_Segment_t segment = GEX_SEGMENT_INVALID;
    REQUIRE(gex_EP_Create(&made, self.client, GEX_EP_CAPABILITY_ALL, 0) == GASNET_OK);
    REQUIRE(gex_EP_QueryIndex(made) == endpoints.size());
    REQUIRE(gex_Segment_Create(&segment, self.client, memory.data() + 64 * endpoints.size(), 64,
                               GEX_MK_HOST, 0) == GASNET_OK);
    REQUIRE(gex_EP_BindSegment(made, segment, 0) == GASNET_OK);
    endpoints.push_back(made);
  }
  REQUIRE(gex_EP_PublishBoundSegment(self.team, endpoints.data(), endpoints.size(), 0) ==
          GASNET_OK);
  std::vector<gex_EP_Location_t> list;
  for (gex_EP_Index_t index = 0; index < GASNET_MAXEPS; ++index)
    for (gex_Rank_t r = 0; r < size(); ++r) list.push_back({r, index});
  std::vector<gex_TM_t> tms(GASNET_MAXEPS);
  gex_TM_Create(tms.data(), tms.size(), self.team, list.data(), list.size(), nullptr, 0,
                GEX_FLAG_TM_NO_SCRATCH);
  // Each member writes to the same endpoint of the next process.
  for (std::size_t index = 1; index < tms.size(); ++index) {
    const auto member = static_cast<gex_Rank_t>(index * size() + next());
    REQUIRE(gex_RMA_PutBlockingVal(tms[index], member, nullptr, 100 * index + rank(), 8,
                                   GEX_FLAG_PEER_SEG_OFFSET) == 0);
  }
  std::vector<gex_Event_t> events;
  for (const gex_TM_t tm : tms) events.push_back(gex_Coll_BarrierNB(tm, 0));
  gex_Event_WaitAll(events.data(), events.size(), 0);
  for (std::size_t index = 1; index < tms.size(); ++index) {
    std::uint64_t found = 0;
    std::memcpy(&found, memory.data() + 64 * index, sizeof found);
    REQUIRE(found == 100 * index + previous());
  }
  barrier(self.team);
  for (const gex_TM_t tm : tms) gex_TM_Destroy(tm, nullptr, GEX_FLAG_GLOBALLY_QUIESCED);
  barrier(self.team);
}

/// The answer of a library that does not check.
void expect_refusals() {
  make(0);
  make(1);
  gex_System_SetVerboseErrors(0);
  const Client& self = clients[1];
  Client other;
  const auto init = [&](const char* name, gex_Flags_t flags) {
    return gex_Client_Init(&other.client, &other.endpoint, &other.team, name, nullptr, nullptr,
                           flags);
  };
  REQUIRE(init("CLIENT_1", 0) == GASNET_ERR_BAD_ARG);
  REQUIRE(init(nullptr, 0) == GASNET_ERR_BAD_ARG);
  REQUIRE(gex_Client_Init(nullptr, &other.endpoint, &other.team, "NOWHERE", nullptr, nullptr, 0) ==
          GASNET_ERR_BAD_ARG);
  REQUIRE(init("ANOTHER", GEX_FLAG_USES_GASNET1) == GASNET_ERR_BAD_ARG);
  // Any name, and flags that mean nothing here, which the object gives back.
  constexpr gex_Flags_t unknown = 1U << 27;
  REQUIRE(init("lower-case and more", unknown) == GASNET_OK);
  REQUIRE(std::strcmp(gex_Client_QueryName(other.client), "lower-case and more") == 0);
  REQUIRE(gex_Client_QueryFlags(other.client) == unknown);
  for (int count = 3; count < 16; ++count)
    REQUIRE(init(("MORE_" + std::to_string(count)).c_str(), 0) == GASNET_OK);
  REQUIRE(init("ONE_TOO_MANY", 0) == GASNET_ERR_RESOURCE);

  gex_EP_t made = GEX_EP_INVALID;
  REQUIRE(gex_EP_Create(nullptr, self.client, GEX_EP_CAPABILITY_ALL, 0) == GASNET_ERR_BAD_ARG);
  REQUIRE(gex_EP_Create(&made, self.client, 0, 0) == GASNET_ERR_BAD_ARG);
  REQUIRE(gex_EP_Create(&made, self.client, GEX_EP_CAPABILITY_ALL | 1U << 20, 0) ==
          GASNET_ERR_BAD_ARG);
  REQUIRE(gex_EP_Create(&made, GEX_CLIENT_INVALID, GEX_EP_CAPABILITY_ALL, 0) == GASNET_ERR_BAD_ARG);
  REQUIRE(made == GEX_EP_INVALID);
  REQUIRE(gex_EP_Create(&made, self.client, GEX_EP_CAPABILITY_ALL, unknown) == GASNET_OK);
  REQUIRE(gex_EP_QueryFlags(made) == unknown);
  gex_AM_Entry_t entry = {};
  REQUIRE(gex_EP_RegisterHandlers(GEX_EP_INVALID, &entry, 1) == GASNET_ERR_BAD_ARG);
  REQUIRE(gex_EP_RegisterHandlers(made, nullptr, 1) == GASNET_ERR_BAD_ARG);
  for (int count = 2; count < GASNET_MAXEPS; ++count)
    REQUIRE(gex_EP_Create(&made, self.client, GEX_EP_CAPABILITY_ALL, 0) == GASNET_OK);
  gex_EP_t beyond = GEX_EP_INVALID;
  REQUIRE(gex_EP_Create(&beyond, self.client, GEX_EP_CAPABILITY_ALL, 0) == GASNET_ERR_RESOURCE);
  REQUIRE(beyond == GEX_EP_INVALID);

  gex_Segment_t segment = GEX_SEGMENT_INVALID;
  const auto create = [&](std::uintptr_t bytes, gex_MK_t kind, gex_Flags_t flags) {
    return gex_Segment_Create(&segment, self.client, nullptr, bytes, kind, flags);
  };
  REQUIRE(create(0, GEX_MK_HOST, 0) == GASNET_ERR_BAD_ARG);
  REQUIRE(create(4096, GEX_MK_INVALID, 0) == GASNET_ERR_BAD_ARG);
  REQUIRE(gex_Segment_Create(&segment, GEX_CLIENT_INVALID, nullptr, 4096, GEX_MK_HOST, 0) ==
          GASNET_ERR_BAD_ARG);
  REQUIRE(segment == GEX_SEGMENT_INVALID);
  REQUIRE(create(4096, GEX_MK_HOST, unknown) == GASNET_OK);
  REQUIRE(gex_Segment_QueryFlags(segment) == unknown);
  REQUIRE(gex_EP_BindSegment(made, GEX_SEGMENT_INVALID, 0) == GASNET_ERR_BAD_ARG);
  REQUIRE(gex_EP_BindSegment(GEX_EP_INVALID, segment, 0) == GASNET_ERR_BAD_ARG);
  REQUIRE(gex_EP_BindSegment(other.endpoint, segment, 0) == GASNET_ERR_BAD_ARG);
  REQUIRE(gex_EP_BindSegment(made, segment, unknown) == GASNET_ERR_BAD_ARG);
  REQUIRE(gex_EP_QuerySegment(made) == GEX_SEGMENT_INVALID);
  REQUIRE(gex_EP_BindSegment(made, segment, 0) == GASNET_OK);
  REQUIRE(gex_EP_BindSegment(made, segment, 0) == GASNET_ERR_BAD_ARG);
  REQUIRE(gex_EP_QuerySegment(made) == segment);

  gex_MK_t kind = GEX_MK_INVALID;
  gex_MK_Create_args_t host = {};
  host.gex_flags = unknown;
  host.gex_class = GEX_MK_CLASS_HOST;
  REQUIRE(gex_MK_Create(&kind, GEX_CLIENT_INVALID, &host, 0) == GASNET_ERR_BAD_ARG);
  REQUIRE(gex_MK_Create(&kind, self.client, &host, unknown) == GASNET_OK && kind == GEX_MK_HOST);

  // What is refused to one process is refused to all of them, and no rank is left waiting.
  const bool odd = gex_TM_QueryRank(self.team) == 0;
  const auto attach = [&](std::uintptr_t bytes, int own_error) {
    REQUIRE(gex_Segment_Attach(&segment, self.team, odd ? bytes : GASNET_PAGESIZE) ==
            (odd ? own_error : GASNET_ERR_RESOURCE));
  };
  attach(0, GASNET_ERR_BAD_ARG);
  attach(GASNET_PAGESIZE + 8, GASNET_ERR_BAD_ARG);
  attach(gasnet_getMaxLocalSegmentSize() + GASNET_PAGESIZE, GASNET_ERR_BAD_ARG);
  REQUIRE(gex_Segment_Attach(&segment, self.team, GASNET_PAGESIZE) == GASNET_OK);
  gex_EP_t none = GEX_EP_INVALID;
  REQUIRE(gex_EP_PublishBoundSegment(self.team, odd ? &none : &made, 1, 0) ==
          (odd ? GASNET_ERR_BAD_ARG : GASNET_OK));
  REQUIRE(gex_EP_PublishBoundSegment(self.team, nullptr, 1, unknown) == GASNET_ERR_BAD_ARG);

  gex_AD_t domain = GEX_AD_INVALID;
  constexpr gex_Flags_t all_hints =
      GEX_FLAG_AD_FAVOR_MY_RANK | GEX_FLAG_AD_FAVOR_MY_NBRHD | GEX_FLAG_AD_FAVOR_REMOTE | unknown;
  gex_AD_Create(&domain, self.team, GEX_DT_U32, GEX_OP_ADD, all_hints);
  REQUIRE(gex_AD_QueryFlags(domain) == all_hints);
  gex_AD_Destroy(domain);
  gex_AD_Create(&domain, self.team, GEX_DT_U32, 0, 0);
  REQUIRE(gex_AD_QueryOps(domain) == 0);
  gex_AD_Destroy(domain);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "refusals") == 0) {
    expect_refusals();
    return 0;
  }
  make(0);
  add_handlers<0>();
  attach(clients[0]);
  make(1);
  add_handlers<1>();
  make(2);
  add_handlers<2>();
  attach(clients[2]);
  attach(clients[1]);
  barrier_of_all();
  exchange_messages();
  communicate();
  fill_up(clients[2]);
  barrier_of_all();
  return 0;
}
