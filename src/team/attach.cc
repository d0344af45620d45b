#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/env.h"
#include "base/error.h"
#include "base/os_memory.h"
#include "base/os_memory_limits.h"
#include "core/memory_class.h"
#include "core/process.h"
#include "core/progress.h"
#include "core/segment.h"
#include "team/exchange.h"
#include "team/lifecycle.h"
#include "way/memory_route.h"
#include "way/pairs.h"

namespace gex::team {

namespace {

/// A segment's key, or no bytes: the network does not reach the segment by itself.
using Key = std::vector<std::byte>;

Key key_of(_gex_Segment& segment) {
  if (!give_to_network(segment)) return {};
  const std::span bytes = std::as_bytes(std::span(segment.key));
  return {bytes.begin(), bytes.end()};
}

/// Each process announces these of a segment.
struct Announcement {
  gex_Rank_t jobrank;
  std::uint32_t endpoint;
  std::uint64_t address;
  std::uint64_t size;          ///< 0: none
  std::uint64_t offset;        ///< as of publish_segment
  std::uint64_t memory_class;  ///< net::MemoryClass
  std::uint64_t device;        ///< `MemoryKind::device`; 0 in the host's memory
  ExportedMemory exported;     ///< what opens it in other processes of the host
};

/// Each process asks for these in gex_Segment_Attach. It has no more than what differs there: for a
/// moment each process has those of all ranks of the job.
struct Wish {
  std::uint64_t address;
  std::uint64_t size;    ///< 0: none
  std::uint64_t offset;  ///< as of publish_segment
  std::uint64_t usable;  ///< bytes of memory the host has for segments, as this process sees it
  std::int64_t flaw;  ///< GASNET_OK, or the error of arguments with which nothing can be attached
};

/// Allocating a segment has this outcome for its process.
struct Outcome {
  std::int64_t error;
};

/// One of these, and the segment's key.
template <class Record>
struct Keyed {
  Record record;
  std::span<const std::byte> key;  ///< empty: it has none
};

/// Records that a team's members have exchanged: all that were given, those of one member together.
/// They are read where they have come, so that a large team takes no further memory.
/// `has_keys`: there is room for the keys of segments.
template <class Record, bool has_keys = true>
class KeyedExchange {
 public:
  KeyedExchange(Team& team, std::span<const Keyed<Record>> mine, const char* call)
      : blocks_(team::exchange(team, pack(mine))) {
    for (const std::span<const std::byte> block : blocks_)
      if (block.size() % stride() != 0) fatal("%s: a member is in another collective call", call);
  }

  template <class Use>
  void for_each(Use use) const {
    for (const std::span<const std::byte> block : blocks_)
      for (std::size_t at = 0; at < block.size(); at += stride())
        use(read(block.subspan(at, stride())));
  }
  template <class Condition>
  bool any(Condition condition) const {
    bool found = false;
    for_each([&](const Keyed<Record>& each) { found = found || condition(each); });
    return found;
  }
  /// The one that a member gave. Requires that each has given one.
  Keyed<Record> of(gex_Rank_t member) const { return read(blocks_[member]); }
  /// Returns true if each has given one.
  bool has_one_of_each() const {
    return std::ranges::all_of(blocks_, [](const auto& block) { return block.size() == stride(); });
  }

 private:
  // As sent: the record, whether there is a key, and room for it.
  static constexpr std::size_t has_key_at = sizeof(Record);
  static constexpr std::size_t key_at = has_key_at + sizeof(std::uint64_t);
  static std::size_t stride() noexcept {
    return has_keys ? key_at + process().network.key_bytes : sizeof(Record);
  }

  static std::vector<std::byte> pack(std::span<const Keyed<Record>> mine) {
    std::vector<std::byte> sent(mine.size() * stride());
    std::byte* to = sent.data();
    for (const Keyed<Record>& each : mine) {
      std::memcpy(to, &each.record, sizeof(Record));
      if (const std::uint64_t has_key = each.key.empty() ? 0 : 1; has_keys) {
        std::memcpy(to + has_key_at, &has_key, sizeof has_key);
        std::ranges::copy(each.key, to + key_at);
      }
      to += stride();
    }
    return sent;
  }
  static Keyed<Record> read(std::span<const std::byte> bytes) {
    Keyed<Record> each;
    std::uint64_t has_key = 0;
    std::memcpy(&each.record, bytes.data(), sizeof(Record));
    if (has_keys) std::memcpy(&has_key, bytes.data() + has_key_at, sizeof has_key);
    if (has_key != 0) each.key = bytes.subspan(key_at);
    return each;
  }

