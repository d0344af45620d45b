// Entry points: what gasnetex.h carries over from GASNet-1.

#include <gasnetex.h>
#include <pthread.h>

#include <cstdlib>

#include "base/cancellation.h"
#include "base/error.h"
#include "base/os_process.h"
#include "base/patience.h"
#include "core/objects.h"
#include "core/process.h"
#include "core/progress.h"
#include "core/published.h"
#include "observe/in_call.h"
#include "observe/trace.h"
#include "way/network_report.h"

namespace {

struct ErrorText {
  int error;
  const char* name;
  const char* description;
};
constexpr ErrorText errors[] = {
    {GASNET_OK, "GASNET_OK", "no error"},
    {GASNET_ERR_NOT_INIT, "GASNET_ERR_NOT_INIT", "the library has not been initialised"},
    {GASNET_ERR_RESOURCE, "GASNET_ERR_RESOURCE", "a resource that the call needs is not to be had"},
    {GASNET_ERR_BAD_ARG, "GASNET_ERR_BAD_ARG", "an argument is not valid"},
    {GASNET_ERR_NOT_READY, "GASNET_ERR_NOT_READY", "not complete yet"},
    {GASNET_ERR_BARRIER_MISMATCH, "GASNET_ERR_BARRIER_MISMATCH",
     "the callers of a barrier gave different identifiers"},
};

/// The segment of that rank's primordial endpoint.
gex::PublishedSegment segment_of(gex_Rank_t rank) {
  return gex::published_segment(gex::gasnet1_client()->endpoint->address(), rank);
}

const ErrorText* find_error(int error) {
  for (const ErrorText& text : errors)
    if (text.error == error) return &text;
  return nullptr;
}

/// Apart, so that it costs nothing where nothing is observed: loops poll over and over.
[[gnu::cold, gnu::noinline]] bool poll_observed(std::uint32_t quiet) {
  const gex::InCall call(gex::Call::am_poll);
  return gex::detail::poll_busy(quiet);
}

/// Polls of the calling thread's in a row that have found nothing, and are calls.
constinit thread_local gex::PollPatience empty_polls __attribute__((tls_model("initial-exec")));
/// The calling thread's wait for a condition of the client's.
constinit thread_local gex::Patience condition_wait
    __attribute__((tls_model("initial-exec"))){gex::WaitKind::client};
/// The event that followed its last sleep.
enum class LastSleep : std::uint8_t { none, message, silence };
constinit thread_local LastSleep last_sleep __attribute__((tls_model("initial-exec"))) =
    LastSleep::none;
/// A poll has progressed since the last `gex_wait_pause_`.
constinit thread_local bool has_progressed __attribute__((tls_model("initial-exec")));

/// Between the looks of a sleep, too, handlers run inside gasnet_AMPoll for those who observe.
bool look_once_more(void*) noexcept {
  has_progressed = gex::observed() ? poll_observed(0) : gex::poll();
  return has_progressed;
}

/// A client may wait for a put, which rings no bell.
[[gnu::cold, gnu::noinline]] void sleep_between_polls() noexcept {
  constexpr std::uint64_t nap_ns = 50'000;
  gex::sleep_until_rung(nap_ns, look_once_more, nullptr);
}

}  // namespace

