#pragma once
// Links: the rings between this process and each member of its neighborhood, in lanes.
//
// A lane is a set of rings and slabs that the threads of a process do not share as long as there
// are lanes: a thread sends its requests in its own lane, and their replies come back in it. Polls
// begin with the rings of the thread's own lane (poll.cc). All processes have lane 0 from the
// start. A further lane is opened towards a member when a thread first sends a request in it, by an
// internal message in lane 0 that asks the member to poll it (to_neighbor.cc); one that no thread
// uses is neither mapped nor polled. Neighborhoods with shared rings have lane 0 only.
//
// What a message to a neighbor passes, in order (the whole way of one: api/am_express.cc):
//
//   Links::to, own_by_jobrank   here              its Link, in the thread's lane: for its Route
//   Link, Outgoing              rings.h           the ring by which it goes
//   express_short, _medium      express.h         a cell of that, if there is room now; or
//   send_request_to_neighbor    to_neighbor.cc    waits for room (try_send), and before the first
//                                                 request in a lane opens it (open_link)
//   - claim_cell, publish_cell  cells.h           a cell; what lies where in it: cell_layout.h
//   - Slabs::acquire            slabs.h           where a payload goes that fits in none
//   Incoming                    rings.h           the ring at the peer, which its polls look at
//                                                 (poll_rings, poll.cc; serve_ring, serve.cc)
//   deliver_from_ring           receive.cc        takes it out, and runs its handler (deliver.h)

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "am/message.h"
#include "am/polled_lanes.h"
#include "am/rings.h"
#include "am/slabs.h"
#include "am/token.h"
#include "base/immortal.h"
#include "base/zeroed_table.h"
#include "core/process.h"
#include "core/progress.h"
#include "core/slots.h"
#include "core/thread.h"
#include "shm/neighborhood.h"

namespace gex::am {

/// The rings of one lane. Those of lane 0 are all polled from the start.
struct RingLane {
  std::unique_ptr<Link[]> links;  ///< by local index; there is none to this process
  std::unique_ptr<Incoming[]> incoming;
  ZeroedTable<Link*> by_jobrank;  ///< null: not in the neighborhood, or this process
  Slabs slabs;
  /// Changes under the mutex of Links.
  PolledRings<shm::StdAtomics, Incoming, 2 * shm::max_pair_members> polled;
  /// These words of the rings, which polls read, are in lines of the lane's own.
  alignas(cache_line) gex_Inbox_ inboxes[2 * shm::max_pair_members] = {};
  /// Polls of the threads that own the lane: shows whether there is such a thread and it polls.
  alignas(cache_line) std::atomic<std::uint32_t> own_polls{0};
};

/// A thread's state of the lanes, in a slot of its record.
struct ThreadLanes {
  RingLane* own = nullptr;
  std::uint32_t number = 0;  ///< of its lane
  std::uint32_t polls = 0;
  std::uint64_t surveyed = 0;               ///< tick of its last survey (poll.cc)
  std::uint32_t polled = ~0U;               ///< a bit for each lane that it polls beside its own
  std::uint32_t seen[shm::max_lanes] = {};  ///< `own_polls` of each lane at its last survey
};

using LanesSlot = Slot<ThreadRecord, ThreadSlot::lanes, ThreadLanes>;
/// The links of the thread's lane by jobrank, where rings belong to pairs; null before the thread
/// sends or polls.
using LinksSlot = Slot<ThreadRecord, ThreadSlot::links, Link* const>;

/// The number of the calling thread for biased locks. A thread that takes its record over takes
/// over the locks whose home it is.
inline std::uint32_t thread_number() noexcept {
  return this_thread().number;
}

class Links {
 public:
  /// Start-up only, after the neighborhood is formed.
  void set_up();
  /// By a thread that is about to sleep until a message comes: sets the marks of all rings that are
  /// polled.
  void set_marks() noexcept;

  /// The link of the calling thread's lane to another process, or null if that is not in the
  /// neighborhood. There is none to this process (to_self.h).
  Link* to(gex_Rank_t jobrank) noexcept {
    Link* const* const own = own_by_jobrank();
    return own != nullptr ? own[jobrank] : to_otherwise(jobrank);
  }
  /// The links of the calling thread's lane by jobrank: one read of the table answers `to`. Null
  /// where rings are shared, and before the thread has sent or polled.
  static Link* const* own_by_jobrank() noexcept {
    const ThreadRecord* const record = current_thread_record;
    if (record == nullptr) [[unlikely]]
      return nullptr;
    return LinksSlot::of(*record);
  }

  bool pairs() const noexcept { return pairs_; }
  bool threaded() const noexcept { return threaded_; }

  /// The calling thread's lane; assigns one if it has none.
  ThreadLanes& own_lane() noexcept {
    ThreadRecord& thread = this_thread();
    if (LanesSlot::of(thread) == nullptr) [[unlikely]]
      enter(thread);
    return *LanesSlot::of(thread);
  }
  RingLane& first() noexcept { return first_; }
  /// Gives the calling thread, which is the progress thread, lane 0. It does not count as one for
  /// which others leave that lane.
  void enter_progress_thread() noexcept;
  /// Moves the calling thread from lane 0 to a lane of its own, if there is one and there are
  /// other threads. Not between Prepare and Commit.
  void leave_first_lane(ThreadRecord& thread, ThreadLanes& mine) noexcept;
  /// A bit for each lane that has rings to be polled.
  std::uint32_t polled_lanes() const noexcept { return lanes_.bits(); }
  /// A lane that has its bit in `polled_lanes`.
  RingLane& lane(std::uint32_t number) noexcept { return lanes_[number]; }

  /// Polls the replies that will come in the lane of `link`, before its first request.
  void expect_replies(Link& link) noexcept;
  /// A member sends requests in a lane from now on. Ends the job in one line if the lane cannot be
  /// mapped.
  void expect_requests(std::uint32_t lane, gex_Rank_t source) noexcept;

 private:
  Link* to_otherwise(gex_Rank_t jobrank) noexcept;
  [[gnu::cold]] void enter(ThreadRecord& thread) noexcept;
  bool take_lane(ThreadRecord& thread, ThreadLanes& mine, std::uint32_t number) noexcept;
  RingLane* find_lane(std::uint32_t number) noexcept;
  void set_up_lane(RingLane& lane, std::uint32_t number);
  void connect(RingLane& lane, std::uint32_t number, shm::Direction direction,
               std::uint32_t member);
  void set_up_incoming(Incoming& in, const shm::Ring& ring) noexcept;
  void poll_further(RingLane& lane, std::uint32_t number, Incoming& in) noexcept;
  Incoming& incoming(RingLane& lane, shm::Direction direction, std::uint32_t member) noexcept;

  bool pairs_ = false;
  bool threaded_ = false;
  std::uint32_t count_ = 0;                ///< members
  std::atomic<std::uint32_t> entered_{0};  ///< threads that have got a lane
  RingLane first_;
  PolledLanes<shm::StdAtomics, RingLane, shm::max_lanes> lanes_;  ///< those that are mapped here
  std::mutex mutex_;  ///< of lanes that are set up or polled from now on
};

extern Immortal<Links> the_links;
inline Links& links() noexcept {
  return the_links.get();
}

}  // namespace gex::am
