#include <upcxx/job.hpp>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <upcxx/team.hpp>

#include "process.h"

namespace upcxx {
namespace detail {

Job job = {0, 1, false, nullptr};

Process* made_process = nullptr;

Process& make_process() {
  static Process* const made = new Process;
  made_process = made;
  return *made;
}

bool parse_size(const char* text, double unit, double* bytes) {
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  if (end == text) return false;
  if (*end == '%') {
    unit = double(gasnet_getMaxLocalSegmentSize()) / 100;
    ++end;
  } else if (*end != 0) {
    const char units[] = "BKMGT";
    const char* const found = std::strchr(units, std::toupper(*end));
    if (found == nullptr) return false;
    unit = double(std::size_t(1) << (10 * (found - units)));
    if (std::toupper(*++end) == 'B') ++end;
  }
  *bytes = number * unit;
  return *end == 0;
}

namespace {

/// A variable that is a size, in MiB without a unit.
std::size_t size_in(const char* name, std::size_t otherwise) {
  const char* const text = gasnet_getenv(name);
  if (text == nullptr || *text == 0) return otherwise;
  double bytes = 0;
  if (!parse_size(text, 1 << 20, &bytes) || bytes <= 0) {
    const std::string message =
        std::string(name) + "=" + text +
        " is no size; write a number with K, M, G or T, a percentage, or MAX";
    fatal_error(message.c_str(), "upcxx::init");
  }
  return std::size_t(bytes);
}

}  // namespace

std::size_t shared_heap_size() {
  const char* name = "UPCXX_SHARED_HEAP_SIZE";
  const char* text = gasnet_getenv(name);
  if (text == nullptr) text = gasnet_getenv(name = "UPCXX_SEGMENT_MB");
  if (text == nullptr || *text == 0) return std::size_t(128) << 20;
  if (std::string(text) == "MAX") return gasnet_getMaxLocalSegmentSize();
  // Pages are committed as they are touched.
  const std::size_t page = 4096;
  return (size_in(name, 0) + page - 1) / page * page;
}

namespace {

/// A variable that is a switch.
bool switched(const char* name, bool otherwise) {
  const char* const text = gasnet_getenv(name);
  return text == nullptr ? otherwise : std::strchr("1yYtT", *text) != nullptr;
}

void require_ok(int error, const char* call) {
  if (error == GASNET_OK) return;
  const std::string message = std::string(call) + " failed: " + gasnet_ErrorDesc(error);
  fatal_error(message.c_str(), "upcxx::init");
}

void find_displacements(Process& made) {
  made.displacements.assign(std::size_t(job.rank_n), no_displacement);
  gex_RankInfo_t* neighbors = nullptr;
  gex_Rank_t count = 0;
  gex_Rank_t me = 0;
  gex_System_QueryNbrhdInfo(&neighbors, &count, &me);
  for (gex_Rank_t i = 0; i < count; ++i) {
    const gex_Rank_t rank = neighbors[i].gex_jobrank;
    void* owner = nullptr;
    void* local = nullptr;
    uintptr_t size = 0;
    require_ok(gex_Segment_QueryBound(made.world, rank, &owner, &local, &size),
               "gex_Segment_QueryBound");
    if (local != nullptr) {
      made.displacements[rank] = std::intptr_t(local) - std::intptr_t(owner);
      made.neighbors.push_back({intrank_t(rank), std::uintptr_t(local), size});
    }
  }
  job.displacements = made.displacements.data();
}

void join(Process& made) {
  require_ok(
      gex_Client_Init(&made.client, &made.endpoint, &made.world, "UPCXX", nullptr, nullptr, 0),
      "gex_Client_Init");
  made.endpoints = {made.endpoint};
  register_message_handlers(made.endpoint);
  gex_Segment_t segment = nullptr;
  require_ok(gex_Segment_Attach(&segment, made.world, shared_heap_size()), "gex_Segment_Attach");
  made.has_joined = true;
  job.rank_me = intrank_t(gex_TM_QueryRank(made.world));
  job.rank_n = intrank_t(gex_TM_QuerySize(made.world));
  find_displacements(made);
  gex_RankInfo_t* ranks = nullptr;
  gex_Rank_t on_host = 0;
  gex_System_QueryHostInfo(&ranks, &on_host, nullptr);
  if (switched("UPCXX_OVERSUBSCRIBED", on_host > std::thread::hardware_concurrency())) {
    // The rank that is waited for may need this processor.
    quick_steps = 0;
  }
  made.goes_on_in_callbacks = switched("UPCXX_WARN_COLLECTIVE_IN_PROGRESS", false);
  made.makes_room = switched("UPCXX_RPC_PROGRESS", false);
  const int readers = gex_Annotation_QueryReaders();
  made.is_watched = (readers & GEX_ANNOTATION_HANG_REPORT) != 0;
  is_traced = (readers & GEX_ANNOTATION_TRACE) != 0;
  job.has_long_calls = made.makes_room || made.is_watched;
  made.max_backlog_kibibytes = size_in("UPCXX_RPC_BACKLOG", std::size_t(64) << 20) >> 10;
}

}  // namespace
}  // namespace detail

using detail::process;

void init() {
  detail::Process& made = process();
  if (made.depth++ > 0) return;
  if (!made.has_joined) detail::join(made);
  made.master_scope = std::make_unique<persona_scope>(made.master);
  // Collective, and so made when all ranks are here.
  local_team();
}

bool initialized() {
  return process().depth > 0;
}

void finalize() {
  detail::Process& made = process();
  if (made.depth == 0) fatal_error("upcxx::init() was not called", "upcxx::finalize");
  detail::require_unrestricted("upcxx::finalize");
  if (!made.master.active_with_caller()) {
    fatal_error("the calling thread does not hold the master persona", "upcxx::finalize");
  }
  progress();
  barrier();
  if (made.depth == 1) detail::warn_of_lost_calls();
  if (--made.depth == 0) made.master_scope.reset();
}

char* getenv_console(const char* name) {
  return gasnet_getenv(name);
}

}  // namespace upcxx
