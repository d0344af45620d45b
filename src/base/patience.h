#pragma once
// How a thread waits: for how long it looks again, when it offers its core to others, and when it
// sleeps in the kernel until it is woken. The one place where that is decided.
//
//   Patience patience(WaitKind::barrier);
//   while (!done()) {
//     if (poll()) patience.progressed();
//     else if (patience.next(may_sleep, true) == Turn::sleep)
//     patience.slept(sleep(patience.long_nap_ns()));
//   }
//
// With a core for each rank a wait looks again without a pause at first (`quick` turns, in which no
// clock is read), then with pauses, then sleeps. The time until then follows what waits of its kind
// have taken lately in this process: up to `max_spin_ns`, and less where they have long been
// longer, down to `min_spin_ns`. While other programs are seen to take the core it is
// `contended_spin_ns`, because a thread that has polled its share of the core away is scheduled
// last when its message comes, and one that sleeps first. With more ranks than cores those that
// take it may be ranks of this job: the wait is then no shorter than `min_spin_ns`.
//
// With more ranks than cores the rank that is waited for may need this core: it is offered to it,
// which takes a microsecond, for as long as without. Where offers take long other programs get the
// core, and the wait sleeps soon.
//
// Where no message would wake a sleeper (`may_sleep` false) the core is offered instead.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/os_cpu.h"
#include "base/os_time_slice.h"
#include "base/spin.h"

namespace gex {

/// The client's choice (gasnet_set_waitmode).
enum class WaitMode : std::uint32_t {
  automatic,
  spin,        ///< never sleep, and offer the core only with more ranks than cores
  block,       ///< sleep at once
  spin_block,  ///< spin for a short time, then sleep
};

/// Waits that take similar times.
enum class WaitKind : std::uint32_t {
  operation,
  room,
  barrier,
  collective,
  exchange,
  lock,
  client
};
inline constexpr std::uint32_t wait_kinds = 7;

/// The result of a turn of a wait.
enum class Turn {
  again,    ///< look again
  yielded,  ///< the core was offered to others; look again
  sleep,    ///< sleep now, if there is still nothing
};

/// The state that the waits of a process share. Relaxed, all of it: hints.
class WaitHistory {
 public:
  static constexpr std::uint64_t min_spin_ns = 20'000;
  static constexpr std::uint64_t max_spin_ns = 200'000;
  static constexpr std::uint64_t shortest_nap_ns = 16'000'000;
  static constexpr std::uint64_t longest_nap_ns = 1'000'000'000;
  /// A core that was away for so long was taken by others.
  static constexpr std::uint64_t long_away_ns = 300'000;
  /// How long others are taken to want it after that.
  static constexpr std::uint64_t contended_ns = 250'000'000;
  /// For how long a wait spins meanwhile: less than a sleep and its end cost. A thread that does
  /// not spin its time slice away gets the core at once when it is woken.
  static constexpr std::uint64_t contended_spin_ns = 2'000;
  /// Turns without a pause: about 10 us, and less than one while others want the core.
  static constexpr std::uint32_t quick = 1024;
  static constexpr std::uint32_t few_quick = 64;

  std::uint64_t spin_ns(WaitKind kind) const noexcept {
    return spin_ns_[index(kind)].load(std::memory_order_relaxed);
  }
  /// A wait that has looked for longer than `quick` turns is over: it looked for `spun_ns`, and if
  /// it slept, it did so for `slept_ns`.
  void ended(WaitKind kind, std::uint64_t spun_ns, std::uint64_t slept_ns) noexcept {
    std::atomic<std::uint64_t>& spin = spin_ns_[index(kind)];
    const std::uint64_t now = spin.load(std::memory_order_relaxed);
    std::uint64_t next = now;
    if (slept_ns == 0)
      next = std::max(now, 4 * spun_ns);
    else if (slept_ns <= now)
      next = 2 * now;
    else if (slept_ns > 4 * now)
      next = now - now / 4;
    next = std::clamp(next, min_spin_ns, max_spin_ns);
    if (next != now) spin.store(next, std::memory_order_relaxed);
  }

  /// At that tick it was seen that others have had the core.
  void lost_core(Tick now) noexcept {
    lost_at_.store(now, std::memory_order_relaxed);
    quick_limit_.store(few_quick / poll_cost(), std::memory_order_relaxed);
  }
  /// Notes that the last such moment is long ago.
  void has_core() noexcept {
    const std::uint32_t limit = quick / poll_cost();
    if (quick_limit() != limit) quick_limit_.store(limit, std::memory_order_relaxed);
  }
  /// How many turns of a wait are quick.
  std::uint32_t quick_limit() const noexcept {
    return quick_limit_.load(std::memory_order_relaxed);
  }
  /// When that was; 0: never.
  Tick lost_at() const noexcept { return lost_at_.load(std::memory_order_relaxed); }

