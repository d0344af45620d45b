#pragma once
// The neighborhood: the processes that have mapped one another's memory.
//
// One sparse memory file per neighborhood, made by its lowest rank and mapped once, whole, by each
// member. It holds a control part (rings, slabs, barrier flags; offsets computed alike by all
// members) and then, at a constant stride, a part for each member's segments. Pages cost memory
// only once touched.
//
// Requirements: `form` is called once, by all ranks of the job together; segments are taken and
// given back by one thread at a time.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/os_memory.h"
#include "shm/cell.h"
#include "shm/placement.h"
#include "shm/posts.h"
#include "shm/range_allocator.h"
#include "shm/ring.h"

namespace gex::shm {

/// Neighborhoods up to this size have a ring for each pair of members, larger ones shared rings.
inline constexpr std::uint32_t max_pair_members = 16;

/// Slabs: buffers of payload larger than a slot, owned by the sender, read in place by the target.
struct SlabClass {
  std::uint32_t bytes;
  std::uint32_t count;
};
inline constexpr SlabClass request_slabs[2] = {{4096, 16}, {max_medium_payload, 8}};
inline constexpr SlabClass reply_slabs[2] = {{4096, 8}, {max_medium_payload, 4}};
inline constexpr std::uint32_t slab_count =
    request_slabs[0].count + request_slabs[1].count + reply_slabs[0].count + reply_slabs[1].count;

/// Teams of one neighborhood whose barriers run over shared flags, and whose collectives over
/// posts, at the same time; further ones use messages.
inline constexpr std::uint32_t barrier_slots = 32;

/// A team has two sequences of barriers, each numbered alike by all members.
enum class BarrierKind : std::uint32_t {
  calls,        ///< at which a member arrives in its calls
  completions,  ///< at which it arrives when a collective operation is done there
};
inline constexpr std::uint32_t barrier_kinds = 2;

/// What a member shows of a team's barriers.
struct alignas(cache_line) BarrierFlag {
  std::atomic<std::uint32_t> number;  ///< of the one at which it has arrived
  std::atomic<std::uint32_t> core;  ///< on which it ran then, where there are more ranks than cores
};
static_assert(sizeof(BarrierFlag) == cache_line);

using Control = RingControl<StdAtomics>;

/// A ring as it lies in the shared memory.
struct Ring {
  Control* control;
  Cell* cells;
  Slot* slots;
  RingShape shape;
};

enum Direction : unsigned { requests = 0, replies = 1 };

/// How the control part of a neighborhood is laid out, in bytes of address space; pages that are
/// never touched cost no memory.
struct ControlLayout {
  std::uint32_t rings;       ///< incoming ones of each member, requests and replies
  std::uint32_t ring_cells;  ///< of each ring
  std::uint64_t ring_bytes;  ///< of all rings of a member
  std::uint64_t slab_bytes;  ///< of all slabs of a member
  std::uint64_t post_bytes;  ///< of its boards of posts, for all slots
  std::uint64_t member_bytes;
  std::uint64_t control_bytes;  ///< of all members
};

class Neighborhood {
 public:
  /// Makes and maps the shared memory of the members that the placement gives this process. Ends
  /// the job in one line if that cannot be had.
  static Neighborhood form(const Placement& placement);

  /// The layout that a neighborhood of `members` has or would have, for gexinfo.
  static ControlLayout control_layout(std::uint32_t members) noexcept;

  std::uint32_t size() const noexcept { return size_; }
  /// The members' jobranks; a member's place among them is its local index.
  const boot::RankSet& members() const noexcept { return members_; }
  std::uint32_t local_index() const noexcept { return local_index_; }
  bool contains(std::uint32_t jobrank) const noexcept {
    return jobrank < local_indices_.size() && local_indices_[jobrank] != no_index;
  }
  /// Of a member.
  std::uint32_t local_index_of(std::uint32_t jobrank) const noexcept {
    return local_indices_[jobrank];
  }
  bool has_pair_rings() const noexcept { return size_ <= max_pair_members; }

  /// The ring by which `from` sends to another member `to` (local indices); with shared rings
  /// `from` is ignored.
  Ring ring(Direction direction, std::uint32_t from, std::uint32_t to) const noexcept;

  /// Shared rings: requests of `member` finished without a reply, added to by their targets.
  std::atomic<std::uint32_t>& unanswered_of(std::uint32_t member) const noexcept;

