#pragma once
// The neighborhood: the processes that have mapped one another's memory.
//
// One sparse memory file per neighborhood, made by its lowest rank. It holds a control part (rings,
// slabs, further lanes, what teams share; offsets computed alike by all members) and then, at a
// constant stride, a part for each member's segments. Pages cost memory only once touched.
//
// Rings and slabs exist once for each lane: a lane is what the messages of one thread of each
// process use, so that threads of a process do not wait for each other. All processes use lane 0.
//
// A process maps what it uses and nothing else, because a tool that reads all of its memory
// (valgrind's search for leaks, a core dump) touches every page that is mapped: rings and slabs of
// lane 0 from the start, the rings and slabs of another lane once a thread of this process or of
// another member uses it, what teams share as they come (shm/team_slots.h), its own segments while
// it has them, and those of other members while they are published to it. A core dump has the
// process's own segments, which no other process's has, and the memory that holds messages to it.
//
// Requirements: `form` is called once, by all ranks of the job together; segments are taken, given
// back and looked up by one thread at a time, and so are those of other members and lanes mapped
// and unmapped.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/os_file.h"
#include "base/os_mapping.h"
#include "base/os_memory.h"
#include "base/zeroed_table.h"
#include "shm/cell.h"
#include "shm/doorbell.h"
#include "shm/job_tables.h"
#include "shm/placement.h"
#include "shm/range_allocator.h"
#include "shm/ring.h"
#include "shm/team_slots.h"

namespace gex::shm {

/// Neighborhoods up to this size have a ring for each pair of members, larger ones shared rings.
inline constexpr std::uint32_t max_pair_members = 16;

/// Slabs: buffers of payload larger than a slot, owned by the sender, read in place by the target.
struct SlabClass {
  std::uint32_t bytes;
  std::uint32_t count;
};
inline constexpr std::uint32_t max_slab_bytes = 64 * 1024;
inline constexpr SlabClass request_slabs[2] = {{4096, 16}, {max_slab_bytes, 8}};
inline constexpr SlabClass reply_slabs[2] = {{4096, 8}, {max_slab_bytes, 4}};
inline constexpr std::uint32_t slab_count =
    request_slabs[0].count + request_slabs[1].count + reply_slabs[0].count + reply_slabs[1].count;

/// Maximum lanes of a neighborhood with pair rings; with shared rings there is one.
inline constexpr std::uint32_t max_lanes = 16;

using Control = RingControl<StdAtomics>;

/// A ring as it lies in the shared memory.
struct Ring {
  Control* control;
  Cell* cells;  ///< behind the ring's SleepMark
  Slot* slots;
  RingShape shape;
};
/// The mark of the ring that has these cells, which a sender finds by what it needs anyway.
inline SleepMark& mark_of(Cell* cells) noexcept {
  return reinterpret_cast<SleepMark*>(cells)[-1];
}

enum Direction : unsigned { requests = 0, replies = 1 };

/// How the control part of a neighborhood is laid out, in bytes of address space; pages that are
/// never touched cost no memory.
struct ControlLayout {
  std::uint32_t rings;          ///< incoming ones of each member, requests and replies
  std::uint32_t ring_cells;     ///< of each ring
  std::uint64_t ring_bytes;     ///< of all rings of a member
  std::uint64_t slab_bytes;     ///< of all slabs of a member
  std::uint64_t member_bytes;   ///< sum of these
  std::uint32_t lanes;          ///< including the first, to which these belong
  std::uint64_t lane_bytes;     ///< of a member in each further lane: rings and slabs
  std::uint64_t team_bytes;     ///< of a member for each of its teams: flags and board of posts
  std::uint64_t shared_bytes;   ///< of all members, for any number of teams
  std::uint64_t control_bytes;  ///< these with the slots of teams: where segments begin
};

/// How much of what depends on the job's limits there is, alike in all its neighborhoods.
struct ControlCounts {
  std::uint32_t lanes;
  std::uint32_t team_slots;
  std::uint32_t ranks;  ///< of the job
};

class Neighborhood {
 public:
  /// Makes and maps the shared memory of the members that the placement gives this process. Ends
  /// the job in one line if that fails. `counts`: alike in all ranks of the job.
  static Neighborhood form(const Placement& placement, ControlCounts counts);

  /// The layout that a neighborhood of `members` has, or would have, in a job with these.
  static ControlLayout control_layout(std::uint32_t members, ControlCounts counts) noexcept;