  /// How many polls over shared memory take as long as one of this process, which over a network
  /// may be a system call. Turns are fewer by that.
  std::uint32_t poll_cost() const noexcept { return poll_cost_.load(std::memory_order_relaxed); }
  void set_poll_cost(std::uint32_t cost) noexcept {
    poll_cost_.store(cost, std::memory_order_relaxed);
    quick_limit_.store(quick / cost, std::memory_order_relaxed);
  }

  /// The longest sleep in which no bell rings, of a rank on whose polls others rely.
  std::uint64_t nap_ns() const noexcept { return nap_ns_; }
  /// The longest such sleep of any other rank.
  std::uint64_t long_nap_ns() const noexcept {
    return long_nap_ns_.load(std::memory_order_relaxed);
  }
  /// Where so many ranks share a core, each looks the less often: those that wait must not keep it
  /// from those for which they wait.
  void set_ranks_per_core(std::uint64_t ranks) noexcept {
    constexpr std::uint64_t few = 8;
    nap_ns_ = std::clamp(shortest_nap_ns * ranks / few, shortest_nap_ns, longest_nap_ns);
    long_nap_ns_.store(nap_ns_, std::memory_order_relaxed);
  }
  /// A sleep that was to end after `limit_ns` took so long. One of at least `nap_ns` that ends late
  /// shows that there is no core for all that wake, of other jobs, too: then each is to wake less
  /// often.
  void slept(std::uint64_t limit_ns, std::uint64_t slept_ns) noexcept {
    constexpr std::uint64_t inexact_ns = 2'000'000;
    const std::uint64_t nap = long_nap_ns();
    const bool is_late = limit_ns >= nap_ns_ && slept_ns > limit_ns + limit_ns / 4 + inexact_ns;
    const std::uint64_t next =
        is_late ? std::min(2 * nap, longest_nap_ns) : std::max(nap - nap / 16, nap_ns_);
    if (next != nap) long_nap_ns_.store(next, std::memory_order_relaxed);
  }

  /// A wait of the client's own in which a thread slept is over. `by_message`: one followed its
  /// last sleep.
  void client_wait_ended(bool by_message) noexcept {
    const std::uint32_t before = ended_by_messages_.load(std::memory_order_relaxed);
    const std::uint32_t now = by_message ? std::min(before + 1, enough_by_messages) : 0;
    if (now != before) ended_by_messages_.store(now, std::memory_order_relaxed);
  }
  /// Returns true if messages have ended the last ones of such waits.
  bool messages_end_client_waits() const noexcept {
    return ended_by_messages_.load(std::memory_order_relaxed) == enough_by_messages;
  }

  WaitMode mode() const noexcept { return mode_.load(std::memory_order_relaxed); }
  void set_mode(WaitMode mode) noexcept { mode_.store(mode, std::memory_order_relaxed); }

 private:
  static constexpr std::uint32_t enough_by_messages = 2;

  static std::uint32_t index(WaitKind kind) noexcept { return static_cast<std::uint32_t>(kind); }

  std::atomic<std::uint64_t> spin_ns_[wait_kinds] = {
      max_spin_ns, max_spin_ns, max_spin_ns, max_spin_ns, max_spin_ns, max_spin_ns, max_spin_ns};
  std::atomic<Tick> lost_at_{0};
  std::atomic<std::uint32_t> quick_limit_{quick};
  std::atomic<std::uint32_t> poll_cost_{1};
  std::uint64_t nap_ns_ = shortest_nap_ns;  ///< set at start-up
  std::atomic<std::uint64_t> long_nap_ns_{shortest_nap_ns};
  std::atomic<std::uint32_t> ended_by_messages_{0};
  std::atomic<WaitMode> mode_{WaitMode::automatic};
};

/// The actions of a wait outside of tests.
struct PatienceActions {
  static inline constinit WaitHistory the_history{};
  static WaitHistory& history() noexcept { return the_history; }
  static void pause() noexcept { spin_pause(); }
  /// It gives up what remains of the time slice, and so much of the thread's share: little of a
  /// short one.
  static void yield() noexcept {
    os::shorten_time_slice();
    os::yield();
  }
  /// It will look again for a while before it sleeps: those that are woken may take its place. With
  /// more ranks than cores it soon offers its core.
  static void spins() noexcept {
    if (!oversubscribed()) os::restore_time_slice();
  }
  /// Several times cheaper than `ticks_to_ns`: a wait reads the clock whenever it offers its core.
  static Tick now() noexcept { return ticks(); }
  static std::uint64_t to_ns(Tick interval) noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(interval) *
                                      ns_per_tick.load(std::memory_order_relaxed));
  }
  /// About as usual, until it is measured (core/waiting.cc).
  static inline constinit std::atomic<double> ns_per_tick{0.4};
};