  /// Slab `index` of `owner`, and its state word: 1 while the payload is in use.
  std::byte* slab(std::uint32_t owner, std::uint32_t index) const noexcept;
  std::atomic<std::uint32_t>& slab_busy(std::uint32_t owner, std::uint32_t index) const noexcept;

  /// Flags of `member` in barrier slot `slot`, each alone in its cache line: its own, and the one
  /// it raises for a group that it leads. All flags of a slot that is not in use are 0.
  BarrierFlag& barrier_flag(std::uint32_t slot, BarrierKind kind,
                            std::uint32_t member) const noexcept {
    return barrier_line(2 * (slot * barrier_kinds + static_cast<std::uint32_t>(kind)), member);
  }
  BarrierFlag& group_flag(std::uint32_t slot, BarrierKind kind,
                          std::uint32_t member) const noexcept {
    return barrier_line(2 * (slot * barrier_kinds + static_cast<std::uint32_t>(kind)) + 1, member);
  }
  /// What `member` posts in the collectives of the team that has the barrier slot. All ready words
  /// and counts of a slot that is not in use are 0.
  PostBoard& post_board(std::uint32_t slot, std::uint32_t member) const noexcept;
  /// One bit for each barrier slot in use.
  std::atomic<std::uint32_t>& used_barrier_slots() const noexcept;

  /// Bytes each member's segment may take at most.
  std::uint64_t max_segment() const noexcept { return segment_stride_; }
  /// The least of that over the job: what every process can attach.
  std::uint64_t job_max_segment() const noexcept { return job_max_segment_; }
  /// What set the limit of the members, for gexinfo: GASNET_MAX_SEGSIZE, or what allowed less.
  const std::string& segment_reason() const noexcept { return segment_reason_; }
  /// Where the part that holds a member's segments starts; it has `max_segment()` bytes.
  std::byte* segments_of(std::uint32_t member) const noexcept {
    return base_ + control_bytes_ + member * segment_stride_;
  }

  /// Room for a segment in this process's own part, or null if there is none.
  std::byte* take_segment(std::uint64_t bytes);
  /// Gives it back, and its memory to the system. `untouched`: nobody has written to it. Memory
  /// that the system does not take is cleared otherwise, which where there is too little ends in a
  /// signal.
  void give_segment_back(std::byte* segment, bool untouched);
  /// A second descriptor of the file in which all this lies, segments from `control_bytes()` on;
  /// empty with errno on failure.
  os::FileDescriptor duplicate_file() const noexcept { return file_.duplicate(); }
  /// Bytes of file backing that a segment of this process takes are allocated now. 0 or an error.
  int commit_segment(const std::byte* segment, std::uint64_t bytes) const noexcept;

  std::uint64_t control_bytes() const noexcept { return control_bytes_; }
  std::uint64_t bytes_per_member() const noexcept { return member_bytes_; }
  /// Bytes the file system behind the memory holds, as far as this process knows.
  std::uint64_t memory_space() const noexcept { return space_; }
  const std::string& memory_origin() const noexcept { return origin_; }
  const std::string& size_reason() const noexcept { return size_reason_; }

 private:
  static constexpr std::uint32_t no_index = ~std::uint32_t{0};

  void lay_out() noexcept;
  BarrierFlag& barrier_line(std::uint32_t line, std::uint32_t member) const noexcept;

  std::uint32_t size_ = 1;
  std::uint32_t local_index_ = 0;
  boot::RankSet members_;
  std::vector<std::uint32_t> local_indices_;  ///< by jobrank; `no_index` for those outside
  std::byte* base_ = nullptr;
  std::uint64_t control_bytes_ = 0;
  std::uint64_t member_bytes_ = 0;
  std::uint64_t rings_offset_ = 0;
  std::uint64_t ring_stride_ = 0;
  std::uint64_t slab_offset_ = 0;
  std::uint64_t slab_state_offset_ = 0;
  std::uint64_t barrier_offset_ = 0;
  std::uint64_t unanswered_offset_ = 0;
  std::uint64_t posts_offset_ = 0;
  std::uint64_t segment_stride_ = 0;
  std::uint64_t job_max_segment_ = 0;
  std::uint64_t space_ = UINT64_MAX;
  RangeAllocator own_segments_;
  os::FileDescriptor file_;
  std::string origin_;
  std::string size_reason_;
  std::string segment_reason_;
};

}  // namespace gex::shm