  Blocks blocks_;
};

/// Records what a process has announced of an endpoint of that client.
void record(gex_Client_t client, const Keyed<Announcement>& keyed, const char* call) {
  const Announcement& announced = keyed.record;
  const shm::Neighborhood& neighborhood = process().neighborhood;
  const std::uint64_t room = neighborhood.max_segment();
  const bool is_near = neighborhood.contains(announced.jobrank) && announced.offset != not_shared;
  if (announced.jobrank >= gex_proc_.jobsize || announced.endpoint >= GASNET_MAXEPS ||
      (is_near && (announced.size > room || announced.offset > room - announced.size)))
    fatal("%s: rank %u announced an invalid segment: of endpoint %u, %lu bytes", call,
          announced.jobrank, announced.endpoint, static_cast<unsigned long>(announced.size));
  const unsigned endpoint = endpoint_address(client->index, announced.endpoint);
  publish_segment(endpoint, announced.jobrank, announced.address, announced.size, announced.offset,
                  static_cast<net::MemoryClass>(announced.memory_class));
  if (!keyed.key.empty()) publish_key(endpoint, announced.jobrank, keyed.key);
}

/// Sends the descriptors without which neighbors cannot open segments of this process's that are of
/// this class, and returns when all members have. Collective, and nothing where no segment needs
/// any.
void send_descriptors(const MemoryClassInfo& memory, Team& team,
                      const std::vector<Keyed<Announcement>>& mine,
                      const KeyedExchange<Announcement>& all) {
  const auto needs_descriptor = [&memory](const Keyed<Announcement>& announced) {
    return announced.record.memory_class == memory.memory_class &&
           announced.record.exported.needs_descriptor != 0;
  };
  if (!all.any(needs_descriptor)) return;
  struct Receiver {
    std::uint64_t jobrank;
    std::uint64_t post;  ///< 0: it receives none
  };
  const MemorySharing& sharing = *memory.sharing;
  const Receiver own{gex_proc_.jobrank, sharing.begin_receiving()};
  for (const auto& block : exchange(team, std::as_bytes(std::span(&own, 1)))) {
    Receiver receiver{};
    if (block.size() != sizeof receiver) fatal("a member is in another collective call");
    std::memcpy(&receiver, block.data(), sizeof receiver);
    const auto jobrank = static_cast<gex_Rank_t>(receiver.jobrank);
    if (receiver.post == 0 || jobrank == gex_proc_.jobrank ||
        !process().neighborhood.contains(jobrank))
      continue;
    for (const Keyed<Announcement>& announced : mine)
      if (needs_descriptor(announced)) sharing.send(announced.record.exported, receiver.post);
  }
  exchange(team, {});
  sharing.end_receiving();
}

/// Opens a segment of another kind than the host's, if it is a neighbor's and that is possible.
/// Returns how this process reaches it.
MemoryRoute open_memory(unsigned endpoint, const Keyed<Announcement>& keyed) {
  const Announcement& announced = keyed.record;
  MemoryRoute route{announced.jobrank, static_cast<net::MemoryClass>(announced.memory_class),
                    announced.device, "own memory"};
  if (announced.jobrank == gex_proc_.jobrank) return route;
  const PairKind pair = kind_of(process().placement, gex_proc_.jobrank, announced.jobrank);
  if (pair == PairKind::memory) {
    const OpenedMemory opened =
        class_info(route.memory_class).sharing->open(announced.exported, announced.size);
    route.way = opened.way;
    route.reason = opened.why;
    if (opened.reached != nullptr) {
      publish_reached(endpoint, announced.jobrank, opened);
      return route;
    }
  }
  const net::Conduit* const conduit = process().conduit;
  if (!keyed.key.empty()) {
    route.way = std::string("native ") + conduit->name;
    route.reason.clear();
  } else {
    route.way = "messages";
    if (pair != PairKind::memory)
      route.reason = "no shared memory: " + why_no_memory(pair) + "; " +
                     (conduit != nullptr ? conduit->name : "the network") +
                     " does not reach that memory by itself";
  }
  return route;
}

/// Opens what can be opened of segments that are of another kind than the host's, and notes how all
/// of them are reached.
void open_all(gex_Client_t client, const KeyedExchange<Announcement>& all) {
  all.for_each([client](const Keyed<Announcement>& keyed) {
    const Announcement& announced = keyed.record;
    if (announced.memory_class == net::host_memory || announced.size == 0) return;
    const unsigned endpoint = endpoint_address(client->index, announced.endpoint);
    note_route(endpoint, open_memory(endpoint, keyed));
  });
}

/// Returns what this process announces of that endpoint, which may have no segment.
Announcement announcement_of(const _gex_EP& endpoint) {
  Announcement mine{gex_proc_.jobrank, endpoint.index, 0, 0, not_shared, net::host_memory, 0, {}};
  if (const gex_Segment_t segment = endpoint.segment) {
    mine.address = reinterpret_cast<std::uint64_t>(segment->address);
    mine.size = segment->size;
    mine.offset = shared_offset(*segment);
    mine.memory_class = class_of(*segment);
    if (segment->kind != nullptr) {
      mine.device = segment->kind->device;
      mine.exported = class_info(segment->kind->memory_class).sharing->export_segment(*segment);
    }
  }
  return mine;
}

using Wishes = KeyedExchange<Wish, false>;

/// Returns true if every host has the memory for what its processes ask. All processes come to the
/// same answer; of a host that has not, the first process warns.
bool all_hosts_have_room(const Wishes& wishes) {
  bool room = true;
  for (const job::RankSet& ranks : process().placement.hosts()) {
    std::uint64_t asked = 0;
    std::uint64_t usable = UINT64_MAX;
    for (const gex_Rank_t rank : ranks) {
      const Wish wish = wishes.of(rank).record;
      asked += wish.size;
      usable = std::min(usable, wish.usable);
    }
    if (asked <= usable) continue;
    room = false;
    if (ranks.front() == gex_proc_.jobrank)
      warn(
          "gex_Segment_Attach: this host, which has %s, is asked for segments of %s together, but "
          "has %s for them",
          os::format_processes(ranks.size()).c_str(), os::format_bytes(asked).c_str(),
          os::format_bytes(usable).c_str());
  }
  return room;
}

/// The host's memory for segments, as this process sees it. Before it has any, at least what
/// gasnet_getMaxLocalSegmentSize() returned, whatever others have taken since.
std::uint64_t memory_for_segments() {
  const shm::Neighborhood& neighborhood = process().neighborhood;
  const std::uint64_t usable = usable_memory();
  if (!neighborhood.has_no_segment()) return usable;
  return std::max(usable, std::min(neighborhood.granted_on_host(), neighborhood.memory_space()));
}

/// Fills in what all ranks have attached, if it is kept once in the neighborhood, or waits until
/// that is done. Collective over the neighborhood.
void share_in_neighborhood(const Team& team,
                           const std::function<AttachedSegment(gex_Rank_t rank)>& segment_of) {
  if (!is_published_once(team.endpoint->address())) return;
  static std::uint32_t fills = 0;
  ++fills;
  if (process().neighborhood.local_index() == 0) return fill_published(segment_of);
  wait_until(
      [&]() noexcept {
        return Op::with_team(OpKind::agreement, 0, team.id(),
                             team.exchanges.begun.load(std::memory_order_relaxed));
      },
      []() noexcept { return published_fills() >= fills; }, WaitCause::exchange);
}

/// The segment of one attach, of this process's.
struct Attaching {
  Team& team;
  gex_Segment_t segment;  ///< null: its size is 0, or it could not be allocated
  std::uintptr_t size;
  int error;  ///< of `errno`; 0: it is allocated, or none is wanted