/// Returns true if others have had the core lately.
template <class Actions>
bool contended(Tick now) noexcept {
  const Tick lost = Actions::history().lost_at();
  return lost != 0 && Actions::to_ns(now - lost) < WaitHistory::contended_ns;
}

/// The state of one wait, used by one thread.
template <class Actions>
class BasicPatience {
 public:
  constexpr explicit BasicPatience(WaitKind kind) noexcept : kind_(kind) {}
  BasicPatience(const BasicPatience&) = delete;
  BasicPatience& operator=(const BasicPatience&) = delete;

  /// Something has come, or the wait is over: the next turns are as the first ones.
  void progressed() noexcept {
    if (begun_ != 0) [[unlikely]]
      end();
    quick_turns_ = turns_ = 0;
  }

  /// One turn in which nothing has come. `may_sleep`: something would wake this thread. `here`:
  /// what is waited for may need this thread's core.
  Turn next(bool may_sleep, bool here) noexcept {
    if (is_quick(quick_turns_)) [[likely]] {
      ++quick_turns_;
      return Turn::again;
    }
    return next_slow(may_sleep, here);
  }
  /// The two parts of `next`, for a caller that counts the quick turns itself, in a register: what
  /// a loop stores waits behind the store that the other core waits for.
  static bool is_quick(std::uint32_t turns) noexcept {
    return !oversubscribed() && turns < Actions::history().quick_limit();
  }
  [[gnu::noinline]] Turn next_slow(bool may_sleep, bool here) noexcept;

  /// How long a wait may sleep for which a bell rings. Not for ever, so that a ring that is missing
  /// costs time and no hang; but a sleeper whose time is up is moved to the processor of its timer,
  /// where it may be woken ten times later than on the one where its waker runs. `long_nap_ns`: of
  /// a rank on whose polls no other relies.
  static std::uint64_t nap_ns() noexcept { return Actions::history().nap_ns(); }
  static std::uint64_t long_nap_ns() noexcept { return Actions::history().long_nap_ns(); }
  /// How long a wait may sleep that may be for something which rings no bell. Each nap costs some
  /// 20 us of the processor: for half of the time that the wait has taken only where it is probably
  /// for a message.
  std::uint64_t client_nap_ns() const noexcept {
    const std::uint64_t part = Actions::history().messages_end_client_waits() ? 2 : 32;
    return std::clamp<std::uint64_t>(lasted_ns() / part, 50'000, WaitHistory::shortest_nap_ns);
  }
  /// After it has slept for so long. Unless it is followed by progress it sleeps again in the next
  /// turn.
  void slept(std::uint64_t nanoseconds) noexcept {
    slept_ns_ += std::max<std::uint64_t>(nanoseconds, 1);
    turns_ -= turns_ % per_look;
  }

 private:
  /// They take some 200 us.
  static constexpr std::uint32_t pauses = 4096;
  /// The clock is read once in so many pauses.
  static constexpr std::uint32_t per_look = 64;
  static constexpr std::uint32_t between_yields = 256;
  /// With more ranks than cores: pauses before the first offer of the core, if what is waited for
  /// may need it; else a few microseconds, as others' turns on their cores take, or they have moved
  /// to this one.
  static constexpr std::uint32_t pauses_here = 2;
  static constexpr std::uint32_t pauses_elsewhere = 256;
  static constexpr std::uint32_t between_elsewhere = 32;

  std::uint64_t lasted_ns() const noexcept { return Actions::to_ns(Actions::now() - begun_); }

  std::uint64_t limit_ns(WaitMode mode, bool is_contended, bool crowded) const noexcept {
    if (is_contended && !crowded) return WaitHistory::contended_spin_ns;
    const std::uint64_t usual = Actions::history().spin_ns(kind_);
    return mode == WaitMode::spin_block || is_contended ? std::min(usual, WaitHistory::min_spin_ns)
                                                        : usual;
  }

  [[gnu::noinline]] void end() noexcept {
    // As of the last turn, without another look at the clock.
    const std::uint64_t lasted = Actions::to_ns(seen_ - begun_);
    Actions::history().ended(kind_, lasted - std::min(lasted, slept_before_ns_), slept_ns_);
    begun_ = seen_ = 0;
    slept_ns_ = slept_before_ns_ = 0;
  }

  const WaitKind kind_;
  std::uint32_t quick_turns_ = 0;
  std::uint32_t turns_ = 0;  ///< behind them
  Tick begun_ = 0;           ///< when the clock was first read; 0: it was not
  Tick seen_ = 0;            ///< and last
  std::uint64_t slept_ns_ = 0;
  std::uint64_t slept_before_ns_ = 0;  ///< of that, at the time `seen_`
};

template <class Actions>
Turn BasicPatience<Actions>::next_slow(bool may_sleep, bool here) noexcept {
  WaitHistory& history = Actions::history();
  const bool crowded = oversubscribed();
  const WaitMode mode = history.mode();
  const bool blocks = mode == WaitMode::block;
  const std::uint32_t turn = turns_++;
  const std::uint32_t first = blocks     ? 0
                              : !crowded ? pauses
                              : here     ? pauses_here
                                         : pauses_elsewhere;
  const std::uint32_t between = blocks || (crowded && here) ? 1
                                : crowded                   ? between_elsewhere
                                                            : between_yields;
  const bool offers = turn >= first && (turn - first) % between == 0;
  const bool sleeps = may_sleep && mode != WaitMode::spin;
  if (begun_ == 0) begun_ = seen_ = Actions::now();
  if (!offers && turn % (per_look / history.poll_cost()) != 0) {
    Actions::pause();
    return Turn::again;
  }
  // As of the last turn: what came while others had the core has been looked for since.
  const bool is_contended = contended<Actions>(seen_);
  if (sleeps && (blocks || Actions::to_ns(seen_ - begun_) >= limit_ns(mode, is_contended, crowded)))
    return Turn::sleep;
  if (turn == 0) Actions::spins();
  if (!is_contended) history.has_core();
  // Where other programs want the core a yield may lose a time slice, and a sleep does not. With
  // more ranks than cores those who had it may be ranks of this job, to which it is to be offered.
  const bool yields = offers && (crowded || (mode != WaitMode::spin && !(is_contended && sleeps)));
  if (yields)
    Actions::yield();
  else
    Actions::pause();
  const Tick now = Actions::now();
  if (Actions::to_ns(now - seen_) > WaitHistory::long_away_ns + slept_ns_ - slept_before_ns_)
    history.lost_core(now);
  seen_ = now;
  slept_before_ns_ = slept_ns_;
  return yields ? Turn::yielded : Turn::again;
}

using Patience = BasicPatience<PatienceActions>;

/// A client's own loop of polls, seen from its polls that find nothing. It may wait for something
/// that rings no bell, and may do other work between its polls: only where others want the core,
/// and a loop does nothing but poll, does it sleep, for a few tens of microseconds.
template <class Actions>
class BasicPollPatience {
 public:
  constexpr BasicPollPatience() = default;