extern "C" {

char* gasnet_ErrorName(int error) {
  const ErrorText* text = find_error(error);
  return const_cast<char*>(text != nullptr ? text->name : "*unknown*");
}
char* gasnet_ErrorDesc(int error) {
  const ErrorText* text = find_error(error);
  return const_cast<char*>(text != nullptr ? text->description
                                           : "no description: not an error code of GASNet");
}

int gex_poll_(std::uint32_t quiet) {
  bool progressed;
  if (gex::observed()) [[unlikely]]
    progressed = poll_observed(quiet);
  else
    progressed = gex::detail::poll_busy(quiet);
  // A client that waits in a loop of its own keeps the core from those that it waits for.
  if (progressed) {
    empty_polls.reset();
    has_progressed = true;
  } else if (const gex::Turn turn = empty_polls.next(gex::can_sleep()); turn != gex::Turn::again)
      [[unlikely]] {
    if (turn == gex::Turn::sleep) {
      sleep_between_polls();
      empty_polls.slept();
    }
    pthread_testcancel();
  }
  return GASNET_OK;
}

// Aligned: how long a turn of a client's wait takes decides when it sees a message. Beside a
// boundary of lines a round trip took 5 to 10% longer.
[[gnu::aligned(64)]] void gex_wait_pause_(uint32_t* spins) {
  // The client's word: whether this wait has begun, and whether the core has been given up in it.
  constexpr std::uint32_t begun = 1;
  constexpr std::uint32_t given_up = 2;
  if (*spins == 0) {
    condition_wait.progressed();
    if (last_sleep != LastSleep::none) {
      gex::PatienceActions::history().client_wait_ended(last_sleep == LastSleep::message);
      last_sleep = LastSleep::none;
    }
  }
  // A rank that serves others while it waits spins as at first, as in the library's own waits.
  if (has_progressed) {
    has_progressed = false;
    condition_wait.progressed();
    *spins &= given_up;
    return;
  }
  *spins |= begun;
  const gex::Turn turn = condition_wait.next(gex::can_sleep(), true);
  if (turn == gex::Turn::again) return;
  gex::note_condition_wait(/*first=*/(*spins & given_up) == 0);
  *spins |= given_up;
  if (turn == gex::Turn::sleep) {
    gex::sleep_for_wait(condition_wait, condition_wait.client_nap_ns(), look_once_more, nullptr);
    last_sleep =
        has_progressed || look_once_more(nullptr) ? LastSleep::message : LastSleep::silence;
  }
  pthread_testcancel();
}

void gasnet_exit(int exitcode) {
  // Until the process has ended.
  const gex::CancellationDisabled uncancelled;
  if (gex_proc_.jobsize == 0) std::_Exit(gex::os::exit_status(exitcode));
  gex::trace::finish();
  gex::report_network();
  gex::process().job->end(exitcode);
}

uintptr_t gasnet_getMaxGlobalSegmentSize(void) {
  if (gex_proc_.jobsize == 0)
    gex::fatal("gasnet_getMaxGlobalSegmentSize: called before gex_Client_Init");
  return gex::process().neighborhood.job_max_segment();
}
uintptr_t gasnet_getMaxLocalSegmentSize(void) {
  if (gex_proc_.jobsize == 0)
    gex::fatal("gasnet_getMaxLocalSegmentSize: called before gex_Client_Init");
  return gex::process().neighborhood.max_segment();
}

int gasnet_getSegmentInfo(gasnet_seginfo_t* seginfo_table, int numentries) {
  if (gex_proc_.jobsize == 0 || gex::awaiting_attach()) return GASNET_ERR_NOT_INIT;
  if (seginfo_table == nullptr || numentries < 0) return GASNET_ERR_BAD_ARG;
  for (int i = 0; i < numentries && static_cast<gex_Rank_t>(i) < gex_proc_.jobsize; ++i) {
    const gex::PublishedSegment segment = segment_of(static_cast<gex_Rank_t>(i));
    seginfo_table[i].addr = reinterpret_cast<void*>(segment.owner_address);
    seginfo_table[i].size = segment.size;
  }
  return GASNET_OK;
}

int gasnet_getNodeInfo(gasnet_nodeinfo_t* nodeinfo_table, int numentries) {
  if (gex_proc_.jobsize == 0) return GASNET_ERR_NOT_INIT;
  if (nodeinfo_table == nullptr || numentries < 0) return GASNET_ERR_BAD_ARG;
  const gex::shm::Placement& placement = gex::process().placement;
  for (gex_Rank_t rank = 0; rank < gex_proc_.jobsize && rank < static_cast<gex_Rank_t>(numentries);
       ++rank) {
    const gex::PublishedSegment segment = segment_of(rank);
    nodeinfo_table[rank].host = placement.host[rank];
    nodeinfo_table[rank].supernode = placement.neighborhood[rank];
    nodeinfo_table[rank].offset =
        segment.mapped != nullptr ? static_cast<uintptr_t>(segment.displacement()) : 0;
  }
  return GASNET_OK;
}

char* gasnet_getenv(const char* name) {
  return std::getenv(name);
}

int gasnet_set_waitmode(int wait_mode) {
  if (wait_mode != GASNET_WAIT_SPIN && wait_mode != GASNET_WAIT_BLOCK &&
      wait_mode != GASNET_WAIT_SPINBLOCK)
    return GASNET_ERR_BAD_ARG;
  gex::PatienceActions::history().set_mode(wait_mode == GASNET_WAIT_SPIN ? gex::WaitMode::spin
                                           : wait_mode == GASNET_WAIT_BLOCK
                                               ? gex::WaitMode::block
                                               : gex::WaitMode::spin_block);
  return GASNET_OK;
}

}  // extern "C"