  void give_back() const {
    if (segment == nullptr) return;
    bind_segment(team.endpoint, nullptr);
    destroy_segment(segment, /*untouched=*/true);
  }
  /// Ends an attach that has failed at some member.
  int refuse() const {
    give_back();
    for (gex_Rank_t rank = 0; rank < team.size; ++rank)
      publish_segment(team.endpoint->address(), team.jobrank_of(rank), 0, 0, not_shared);
    refresh_displacements();
    return GASNET_ERR_RESOURCE;
  }
};

constexpr const char* attach_call = "gex_Segment_Attach";

Attaching begin_attach(Team& team, std::uintptr_t size) {
  const gex_Segment_t segment = size != 0 ? allocate_segment(team.client, size) : nullptr;
  const int error = size != 0 && segment == nullptr ? errno : 0;
  if (segment != nullptr) bind_segment(team.endpoint, segment);
  return {team, segment, size, error};
}

/// First each member receives what all ask for, before any memory is used. Collective. Returns
/// GASNET_OK, or the error with which the attach has ended.
int announce_sizes(Attaching& own, std::uint64_t usable, int flaw) {
  Team& team = own.team;
  const Announcement segment = announcement_of(*team.endpoint);
  const Keyed<Wish> mine{{segment.address, own.size, segment.offset, usable, flaw}, {}};
  const Wishes wishes(team, {&mine, 1}, attach_call);
  if (!wishes.has_one_of_each()) fatal("%s: a member is in another collective call", attach_call);
  if (wishes.any([](const Keyed<Wish>& wish) { return wish.record.flaw != GASNET_OK; })) {
    own.give_back();
    return flaw != GASNET_OK ? flaw : GASNET_ERR_RESOURCE;
  }
  if (!all_hosts_have_room(wishes)) return own.refuse();
  if (own.segment != nullptr && own.segment->shared && env::boolean(env::Variable::segment_commit))
    own.error = process().neighborhood.commit_segment(shared_offset(*own.segment), own.size);
  share_in_neighborhood(team, [&](gex_Rank_t rank) {
    const Wish wish = wishes.of(rank).record;
    return AttachedSegment{wish.address, wish.size, net::host_memory, {}};
  });
  for (gex_Rank_t rank = 0; rank < team.size; ++rank) {
    const Wish wish = wishes.of(rank).record;
    const Announcement announced{team.jobrank_of(rank),
                                 team.endpoint_of(rank),
                                 wish.address,
                                 wish.size,
                                 wish.offset,
                                 net::host_memory,
                                 0,
                                 {}};
    record(team.client, {announced, {}}, attach_call);
  }
  refresh_displacements();
  return GASNET_OK;
}

/// Then whether each has allocated its own, with its key. No member uses another's segment before
/// this is over, and by then that other has received all keys. Collective; returns as
/// `announce_sizes`.
int announce_outcomes(const Attaching& own) {
  Team& team = own.team;
  Keyed<Outcome> outcome{{own.error}, {}};
  Key key;
  if (own.segment != nullptr && own.error == 0) outcome.key = key = key_of(*own.segment);
  const KeyedExchange<Outcome> outcomes(team, {&outcome, 1}, attach_call);
  if (!outcomes.has_one_of_each()) fatal("%s: a member is in another collective call", attach_call);
  gex_Rank_t failed = 0;
  while (failed < team.size && outcomes.of(failed).record.error == 0) ++failed;
  if (failed != team.size) {
    if (failed == team.rank)
      warn("%s: cannot allocate %s for the segment: %s", attach_call,
           os::format_bytes(own.size).c_str(), std::strerror(own.error));
    return own.refuse();
  }
  share_in_neighborhood(team, [&](gex_Rank_t rank) {
    const PublishedSegment published = team.segment_of(rank);
    return AttachedSegment{published.owner_address, published.size, published.memory_class,
                           outcomes.of(rank).key};
  });
  for (gex_Rank_t rank = 0; rank < team.size; ++rank)
    if (const auto theirs = outcomes.of(rank).key; !theirs.empty())
      publish_key(team.endpoint->address(), team.jobrank_of(rank), theirs);
  return GASNET_OK;
}

int attach_own(gex_Segment_t* segment_p, Team& team, std::uintptr_t size, int flaw) {
  const std::uint64_t usable = memory_for_segments();
  Attaching own = begin_attach(team, size);
  int result = announce_sizes(own, usable, flaw);
  if (result == GASNET_OK) result = announce_outcomes(own);
  if (result == GASNET_OK) *segment_p = own.segment;
  return result;
}

}  // namespace

int attach(gex_Segment_t* segment_p, Team& team, std::uintptr_t size, int flaw) {
  const int result = attach_own(segment_p, team, size, flaw);
  // What all members of a large team have exchanged would stay with each rank of a host.
  if (constexpr gex_Rank_t many = 256; team.size >= many) os::release_freed_memory();
  return result;
}

int publish(Team& team, const gex_EP_t* endpoints, std::size_t count) {
  const char* call = "gex_EP_PublishBoundSegment";
  std::vector<Keyed<Announcement>> mine;
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (endpoints[i]->segment != nullptr) keys[i] = key_of(*endpoints[i]->segment);
    mine.push_back({announcement_of(*endpoints[i]), keys[i]});
  }
  const KeyedExchange<Announcement> all(team, mine, call);
  all.for_each([&](const Keyed<Announcement>& announced) { record(team.client, announced, call); });
  for (const MemoryClassInfo* memory : memory_classes()) send_descriptors(*memory, team, mine, all);
  open_all(team.client, all);
  refresh_displacements();
  // No member uses another's segment before that other has received what all announced.
  exchange(team, {});
  return GASNET_OK;
}

}  // namespace gex::team