  std::uint32_t size() const noexcept { return size_; }
  /// The members' jobranks; a member's place among them is its local index.
  const job::RankSet& members() const noexcept { return members_; }
  std::uint32_t local_index() const noexcept { return local_index_; }
  bool contains(std::uint32_t jobrank) const noexcept {
    return jobrank < member_numbers_.size() && member_numbers_[jobrank] != 0;
  }
  /// Requires a member.
  std::uint32_t local_index_of(std::uint32_t jobrank) const noexcept {
    return member_numbers_[jobrank] - 1;
  }
  bool has_pair_rings() const noexcept { return size_ <= max_pair_members; }

  /// How many lanes there are.
  std::uint32_t lanes() const noexcept { return has_pair_rings() ? counts_.lanes : 1; }
  /// `lanes`: of those neighborhoods of the job that have pair rings.
  ControlCounts job_counts() const noexcept { return counts_; }
  /// Maps the rings and slabs of a lane, if they are not yet; false with errno on failure. Lane 0
  /// is mapped from the start.
  bool map_lane(std::uint32_t lane) noexcept;

  /// The ring of a mapped lane by which `from` sends to another member `to` (local indices); with
  /// shared rings `from` is ignored.
  Ring ring(std::uint32_t lane, Direction direction, std::uint32_t from,
            std::uint32_t to) const noexcept;

  /// Shared rings: requests of `member` finished without a reply, added to by their targets.
  std::atomic<std::uint32_t>& unanswered_of(std::uint32_t member) const noexcept;

  /// The id of a member's process, as that sees it; 0 while it is still starting. Relaxed.
  int process_of(std::uint32_t member) const noexcept;

  /// The bell of a member's progress thread.
  Doorbell& doorbell(std::uint32_t member) const noexcept;
  /// The bell of a member's threads that wait in a call (core/waiting.h).
  Doorbell& waiters_bell(std::uint32_t member) const noexcept;
  Doorbell& own_waiters_bell() const noexcept { return waiters_bell(local_index_); }
  /// How many of those sleep, of all members.
  SleeperCount& sleepers() const noexcept;

  /// Slab `index` of `owner` in a mapped lane, and its state word: 1 while the payload is in use.
  std::byte* slab(std::uint32_t lane, std::uint32_t owner, std::uint32_t index) const noexcept;
  std::atomic<std::uint32_t>& slab_busy(std::uint32_t lane, std::uint32_t owner,
                                        std::uint32_t index) const noexcept;

  TeamSlots& team_slots() const noexcept { return *team_slots_; }
  /// Null: all ranks of the job are members.
  const JobTables* job_tables() const noexcept { return job_tables_.get(); }
  /// Counts how often the first member has filled the table of segments there.
  std::atomic<std::uint32_t>& job_table_fills() const noexcept { return facts_of(0).table_fills; }
  /// How many of its own a member may use: few where their memory is in a file system that holds
  /// little. Relaxed.
  std::uint32_t usable_team_slots() const noexcept;

  /// Maximum bytes of each member's segment.
  std::uint64_t max_segment() const noexcept { return segment_stride_; }
  /// The minimum of that over the job: what every process can attach.
  std::uint64_t job_max_segment() const noexcept { return job_max_segment_; }
  /// Sum of the limits of the host's processes, where they are shares of its memory that was free
  /// at start-up; otherwise 0.
  std::uint64_t granted_on_host() const noexcept { return granted_on_host_; }
  /// Returns true if this process has no segment in its part.
  bool has_no_segment() const noexcept { return own_part_.is_empty(); }
  /// Names what set the limit of the members, for gexinfo: GASNET_MAX_SEGSIZE, or what allowed
  /// less.
  const std::string& segment_reason() const noexcept { return segment_reason_; }

  /// Room for a segment in this process's own part of `max_segment()` bytes, or null if there is
  /// none or it cannot be mapped.
  std::byte* take_segment(std::uint64_t bytes);
  /// Gives it back, and its memory to the system. `untouched`: it has not been written to.
  /// Otherwise memory that the system does not take is cleared, which ends in a signal where there
  /// is too little.
  void give_segment_back(std::byte* segment, bool untouched);
  /// Offset of an address in the own part, if it is in one of this process's segments.
  std::optional<std::uint64_t> segment_offset(const void* address) const noexcept;
  /// Allocates the file's memory of a segment of this process now; `offset`: as of
  /// `segment_offset`. 0 or an error. Any thread.
  int commit_segment(std::uint64_t offset, std::uint64_t bytes) const noexcept;

