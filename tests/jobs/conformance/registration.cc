// Which indices gex_EP_RegisterHandlers gives, call after call, and what it answers to tables that
// it refuses. A program of its own, since the endpoint's table is its subject; one that fails
// prints where.

#include <gasnetex.h>

#include <cstdio>
#include <cstring>
#include <vector>

namespace {

gex_EP_t endpoint;
gex_TM_t team;
int hits[256];

template <int Mark>
void receive(gex_Token_t) {
  ++hits[Mark];
}
template <int Mark>
gex_AM_Fn_t function() {
  return reinterpret_cast<gex_AM_Fn_t>(&receive<Mark>);
}

constexpr gex_Flags_t flags = GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST;

gex_AM_Entry_t entry(gex_AM_Index_t index, gex_AM_Fn_t handler) {
  return {index, handler, flags, 0, nullptr, nullptr};
}

#define REQUIRE(condition)                                                               \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "registration: line %d: not so: %s\n", __LINE__, #condition); \
      gasnet_exit(1);                                                                    \
    }                                                                                    \
  } while (0)

int add(std::vector<gex_AM_Entry_t>& table) {
  return gex_EP_RegisterHandlers(endpoint, table.data(), table.size());
}

// Zeros get what is highest and free once the fixed ones of the same table have theirs.
void fixed_first_then_zeros_downward() {
  std::vector<gex_AM_Entry_t> table{entry(0, function<0>()), entry(255, function<1>()),
                                    entry(0, function<2>()), entry(253, function<3>()),
                                    entry(0, function<4>())};
  REQUIRE(add(table) == GASNET_OK);
  REQUIRE(table[0].gex_index == 254);
  REQUIRE(table[1].gex_index == 255);
  REQUIRE(table[2].gex_index == 252);
  REQUIRE(table[3].gex_index == 253);
  REQUIRE(table[4].gex_index == 251);
  // The library keeps its own copy.
  std::memset(static_cast<void*>(table.data()), 0, table.size() * sizeof table[0]);
}

void later_calls_go_on() {
  std::vector<gex_AM_Entry_t> table{entry(128, function<5>()), entry(0, function<6>())};
  REQUIRE(add(table) == GASNET_OK);
  REQUIRE(table[0].gex_index == 128);
  REQUIRE(table[1].gex_index == 250);
  std::vector<gex_AM_Entry_t> empty;
  REQUIRE(gex_EP_RegisterHandlers(endpoint, nullptr, 0) == GASNET_OK);
}

void require_refusals() {
  std::vector<gex_AM_Entry_t> taken{entry(0, function<7>()), entry(254, function<7>())};
  REQUIRE(add(taken) == GASNET_ERR_BAD_ARG);
  REQUIRE(taken[0].gex_index == 0);
  std::vector<gex_AM_Entry_t> twice{entry(200, function<7>()), entry(200, function<7>())};
  REQUIRE(add(twice) == GASNET_ERR_BAD_ARG);
  std::vector<gex_AM_Entry_t> low{entry(127, function<7>())};
  REQUIRE(add(low) == GASNET_ERR_BAD_ARG);
  std::vector<gex_AM_Entry_t> wide{{0, function<7>(), flags, 17, nullptr, nullptr}};
  REQUIRE(add(wide) == GASNET_ERR_BAD_ARG);
  std::vector<gex_AM_Entry_t> shapeless{{0, function<7>(), 0, 0, nullptr, nullptr}};
  REQUIRE(add(shapeless) == GASNET_ERR_BAD_ARG);
}

/// A library that checks every call ends the job where another answers with an error; what it
/// prints is the misuse tests' to look at.
bool refusals_are_answers = true;

void refused_tables_change_nothing() {
  if (refusals_are_answers) require_refusals();
  // What was refused is still free.
  std::vector<gex_AM_Entry_t> table{entry(0, function<8>()), entry(200, function<9>())};
  REQUIRE(add(table) == GASNET_OK);
  REQUIRE(table[0].gex_index == 249);
}

void all_indices_can_be_used_and_no_more() {
  // 128 in all; 9 are taken.
  if (refusals_are_answers) {
    std::vector<gex_AM_Entry_t> too_many(120, entry(0, function<10>()));
    REQUIRE(add(too_many) == GASNET_ERR_RESOURCE);
    REQUIRE(too_many[0].gex_index == 0);
  }
  std::vector<gex_AM_Entry_t> rest(119, entry(0, function<10>()));
  REQUIRE(add(rest) == GASNET_OK);
  REQUIRE(rest.front().gex_index == 248);
  REQUIRE(rest.back().gex_index == 129);
  std::vector<gex_AM_Entry_t> one{entry(0, function<11>())};
  if (refusals_are_answers) REQUIRE(add(one) == GASNET_ERR_RESOURCE);
}

void every_index_runs_its_handler() {
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
  const gex_Rank_t next = (gex_TM_QueryRank(team) + 1) % gex_TM_QuerySize(team);
  for (unsigned index = GEX_AM_INDEX_BASE; index < 256; ++index) {
    gex_AM_RequestShort0(team, next, static_cast<gex_AM_Index_t>(index), 0);
  }
  int total = 0;
  GASNET_BLOCKUNTIL(([&] {
    total = 0;
    for (const int count : hits) total += count;
    return total == 128;
  }()));
  for (const int mark : {0, 1, 2, 3, 4, 5, 6, 8, 9}) REQUIRE(hits[mark] == 1);
  REQUIRE(hits[7] == 0);
  REQUIRE(hits[10] == 119);
  REQUIRE(hits[11] == 0);
  gex_Event_Wait(gex_Coll_BarrierNB(team, 0));
}

}  // namespace

int main(int argc, char** argv) {
  gex_Client_t client = GEX_CLIENT_INVALID;
  REQUIRE(gex_Client_Init(&client, &endpoint, &team, "REGISTRATION", &argc, &argv, 0) == GASNET_OK);
  gex_System_SetVerboseErrors(0);
  refusals_are_answers = argc < 2 || std::strcmp(argv[1], "checked") != 0;
  fixed_first_then_zeros_downward();
  later_calls_go_on();
  refused_tables_change_nothing();
  all_indices_can_be_used_and_no_more();
  every_index_runs_its_handler();
  return 0;
}