  /// A poll has found something.
  void reset() noexcept { turns_ = 0; }

  /// One that has found nothing.
  Turn next(bool may_sleep) noexcept {
    if (++turns_ % per_look != 0) [[likely]]
      return Turn::again;
    return decide(may_sleep);
  }
  /// After a sleep.
  void slept() noexcept { seen_ = Actions::now(); }

 private:
  static constexpr std::uint32_t per_look = 64;
  /// About a microsecond of nothing but polls; some ten where there is a core for each rank, but
  /// perhaps not for each of its threads.
  static constexpr std::uint32_t between_crowded = 64;
  static constexpr std::uint32_t between_yields = 1024;
  /// A loop whose turns take longer does something else, too.
  static constexpr std::uint64_t poll_ns = 2'000;
  static constexpr std::uint64_t crowded_spin_ns = 50'000;

  [[gnu::noinline]] Turn decide(bool may_sleep) noexcept {
    WaitHistory& history = Actions::history();
    const WaitMode mode = history.mode();
    const Tick now = Actions::now();
    if (turns_ == per_look || Actions::to_ns(now - seen_) > per_look * poll_ns) begun_ = now;
    seen_ = now;
    const bool crowded = oversubscribed();
    const bool wanted = crowded || mode == WaitMode::block || mode == WaitMode::spin_block ||
                        contended<Actions>(now);
    if (may_sleep && wanted && mode != WaitMode::spin &&
        Actions::to_ns(now - begun_) >= crowded_spin_ns)
      return Turn::sleep;
    if (turns_ % (crowded ? between_crowded : between_yields) != 0) return Turn::again;
    if (mode == WaitMode::spin && !crowded) return Turn::again;
    Actions::yield();
    seen_ = Actions::now();
    if (Actions::to_ns(seen_ - now) > WaitHistory::long_away_ns) history.lost_core(seen_);
    return Turn::yielded;
  }

  std::uint32_t turns_ = 0;
  Tick begun_ = 0;  ///< since when it does nothing but poll
  Tick seen_ = 0;   ///< when the clock was read last
};

using PollPatience = BasicPollPatience<PatienceActions>;

}  // namespace gex
