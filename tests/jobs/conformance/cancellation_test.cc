// Threads that are cancelled (pthread_cancel): each ends where it waits, and nothing else does.

#include <pthread.h>

#include <atomic>

#include "transfer.h"

namespace conformance::cancellation_test {
namespace {

const NeedsPeers needs_peers("Cancellation");

gex_Rank_t last() {
  return size() - 1;
}

std::atomic<gex_Rank_t> reports{0};
void receive_report(gex_Token_t) {
  ++reports;
}
std::atomic<int> interruptible{0};
/// A handler that reaches a cancellation point, as one that prints does. Over shared memory such a
/// handler has to disable cancellation itself.
void receive_interruptible(gex_Token_t token) {
  gex_Token_Info_t info;
  gex_Token_Info(token, &info, GEX_TI_SRCRANK);
  const bool by_memory = in_neighborhood(info.gex_srcrank);
  int before = PTHREAD_CANCEL_ENABLE;
  if (by_memory) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  pthread_testcancel();
  ++interruptible;
  if (by_memory) pthread_setcancelstate(before, nullptr);
}
const Handlers handlers({{0, handler(receive_report), GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0,
                          nullptr, "receive_report"},
                         {0, handler(receive_interruptible),
                          GEX_FLAG_AM_SHORT | GEX_FLAG_AM_REQUEST, 0, nullptr,
                          "receive_interruptible"}});

/// Runs `work` in a thread that is cancelled from its beginning: it ends at its first cancellation
/// point, and destroys what is on its stack.
template <class Work>
void run_cancelled(Work work) {
  struct Thread {
    Work& work;
    std::atomic<bool> begun{false};
    std::atomic<bool> released{false};
    bool unwound = false;
    struct Unwinding {
      bool& flag;
      ~Unwinding() { flag = true; }
    };
    static void* main(void* argument) {
      auto& self = *static_cast<Thread*>(argument);
      const Unwinding unwinding{self.unwound};
      self.begun = true;
      while (!self.released) {
      }
      self.work();
      return nullptr;
    }
  } shared{work};
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, nullptr, Thread::main, &shared), 0);
  while (!shared.begun) gasnet_AMPoll();
  ASSERT_EQ(pthread_cancel(thread), 0);
  shared.released = true;
  void* result = nullptr;
  ASSERT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_TRUE(shared.unwound);
}

/// Members wait in cancelled threads for the last rank, which waits until all of them have ended.
/// `enter` begins what they wait for, `wait` waits for it.
template <class Enter, class Wait>
void cancel_in(Enter enter, Wait wait) {
  reports = 0;
  barrier();
  if (rank() != last()) {
    enter();
    run_cancelled(wait);
    gex_AM_RequestShort0(team(), last(), handlers[0], 0);
  } else {
    WAIT_UNTIL(reports == last());
    enter();
  }
}

gex_Event_t barrier_event = GEX_EVENT_INVALID;
void start_barrier() {
  barrier_event = gex_Coll_BarrierNB(team(), 0);
}
void finish_barrier() {
  gex_Event_Wait(barrier_event);
  barrier();
}

TEST_IN_PAR(Cancellation, InAWaitForAnEvent) {
  cancel_in(start_barrier, [] { gex_Event_Wait(barrier_event); });
  finish_barrier();
}
TEST_IN_PAR(Cancellation, InAWaitForSomeEvents) {
  cancel_in(start_barrier, [] { gex_Event_WaitSome(&barrier_event, 1, 0); });
  finish_barrier();
}
TEST_IN_PAR(Cancellation, InAWaitForAllEvents) {
  cancel_in(start_barrier, [] { gex_Event_WaitAll(&barrier_event, 1, 0); });
  finish_barrier();
}
TEST_IN_PAR(Cancellation, InAWaitForACondition) {
  cancel_in([] {}, [] { GASNET_BLOCKUNTIL(false); });
  barrier();
}
TEST_IN_PAR(Cancellation, InALoopOfPolls) {
  cancel_in([] {},
            [] {
              for (;;) {
                gasnet_AMPoll();
                pthread_testcancel();
              }
            });
  barrier();
}
TEST_IN_PAR(Cancellation, InABlockingBarrier) {
  // The threads' calls have begun it.
  cancel_in(
      [] {
        if (rank() == last()) gex_Coll_BarrierBlocking(team(), 0);
      },
      [] { gex_Coll_BarrierBlocking(team(), 0); });
  barrier();
}
TEST_IN_PAR(Cancellation, InTheWaitOfASplitBarrier) {
  cancel_in([] { gasnet_barrier_notify(0, GASNET_BARRIERFLAG_ANONYMOUS); },
            [] { gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS); });
  EXPECT_EQ(gasnet_barrier_wait(0, GASNET_BARRIERFLAG_ANONYMOUS), GASNET_OK);
}

TEST_IN_PAR(Cancellation, NotInTheMiddleOfAnOperation) {
  constexpr int rounds = 30;
  constexpr std::size_t bytes = 50'000;
  const std::vector<std::byte> source = patterned(rank() + 1, bytes);
  std::vector<std::byte> back(bytes);
  for (int thread = 0; thread < 5; ++thread) {
    int done = 0;
    reports = 0;
    barrier();
    run_cancelled([&] {
      for (; done < rounds; ++done) {
        gex_RMA_PutBlocking(team(), next(), segment_of(next()), source.data(), bytes, 0);
        gex_RMA_GetBlocking(team(), back.data(), next(), segment_of(next()), bytes, 0);
        gex_AM_RequestShort0(team(), next(), handlers[0], 0);
      }
      pthread_testcancel();
    });
    EXPECT_EQ(done, rounds);
    EXPECT_TRUE(holds(back.data(), rank() + 1, bytes));
    WAIT_UNTIL(reports == rounds);
  }
  barrier();
}

TEST_IN_PAR(Cancellation, NotInAHandler) {
  constexpr int messages = 200;
  interruptible = 0;
  barrier();
  for (int i = 0; i < messages; ++i) gex_AM_RequestShort0(team(), next(), handlers[1], 0);
  cancel_in(start_barrier, [] { gex_Event_Wait(barrier_event); });
  WAIT_UNTIL(interruptible == messages);
  finish_barrier();
}

}  // namespace
}  // namespace conformance::cancellation_test
