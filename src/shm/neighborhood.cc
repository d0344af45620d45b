#include "shm/neighborhood.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/env.h"
#include "base/error.h"
#include "base/os_memory.h"
#include "base/os_memory_limits.h"
#include "base/round_up.h"
#include "job/job.h"

namespace gex::shm {

namespace {

using os::huge_page;

constexpr std::uint64_t ring_bytes(RingShape shape) {
  return sizeof(Control) + sizeof(SleepMark) + shape.cells * (sizeof(Cell) + sizeof(Slot));
}

constexpr std::uint64_t slab_bytes() {
  std::uint64_t bytes = 0;
  for (const SlabClass& slabs : request_slabs) bytes += std::uint64_t{slabs.bytes} * slabs.count;
  for (const SlabClass& slabs : reply_slabs) bytes += std::uint64_t{slabs.bytes} * slabs.count;
  return bytes;
}

// Where slab `index` of an owner starts: the classes lie one after the other.
constexpr std::uint64_t slab_start(std::uint32_t index) {
  std::uint64_t offset = 0;
  for (const auto& classes : {request_slabs, reply_slabs}) {
    for (unsigned c = 0; c < 2; ++c) {
      if (index < classes[c].count) return offset + std::uint64_t{index} * classes[c].bytes;
      index -= classes[c].count;
      offset += std::uint64_t{classes[c].bytes} * classes[c].count;
    }
  }
  return offset;
}

[[noreturn]] void fatal_unmapped(std::uint64_t bytes, std::uint32_t members) {
  const int error = errno;
  fatal("cannot map %s of shared memory for %s: %s", os::format_bytes(bytes).c_str(),
        os::format_processes(members).c_str(), std::strerror(error));
}

struct SegmentLimit {
  std::uint64_t bytes;
  std::uint64_t available;  ///< memory of the host that is free, if it is shared out; or UINT64_MAX
  std::string reason;
};

/// A process shows these about its limit to the others of its host.
struct AnnouncedLimit {
  std::uint64_t bytes;
  std::uint64_t available;
};

/// Clients rely on gasnet_getMaxLocalSegmentSize(): where a limit is a share of the host, it is no
/// larger than a share of what is free there. All ranks of a host use one figure, though each of
/// them has read another: `limits` has those of all of them.
void limit_to_available(std::span<AnnouncedLimit> limits) {
  std::uint64_t available = UINT64_MAX;
  for (const AnnouncedLimit& limit : limits) available = std::min(available, limit.available);
  const std::uint64_t page = os::page_size();
  const std::uint64_t share = std::max(available / limits.size() / page * page, page);
  for (AnnouncedLimit& limit : limits)
    if (limit.available != UINT64_MAX) limit.bytes = std::min(limit.bytes, share);
}

/// Sum of the limits of a host's ranks, if each is a share of the host; or 0.
std::uint64_t sum_of_shares(std::span<const AnnouncedLimit> limits) {
  std::uint64_t sum = 0;
  for (const AnnouncedLimit& limit : limits) {
    if (limit.available == UINT64_MAX) return 0;
    sum += limit.bytes;
  }
  return sum;
}

/// Largest segment of a process: the value of the variable, within what the limits of this process
/// let it map.
SegmentLimit segment_limit(std::uint32_t host_ranks, std::uint64_t control, std::uint32_t members) {
  const os::MemoryLimits limits = os::memory_limits();
  const env::Memory wanted = env::memory(env::Variable::max_segsize);
  std::uint64_t bytes = wanted.bytes_per_process(limits.usable_physical(), host_ranks);
  bytes = bytes / os::page_size() * os::page_size();
  if (bytes == 0)
    fatal(
        "GASNET_MAX_SEGSIZE leaves less than one page for each process of this host, which has %s",
        os::format_processes(host_ranks).c_str());
  std::string reason = "GASNET_MAX_SEGSIZE";
  const auto shrink_to = [&](std::optional<std::uint64_t> limit, std::uint64_t spare,
                             const char* name) {
    if (!limit) return;
    const std::uint64_t room = *limit > control + spare ? *limit - control - spare : 0;
    const std::uint64_t each = room / members / os::page_size() * os::page_size();
    if (each == 0)
      fatal("%s (%s) is too small for the shared memory of %s", name,
            os::format_bytes(*limit).c_str(), os::format_processes(members).c_str());
    if (each >= bytes) return;
    bytes = each;
    reason = name;
  };
  shrink_to(limits.file_size, 0, "the file size limit (ulimit -f)");
  shrink_to(INT64_MAX, 0, "the largest size of a file");
  // Half of the address space limit stays for the program itself.
  if (limits.address_space)
    shrink_to(*limits.address_space / 2, 0, "half of the address space limit (ulimit -v)");
  return {bytes, wanted.per_host ? limits.available : UINT64_MAX, std::move(reason)};
}

}  // namespace

void Neighborhood::lay_out() noexcept {
  const RingShape shape = has_pair_rings() ? pair_shape : shared_shape;
  ring_stride_ = round_up(ring_bytes(shape), 4096);
  const std::uint64_t rings_each = 2 * (has_pair_rings() ? size_ - 1 : 1);

  rings_offset_ = 0;
  slab_offset_ = rings_offset_ + ring_stride_ * rings_each;
  slab_state_offset_ = slab_offset_ + slab_bytes();
  lane_part_bytes_ =
      round_up(slab_state_offset_ + round_up_to_line(slab_count * sizeof(std::uint32_t)), 4096);
  facts_offset_ = lane_part_bytes_ * size_;
  // Behind the members' lines is that of all.
  lanes_offset_ =
      facts_offset_ + round_up((std::uint64_t{size_} * FactsLine::count + 1) * cache_line, 4096);
  job_tables_offset_ = lanes_offset_ + lane_part_bytes_ * size_ * (lanes() - 1);
  teams_offset_ =
      job_tables_offset_ + (size_ < counts_.ranks ? JobTables::bytes(counts_.ranks) : 0);
  control_bytes_ = round_up(teams_offset_ + TeamSlots::bytes(size_, counts_.team_slots), huge_page);
}

ControlLayout Neighborhood::control_layout(std::uint32_t members, ControlCounts counts) noexcept {
  Neighborhood planned;
  planned.size_ = members;
  planned.counts_ = counts;
  planned.lay_out();
  const bool pair = planned.has_pair_rings();
  return {2 * (pair ? members - 1 : 1),
          pair ? pair_shape.cells : shared_shape.cells,
          planned.slab_offset_ - planned.rings_offset_,
          slab_bytes(),
          planned.lane_part_bytes_,
          planned.lanes(),
          planned.lane_part_bytes_,
          TeamSlots::slot_bytes(),
          planned.teams_offset_,
          planned.control_bytes_};
}

Neighborhood Neighborhood::form(const Placement& placement, ControlCounts counts) {
  Neighborhood neighborhood;
  neighborhood.counts_ = counts;
  neighborhood.number_members(placement);
  neighborhood.lay_out();
  neighborhood.agree_on_segments(placement);
  neighborhood.share_file();
  neighborhood.map_control();
  neighborhood.team_slots_ = std::make_unique<TeamSlots>(
      neighborhood.file_.get(), neighborhood.teams_offset_, neighborhood.size_, counts.team_slots);
  // Relaxed: exchanges follow before any member makes a team of its own.
  if (neighborhood.local_index_ == 0 && neighborhood.space_ == UINT64_MAX)
    neighborhood.facts_of(0).many_team_slots.store(1, std::memory_order_relaxed);
  neighborhood.facts_of(neighborhood.local_index_)
      .process.store(::getpid(), std::memory_order_relaxed);
  neighborhood.own_part_ = RangeAllocator(neighborhood.segment_stride_);
  return neighborhood;
}

void Neighborhood::number_members(const Placement& placement) {
  const job::Job& job = job::Job::current();
  const job::RankSet host = placement.host_of(job.rank());
  members_ = placement.neighborhood_of(job.rank());
  size_ = members_.size();
  member_numbers_ = ZeroedTable<std::uint32_t>(job.size());
  for (std::uint32_t number = 0; const std::uint32_t rank : members_)
    member_numbers_[rank] = ++number;
  local_index_ = local_index_of(job.rank());
  size_reason_ = placement.neighborhood_of(host.front()).size() < host.size()
                     ? "GASNET_SUPERNODE_MAXSIZE=" + env::text(env::Variable::supernode_maxsize)
                     : "all processes of the host";
}

void Neighborhood::agree_on_segments(const Placement& placement) {
  job::Job& job = job::Job::current();
  const job::RankSet host = placement.host_of(job.rank());
  // Members must agree on the stride, whatever limits each of them was started with.
  SegmentLimit mine = segment_limit(host.size(), control_bytes_, size_);
  const AnnouncedLimit announced{mine.bytes, mine.available};
  const job::Exchanged exchanged = job.exchange_on_host(std::as_bytes(std::span(&announced, 1)));
  const auto given = exchanged.values<AnnouncedLimit>();
  std::vector<AnnouncedLimit> limits(given.begin(), given.end());
  limit_to_available(limits);
  const auto limit_of = [&](std::uint32_t rank) { return limits[host.index_of(rank)].bytes; };
  if (limit_of(job.rank()) < mine.bytes) {
    mine.bytes = limit_of(job.rank());
    mine.reason = "the memory that is free on this host";
  }
  granted_on_host_ = sum_of_shares(limits);
  const std::uint32_t strictest = *std::min_element(
      members_.begin(), members_.end(),
      [&](std::uint32_t a, std::uint32_t b) { return limit_of(a) < limit_of(b); });
  const std::uint64_t agreed = limit_of(strictest);
  segment_reason_ = agreed == mine.bytes ? std::move(mine.reason)
                                         : "the limits of rank " + std::to_string(strictest);
  // A stride of whole huge pages lets segments have them; the limit itself stays exact.
  const auto stride_for = [](std::uint64_t bytes) {
    return bytes >= huge_page ? bytes / huge_page * huge_page : bytes;
  };
  segment_stride_ = stride_for(agreed);
  std::uint64_t least = mine.bytes;
  job.least({&least, 1});
  job_max_segment_ = stride_for(least);
}

std::unique_ptr<JobTables> Neighborhood::tables_in(int descriptor) const {
  const std::uint32_t ranks = job::Job::current().size();
  if (size_ == ranks) return nullptr;
  return std::make_unique<JobTables>(descriptor, job_tables_offset_, ranks);
}

os::MemoryFile Neighborhood::create_file() {
  const std::uint64_t bytes = control_bytes_ + segment_stride_ * size_;
  os::MemoryFile file = os::create_memory_file("gex-neighborhood", bytes);
  if (!file.descriptor)
    fatal("cannot create %s of shared memory: %s", os::format_bytes(bytes).c_str(),
          file.why.c_str());
  space_ = file.space;
  const std::uint64_t wanted = teams_offset_ + segment_stride_ * size_;
  if (file.space < wanted)
    warn("shared memory is in %s, which holds %s of %s: segments beyond it are refused",
         file.origin.c_str(), os::format_bytes(file.space).c_str(),
         os::format_bytes(wanted).c_str());
  const auto tables = tables_in(file.descriptor.get());
  const int error = tables != nullptr ? tables->fill_constant() : 0;
  if (error != 0) {
    const std::uint32_t ranks = job::Job::current().size();
    fatal("cannot use %s of shared memory in %s for tables of %u ranks: %s",
          os::format_bytes(JobTables::bytes(ranks)).c_str(), file.origin.c_str(), ranks,
          std::strerror(error));
  }
  return file;
}

void Neighborhood::share_file() {
  os::MemoryFile file;
  if (local_index_ == 0) file = create_file();
  file_.reset(job::Job::current().share_descriptor(file.descriptor ? file.descriptor.release() : -1,
                                                   members_));
  origin_ = local_index_ == 0 ? file.origin : "shared by rank " + std::to_string(members_.front());
  job_tables_ = tables_in(file_.get());
}

void Neighborhood::map_control() {
  os::Mapping mapping = os::Mapping::shared(file_.get(), 0, lanes_offset_);
  if (!mapping) fatal_unmapped(lanes_offset_, size_);
  // A handler's payload may lie in any member's slabs. With so many members that those would be
  // gigabytes, a core dump has only this process's part.
  if (!has_pair_rings()) {
    const std::size_t own = local_index_ * lane_part_bytes_;
    static_cast<void>(os::exclude_from_core_dumps(mapping.bytes().first(own)));
    static_cast<void>(os::exclude_from_core_dumps(mapping.bytes().subspan(own + lane_part_bytes_)));
  }
  // For the life of the process: ranks poll until they exit.
  base_ = mapping.release().data();
}

bool Neighborhood::map_lane(std::uint32_t lane) noexcept {
  if (lane == 0 || further_lanes_[lane] != nullptr) return true;
  const std::uint64_t bytes = lane_part_bytes_ * size_;
  os::Mapping mapping = os::Mapping::shared(file_.get(), lanes_offset_ + (lane - 1) * bytes, bytes);
  if (!mapping) return false;
  further_lanes_[lane] = mapping.release().data();
  return true;
}

std::byte* Neighborhood::lane_part(std::uint32_t lane, std::uint32_t member) const noexcept {
  return lane == 0 ? base_ + member * lane_part_bytes_
                   : further_lanes_[lane] + member * lane_part_bytes_;
}

Ring Neighborhood::ring(std::uint32_t lane, Direction direction, std::uint32_t from,
                        std::uint32_t to) const noexcept {
  const bool pair = has_pair_rings();
  const std::uint32_t source = from - (from > to ? 1 : 0);
  const std::uint64_t index = pair ? direction * (size_ - 1) + source : std::uint64_t{direction};
  std::byte* at = lane_part(lane, to) + rings_offset_ + index * ring_stride_;
  const RingShape shape = pair ? pair_shape : shared_shape;
  Ring ring;
  ring.control = reinterpret_cast<Control*>(at);
  ring.cells = reinterpret_cast<Cell*>(at + sizeof(Control) + sizeof(SleepMark));
  ring.slots = reinterpret_cast<Slot*>(ring.cells + shape.cells);
  ring.shape = shape;
  return ring;
}

std::atomic<std::uint32_t>& Neighborhood::unanswered_of(std::uint32_t member) const noexcept {
  return *reinterpret_cast<std::atomic<std::uint32_t>*>(facts_line(member, FactsLine::unanswered));
}

Doorbell& Neighborhood::doorbell(std::uint32_t member) const noexcept {
  return *reinterpret_cast<Doorbell*>(facts_line(member, FactsLine::progress_bell));
}

Doorbell& Neighborhood::waiters_bell(std::uint32_t member) const noexcept {
  return *reinterpret_cast<Doorbell*>(facts_line(member, FactsLine::waiting_bell));
}

SleeperCount& Neighborhood::sleepers() const noexcept {
  return *reinterpret_cast<SleeperCount*>(facts_line(size_, FactsLine::unanswered));
}

std::byte* Neighborhood::slab(std::uint32_t lane, std::uint32_t owner,
                              std::uint32_t index) const noexcept {
  return lane_part(lane, owner) + slab_offset_ + slab_start(index);
}

std::atomic<std::uint32_t>& Neighborhood::slab_busy(std::uint32_t lane, std::uint32_t owner,
                                                    std::uint32_t index) const noexcept {
  return reinterpret_cast<std::atomic<std::uint32_t>*>(lane_part(lane, owner) +
                                                       slab_state_offset_)[index];
}

Neighborhood::MemberFacts& Neighborhood::facts_of(std::uint32_t member) const noexcept {
  return *reinterpret_cast<MemberFacts*>(facts_line(member, FactsLine::facts));
}

std::uint32_t Neighborhood::usable_team_slots() const noexcept {
  return facts_of(0).many_team_slots.load(std::memory_order_relaxed) != 0 ? counts_.team_slots
                                                                          : min_team_slots;
}

int Neighborhood::process_of(std::uint32_t member) const noexcept {
  return facts_of(member).process.load(std::memory_order_relaxed);
}

std::byte* Neighborhood::take_segment(std::uint64_t bytes) {
  const std::uint64_t whole = os::round_up_to_page(bytes);
  const std::uint64_t alignment = whole >= huge_page ? huge_page : os::page_size();
  const std::optional<std::uint64_t> start = own_part_.take(whole, alignment);
  if (!start) return nullptr;
  os::Mapping mapping =
      os::Mapping::guarded(file_.get(), file_offset_of(local_index_) + *start, whole);
  if (!mapping) {
    own_part_.give_back(*start);
    return nullptr;
  }
  return own_segments_.emplace(*start, std::move(mapping)).first->second.data();
}

std::optional<std::uint64_t> Neighborhood::segment_offset(const void* address) const noexcept {
  const auto* const byte = static_cast<const std::byte*>(address);
  for (const auto& [start, mapping] : own_segments_)
    if (byte >= mapping.data() && byte < mapping.data() + mapping.size())
      return start + static_cast<std::uint64_t>(byte - mapping.data());
  return std::nullopt;
}

void Neighborhood::give_segment_back(std::byte* segment, bool untouched) {
  const std::optional<std::uint64_t> start = segment_offset(segment);
  if (!start) fatal("a segment is released that was not allocated");
  const auto own = own_segments_.find(*start);
  const std::span<std::byte> range = own->second.bytes();
  // Memory that the system does not take back (locked, or a file's without holes) is reused for the
  // next segment, which must be zero at first.
  if (os::discard(range) != 0 && !untouched) std::memset(range.data(), 0, range.size());
  own_segments_.erase(own);
  own_part_.give_back(*start);
}

int Neighborhood::commit_segment(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  return os::commit(file_.get(), file_offset_of(local_index_) + offset, bytes);
}

std::byte* Neighborhood::map_segment(std::uint32_t member, std::uint64_t offset,
                                     std::uint64_t bytes) {
  const std::uint64_t start = file_offset_of(member) + offset;
  PeerSegment& segment = peer_segments_[{start, bytes}];
  if (segment.uses == 0) {
    // With many members the guards would take half of the time.
    segment.mapping = has_pair_rings() ? os::Mapping::guarded(file_.get(), start, bytes)
                                       : os::Mapping::shared(file_.get(), start, bytes);
    if (!segment.mapping) {
      peer_segments_.erase({start, bytes});
      return nullptr;
    }
    // It belongs in its owner's core dump, if in any.
    static_cast<void>(os::exclude_from_core_dumps(segment.mapping.bytes()));
  }
  ++segment.uses;
  return segment.mapping.data();
}

void Neighborhood::unmap_segment(const std::byte* segment) {
  const auto found =
      std::find_if(peer_segments_.begin(), peer_segments_.end(),
                   [&](const auto& each) { return each.second.mapping.data() == segment; });
  if (found == peer_segments_.end())
    fatal("a peer's segment is unmapped without having been mapped");
  if (--found->second.uses == 0) peer_segments_.erase(found);
}

std::byte* Neighborhood::find_mapped(std::uint32_t member, std::uint64_t offset,
                                     std::uint64_t bytes) const noexcept {
  const std::uint64_t part = file_offset_of(member);
  const std::uint64_t start = part + offset;
  // Back from the last that begins there or before, within the member's part.
  for (auto next = peer_segments_.upper_bound({start, UINT64_MAX});
       next != peer_segments_.begin();) {
    const auto& [range, segment] = *--next;
    if (range[0] < part) return nullptr;
    const std::uint64_t skipped = start - range[0];
    if (skipped <= range[1] && bytes <= range[1] - skipped) return segment.mapping.data() + skipped;
  }
  return nullptr;
}

}  // namespace gex::shm