  /// Maps `bytes` bytes of another member's part, from `offset` on; null with errno on failure.
  /// A range that is mapped already keeps its address. Each call needs one of `unmap_segment`.
  std::byte* map_segment(std::uint32_t member, std::uint64_t offset, std::uint64_t bytes);
  void unmap_segment(const std::byte* segment);
  /// Where bytes of another member's part are mapped by `map_segment`, or null. Not while
  /// another thread maps or unmaps.
  std::byte* find_mapped(std::uint32_t member, std::uint64_t offset,
                         std::uint64_t bytes) const noexcept;

  /// A second descriptor of the file in which all this lies; empty with errno on failure.
  os::FileDescriptor duplicate_file() const noexcept { return file_.duplicate(); }
  /// Where the part of the file with a member's segments begins.
  std::uint64_t file_offset_of(std::uint32_t member) const noexcept {
    return control_bytes_ + member * segment_stride_;
  }

  std::uint64_t control_bytes() const noexcept { return control_bytes_; }
  /// Bytes that the file system of the memory can hold; UINT64_MAX: not determined here.
  std::uint64_t memory_space() const noexcept { return space_; }
  const std::string& memory_origin() const noexcept { return origin_; }
  const std::string& size_reason() const noexcept { return size_reason_; }

 private:
  /// A segment of another member.
  struct PeerSegment {
    os::Mapping mapping;
    std::uint32_t uses = 0;
  };
  using PeerRange = std::array<std::uint64_t, 2>;  ///< where in the file, and bytes

  // The steps of `form`, in their order.
  /// Numbers the processes that share memory with this one.
  void number_members(const Placement& placement);
  void lay_out() noexcept;
  /// Sets the size of a segment's part, on which all members agree. Collective over the job.
  void agree_on_segments(const Placement& placement);
  /// The first member creates the file and sends it to the others. Collective over the members.
  void share_file();
  os::MemoryFile create_file();
  /// The job's tables in that file; null: all ranks are members, and need none.
  std::unique_ptr<JobTables> tables_in(int descriptor) const;
  void map_control();
  /// The part of a mapped lane that belongs to a member: rings, slabs, and the slabs' states.
  std::byte* lane_part(std::uint32_t lane, std::uint32_t member) const noexcept;
  /// The state that a member shows.
  struct MemberFacts {
    /// 1: only the host's memory limits the file; member 0's counts.
    std::atomic<std::uint32_t> many_team_slots;
    std::atomic<std::int32_t> process;
    std::atomic<std::uint32_t> table_fills;  ///< member 0's counts
  };
  MemberFacts& facts_of(std::uint32_t member) const noexcept;
  /// The lines of a member in which it shows something, one for each kind.
  enum FactsLine : std::uint32_t { unanswered, facts, progress_bell, waiting_bell, count };
  std::byte* facts_line(std::uint32_t member, FactsLine line) const noexcept {
    return base_ + facts_offset_ + (std::uint64_t{member} * FactsLine::count + line) * cache_line;
  }

  std::uint32_t size_ = 1;
  std::uint32_t local_index_ = 0;
  job::RankSet members_;
  ZeroedTable<std::uint32_t> member_numbers_;  ///< by jobrank: local index plus 1; 0: outside
  std::byte* base_ = nullptr;
  ControlCounts counts_{1, min_team_slots, 0};
  std::array<std::byte*, max_lanes> further_lanes_{};  ///< by lane, from 1; null: not mapped
  std::uint64_t control_bytes_ = 0;
  std::uint64_t rings_offset_ = 0;
  std::uint64_t ring_stride_ = 0;
  std::uint64_t slab_offset_ = 0;
  std::uint64_t slab_state_offset_ = 0;
  /// Offset of what members look at of one another, side by side, so that few page tables map it.
  std::uint64_t facts_offset_ = 0;
  std::uint64_t lanes_offset_ = 0;       ///< of lane 1; behind all that is lane 0's
  std::uint64_t job_tables_offset_ = 0;  ///< behind all lanes
  std::uint64_t teams_offset_ = 0;       ///< behind those
  std::uint64_t lane_part_bytes_ = 0;
  std::uint64_t segment_stride_ = 0;
  std::uint64_t job_max_segment_ = 0;
  std::uint64_t granted_on_host_ = 0;
  std::uint64_t space_ = UINT64_MAX;
  RangeAllocator own_part_;
  std::map<std::uint64_t, os::Mapping> own_segments_;  ///< by where they begin in the own part
  std::map<PeerRange, PeerSegment> peer_segments_;
  os::FileDescriptor file_;
  std::unique_ptr<TeamSlots> team_slots_;
  std::unique_ptr<JobTables> job_tables_;
  std::string origin_;
  std::string size_reason_;
  std::string segment_reason_;
};

}  // namespace gex::shm
