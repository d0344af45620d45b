#pragma once
// A process's place in its job: who am I, who else is there, and how do we end.
//
// A job is N processes (ranks 0..N-1); those of one host are under one guardian, which is their
// parent and knows at once when one of them dies. The ranks talk to it over one inherited socket
// pair each; on one host nothing listens on any address. `Job::join` finds out how this process was
// started:
//  - by gexrun (the environment names the inherited descriptor; it is unset and made close-on-exec
//    at once, so that a program which this rank executes does not take itself for the rank);
//  - GASNET_PSHM_NODES=N in the environment and no launcher: the calling process becomes the
//    launcher, forks a guardian and N ranks which return from `join`, and itself never returns: it
//    exits with the job's status;
//  - another launcher that speaks PMIx or PMI (foreign.h): its job is this one, unless a process
//    that started this one has that place already (place.h);
//  - none of these: a job of one rank, without a guardian.
//
// How a rank ends. After `join` the ways out are
//  - exit(0) or return from main: the rank waits, in an exit handler and serving the idle poll, for
//    all others to do the same; GEX_EXIT_TIMEOUT limits the wait, and a rank that waits in a
//    collective call for one that has left is an error with a name;
//  - `end` (gasnet_exit): it waits without serving, and the whole job ends once all others have
//  left
//    too, or after a grace (GEX_EXIT_GRACE; some seconds at least for `end` with 0);
//  - exit or a return from main with a status other than 0: the same, but it serves;
//  - `end_at_once`: a fatal error;
//  - anything else (a signal, _exit, executing another program) is an error: the guardian names the
//    rank and ends the job.
// The first status that is not 0 is the job's.
// A process that the client forked is no rank: how it ends does not matter to the job.
//
// Thread rules: `join`, `exchange`, `barrier` and `share_descriptor` from one thread at a time;
// `end`, `end_at_once` and `ending` from anywhere, the first two also from signal handlers.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "boot/last_call.h"
#include "boot/origin.h"
#include "boot/rank_set.h"

namespace gex::boot {

class Job {
 public:
  /// Joins the job this process belongs to; called once, by the first gex_Client_Init. Ends the
  /// process with one clear line when the environment asks for what cannot be had. Registers the
  /// AbortHook and the message rank, and from then on handles exit(): see "How a rank ends".
  static Job& join();

  /// The joined job; only after `join`.
  static Job& current() noexcept;
  static bool joined() noexcept;

  std::uint32_t rank() const noexcept;
  std::uint32_t size() const noexcept;
  Origin origin() const noexcept;
  /// Whether this is a job of one that a process of another job has started.
  bool nested() const noexcept;

  /// Index of the host a rank runs on, hosts numbered from 0 in order of their lowest rank.
  std::uint32_t host_of(std::uint32_t rank) const noexcept;

  /// Collective. Every rank gives the same number of bytes; on return `all` (size() times as long)
  /// holds everybody's, in rank order.
  void exchange(std::span<const std::byte> mine, std::span<std::byte> all);

  /// Collective. Returns after every rank has called it.
  void barrier();

  /// Collective over some ranks of one host, which all pass the same values. The rank `owner` among
  /// them passes an open descriptor and gets it back; every other rank passes -1 and gets its own
  /// descriptor (close-on-exec) for the same open file. The caller owns it.
  int share_descriptor(int descriptor, const RankSet& ranks, std::uint32_t owner);
  /// The same, given by the first of them.
  int share_descriptor(int descriptor, const RankSet& ranks) {
    return share_descriptor(descriptor, ranks, ranks.front());
  }

  /// gasnet_exit: this rank ends, and with it the whole job, see above. Flushes this process's
  /// streams under a watchdog, then waits. When all ranks leave with 0, and none has to keep MPI,
  /// finalizes it where the client has not. Async-signal-safe but for the flush, takes no lock of
  /// ours, legal in AM handlers and signal handlers and from several threads at once. Of a code
  /// that is not 0 and has only zeros in its low eight bits the exit status is 1.
  [[noreturn]] void end(int code) noexcept;

  /// The same, but the job ends now, and nobody has a grace.
  [[noreturn]] void end_at_once(int code) noexcept;

  /// Whether some rank (or the guardian: a rank has died, the time is up) has ended the job: a rank
  /// that finds this true calls `follow`. One relaxed load of a read-mostly word.
  bool ending() const noexcept;

  /// For a poll that cannot afford a call: 0 as long as the job is not `ending` and no rank has
  /// left it. Valid for the life of the process.
  const std::atomic<std::uint64_t>& ending_word() const noexcept;

  /// Ends this rank because the job is `ending`, with the job's code: gives a handler that the
  /// client installed for SIGQUIT its call, then does as `end_at_once`. Same rules as `end`.
  [[noreturn]] void follow() noexcept;

  /// Whether this rank has returned from main or called exit(0); it serves the others until all
  /// have.
  bool left() const noexcept;

  /// Says that this rank waits in a collective call for `absent`, which has left without making
  /// that call: the guardians end the job. May be said again. Any thread.
  void waits_in_vain(std::uint32_t absent) noexcept;

  /// For who finds that another rank cannot be reached any more: waits for as long as the guardians
  /// take to notice that a rank or a host is gone, and does as `follow` once they have. Returns if
  /// they have not. Any thread, no handler of a signal.
  void follow_loss() noexcept;

  /// Where the calls of this rank are noted, for the guardian to say which was the last; null in a
  /// job of one, where nobody would. Valid for the life of the process.
  LastCall* last_call() noexcept;

  /// What a rank that returns from main or calls exit(0) does while it waits for the others: the
  /// core registers its poll function here. It is called from exit handlers, over and over, and
  /// need not look at `ending`. Of `end`, which waits as well, it is called without `serve`: no
  /// handler may run, but a network goes on with what it has taken.
  void set_idle_poll(void (*poll)(bool serve) noexcept) noexcept;

 private:
  constexpr Job() = default;
};

}  // namespace gex::boot
