#include "base/os_signal_frame.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace gex::os {
namespace {

volatile bool found = false;

void look(int) {
  found = inside_signal_handler();
}

bool found_by_handler_of(int number, int flags) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = look;
  action.sa_flags = flags;
  sigaction(number, &action, &before);
  found = false;
  raise(number);
  sigaction(number, &before, nullptr);
  return found;
}

TEST(SignalFrame, OfAHandlerIsFound) {
  EXPECT_FALSE(inside_signal_handler());
  EXPECT_TRUE(found_by_handler_of(SIGUSR1, 0));
  EXPECT_TRUE(found_by_handler_of(SIGUSR1, SA_NODEFER));
  EXPECT_TRUE(found_by_handler_of(SIGSEGV, 0));
  EXPECT_FALSE(inside_signal_handler());
}

TEST(SignalFrame, OfAThreadThatBlocksAllSignalsIsNotFound) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool outside = inside_signal_handler();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_FALSE(outside);

  struct sigaction action {};
  action.sa_handler = look;
  sigfillset(&action.sa_mask);
  sigaction(SIGSEGV, &action, nullptr);
  found = false;
  raise(SIGSEGV);
  signal(SIGSEGV, SIG_DFL);
  EXPECT_TRUE(found) << "a handler that blocks all signals";
}

}  // namespace
}  // namespace gex::os
