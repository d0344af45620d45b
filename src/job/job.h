#pragma once
// A process's membership of its job: its rank, exchanges between ranks at start-up, and the end.
//
// A job is N processes (ranks 0..N-1). The ranks of a host have one guardian, which is their parent
// and detects at once that one of them has died. Each rank has a socket pair with it, inherited; on
// one host nothing listens on any address. `Job::join` detects how this process was started:
//  - by gexrun: the environment names the inherited descriptor. The variable is unset and the
//    descriptor made close-on-exec at once, so that a program that this rank executes does not act
//    as the rank;
//  - with GASNET_PSHM_NODES=N in the environment and no launcher: the calling process becomes the
//    launcher and forks a guardian and N ranks, which return from `join`. It does not return
//    itself; it exits with the job's status;
//  - by another launcher that speaks PMIx or PMI (foreign.h): this process is a rank of that
//    launcher's job, unless an ancestor of it is that rank already (place.h);
//  - otherwise, where the program asks for ranks by itself (`RanksWanted`): as with
//    GASNET_PSHM_NODES;
//  - otherwise: a job of one rank, without a guardian.
//
// How a rank ends. After `join` a rank can end by
//  - exit(0) or return from main: the rank waits, in an exit handler and serving the idle poll,
//  until
//    all others have done so too. GEX_EXIT_TIMEOUT limits the wait. If a rank is waiting in a
//    collective call for one that has left, the job ends with an error that names that one;
//  - `end` (gasnet_exit): the rank waits without serving. The whole job ends once all others have
//    left too, or after a grace period (GEX_EXIT_GRACE; at least some seconds for `end` with 0);
//  - exit or a return from main with a status other than 0: as `end`, but the rank serves while it
//    waits;
//  - `end_at_once`: a fatal error;
//  - any other way (a signal, _exit, executing another program), which is an error: the guardian
//    names the rank and ends the job.
// The first status that is not 0 is the job's.
// A process that the client has forked is not a rank; its end does not affect the job.
//
// Thread rules: `join`, exchanges, `least`, `barrier` and `share_descriptor` from one thread at a
// time; `end`, `end_at_once` and `ending` from anywhere, the first two also from signal handlers.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "job/exchanged.h"
#include "job/last_call.h"
#include "job/origin.h"
#include "job/rank_set.h"

namespace gex::job {

/// How many ranks a process is to start that no launcher has; 0: it is a job of one rank.
using RanksWanted = std::function<std::uint32_t()>;

class Job {
 public:
  /// Joins the job that this process belongs to; called once, by the first gex_Client_Init. Ends
  /// the process with a message of one line if the environment is invalid. Registers the AbortHook
  /// and the message rank, and an exit handler: see "How a rank ends".
  static Job& join(const RanksWanted& wanted = nullptr);

  /// The joined job. Requires that `join` has returned.
  static Job& current() noexcept;
  static bool joined() noexcept;

  std::uint32_t rank() const noexcept;
  std::uint32_t size() const noexcept;
  Origin origin() const noexcept;
  /// Returns true if this is a job of one rank that a process of another job has started.
  bool nested() const noexcept;

  /// Index of the host a rank runs on, hosts numbered from 0 in order of their lowest rank.
  std::uint32_t host_of(std::uint32_t rank) const noexcept;

  /// Collective. Every rank gives the same number of bytes; on return `all` (size() times as long)
  /// holds the bytes of all ranks, in rank order.
  void exchange(std::span<const std::byte> mine, std::span<std::byte> all);
  /// As above; more than a kilobyte is not copied for each rank of a host.
  Exchanged exchange(std::span<const std::byte> mine);

  /// Collective over the job. As above, but only with what the ranks of this host give: nothing of
  /// it is sent to other hosts.
  Exchanged exchange_on_host(std::span<const std::byte> mine);

  /// Collective. Every rank gives as many numbers; on return each of them is the least that a rank
  /// has given in its place. A rank whose number does not count gives the largest there is. Takes
  /// an exchange for each 32 of them.
  void least(std::span<std::uint64_t> numbers);

  /// From one thread at a time, as exchanges.
  StartCounts start_counts() const noexcept;

  /// Collective. Returns after every rank has called it.
  void barrier();

  /// Collective over some ranks of one host, which all pass the same values. The rank `owner` among
  /// them passes an open descriptor and gets it back; every other rank passes -1 and gets its own
  /// descriptor (close-on-exec) for the same open file. The caller owns it.
  int share_descriptor(int descriptor, const RankSet& ranks, std::uint32_t owner);
  /// Shares a descriptor of the first of `ranks`, as above.
  int share_descriptor(int descriptor, const RankSet& ranks) {
    return share_descriptor(descriptor, ranks, ranks.front());
  }

  /// gasnet_exit: ends this rank, and with it the whole job, see above. Flushes this process's
  /// streams under a watchdog, then waits. If all ranks leave with 0, and all
  /// can, finalizes what is beside libgex (job/finalizer.h). Async-signal-safe except for the
  /// flush; takes no lock of libgex; legal in AM handlers and signal handlers and from several
  /// threads at once. The exit status is the code's low eight bits, or 1 if these are 0 and the
  /// code is not.
  [[noreturn]] void end(int code) noexcept;

  /// Ends this rank and the whole job now, without a grace period. Same rules as `end`.
  [[noreturn]] void end_at_once(int code) noexcept;

  /// Returns true if a rank, or a guardian (because a rank has died, or of the time limit), has
  /// ended the job; the caller then calls `follow`. One relaxed load of a read-mostly word.
  bool ending() const noexcept;

  /// A word that is 0 while the job is not `ending` and no rank has left it, for polls that cannot
  /// afford a call. Valid for the life of the process.
  const std::atomic<std::uint64_t>& ending_word() const noexcept;

  /// Ends this rank with the job's code because the job is `ending`: raises SIGQUIT if the client
  /// has a handler for it, then calls `end_at_once`. Same rules as `end`.
  [[noreturn]] void follow() noexcept;

  /// Returns true if this rank has returned from main or called exit(0). It then serves the others
  /// until all of them have.
  bool left() const noexcept;

  /// Reports that this rank is waiting in a collective call for `peer`, which has left the job
  /// without making that call. The guardians end the job. May be called repeatedly, by any thread.
  void report_exited_peer(std::uint32_t peer) noexcept;

  /// Called when a network reports another rank as unreachable: waits until the guardians have
  /// detected the death of a rank or host, and calls `follow` then. Returns if they have detected
  /// none in time. Any thread, but no signal handler.
  void follow_loss() noexcept;

  /// The record of this rank's last call, which the guardian names in messages; null in a job of
  /// one rank. Valid for the life of the process.
  LastCall* last_call() noexcept;

  /// Registers the poll function that a leaving rank calls repeatedly, from an exit handler, while
  /// it waits for the others; it need not check `ending`. `serve` is false in `end`: no handler may
  /// run then, but a network progresses operations that it has accepted. The more ranks share a
  /// core of this host, the longer it pauses between polls.
  void set_idle_poll(void (*poll)(bool serve) noexcept, std::uint32_t ranks_per_core) noexcept;

 private:
  constexpr Job() = default;
};

}  // namespace gex::job
