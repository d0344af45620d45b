#pragma once
// Signs that one of two ranks of a host waits for and the other gives, without a poll of either.

#include <gasnet_coll.h>
#include <gasnetex.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <initializer_list>

#include "require.h"

/// Made before there are threads, of the library's too: signals are blocked in all of them.
class Signs {
 public:
  Signs() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals_, nullptr);
  }

  /// Collective; before the first is given.
  void introduce(gex_TM_t team) {
    const pid_t own = getpid();
    for (const gex_Rank_t rank : {0U, 1U})
      gex_Event_Wait(gex_Coll_BroadcastNB(team, rank, &pids_[rank], &own, sizeof own, 0));
  }

  void give(gex_Rank_t rank) const { REQUIRE(kill(pids_[rank], SIGUSR1) == 0); }
  void wait() const {
    int got = 0;
    REQUIRE(sigwait(&signals_, &got) == 0);
  }

 private:
  sigset_t signals_;
  pid_t pids_[2] = {};
};
