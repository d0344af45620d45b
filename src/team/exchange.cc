#include "team/exchange.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "am/internal.h"
#include "am/limits.h"
#include "am/outbound.h"
#include "am/token.h"
#include "base/error.h"
#include "base/immortal.h"
#include "base/spin_lock.h"
#include "core/objects.h"
#include "core/process.h"
#include "core/progress.h"
#include "team/exchange_tree.h"

namespace gex::team {

namespace {

constinit am::Internal gather_message{"team exchange: gather"};
constinit am::Internal spread_message{"team exchange: spread"};

/// Limit of a member's block: what it publishes of all its endpoints takes some kilobytes.
constexpr std::size_t max_block = std::size_t{64} << 10;
/// Limit of the blocks of all members of the largest team together, as they are sent.
std::size_t max_blocks() noexcept {
  return 1 + std::size_t{gex_proc_.jobsize} * max_endpoints * (max_block + sizeof(std::uint32_t));
}

/// One stream of bytes that arrives in parts, in any order.
struct Assembly {
  std::vector<std::byte> bytes;
  std::size_t received = 0;
  gex_Rank_t source = 0;  ///< jobrank; of the team or not is seen once there is the team
  bool sized = false;

  void add(gex_Rank_t from, std::size_t total, std::size_t offset, const void* part,
           std::size_t size, std::size_t limit) {
    if (total > limit)
      fatal("rank %u: a team exchange of %zu bytes; the limit is %zu", from, total, limit);
    if (offset > total || size > total - offset || (sized && total != bytes.size()))
      fatal("rank %u: a part of a team exchange does not fit: %zu bytes at %zu of %zu", from, size,
            offset, total);
    // Only what has no bytes at all comes in a part without any.
    if (size == 0 && total != 0) fatal("rank %u: a part of a team exchange without bytes", from);
    if (!sized) {
      bytes.resize(total);
      source = from;
      sized = true;
    } else if (from != source) {
      fatal("rank %u: a part of a team exchange that rank %u has begun", from, source);
    } else if (size > total - received || total == 0) {
      fatal("rank %u: a part of a team exchange came twice", from);
    }
    if (size != 0) std::memcpy(bytes.data() + offset, part, size);
    received += size;
  }
  bool whole() const noexcept { return sized && received == bytes.size(); }
};

/// Identifies one local member's part in one exchange, the member by its endpoint: messages of the
/// next exchange, or of a team whose creation this process has not finished yet, may arrive early
/// and wait here.
struct Key {
  TeamId team;
  unsigned endpoint_address;
  std::uint32_t number;

  bool operator<(const Key& other) const noexcept {
    return std::tie(team, endpoint_address, number) <
           std::tie(other.team, other.endpoint_address, other.number);
  }
};

struct Pending {
  SpinLock lock;
  /// The contributions of the subtrees of a member's children, by child.
  std::map<Key, std::map<gex_Rank_t, Assembly>> gathering;
  std::map<Key, Assembly> spreading;  ///< the whole, from a member's parent
};
Immortal<Pending> the_pending;
Pending& pending() noexcept {
  return the_pending.get();
}

// Relaxed: counts, which order nothing.
std::atomic<std::uint64_t> exchanges_begun{0};
std::atomic<std::uint64_t> messages_sent{0};
std::atomic<std::uint64_t> bytes_sent{0};

/// Both messages have these fields.
struct PartFields {
  am::Wide team;
  std::uint32_t number;  ///< of the exchange
  gex_Rank_t rank;       ///< the sender's
  std::uint32_t total;   ///< bytes of all parts
  std::uint32_t offset;
};

void send_parts(Team& team, gex_Rank_t to, const am::Internal& kind, std::uint32_t number,
                std::span<const std::byte> bytes) {
  const gex_Rank_t jobrank = team.jobrank_of(to);
  const std::size_t limit = am::max_medium(jobrank);
  if (bytes.size() > UINT32_MAX)
    fatal("a team exchange of %zu bytes; the limit is %u", bytes.size(), UINT32_MAX);
  std::size_t offset = 0;
  do {
    const std::size_t size = std::min(limit, bytes.size() - offset);
    const am::Packed packed(PartFields{team.id(), number, team.rank,
                                       static_cast<std::uint32_t>(bytes.size()),
                                       static_cast<std::uint32_t>(offset)});
    am::Outbound message = packed.message_for(kind);
    message.what.set_category(Category::medium);
    message.what.set_endpoints(am::endpoints_of(team.endpoint, team.endpoint_of(to)));
    message.payload = bytes.data() + offset;
    message.size = size;
    am::send_request(jobrank, message, false);
    messages_sent.fetch_add(1, std::memory_order_relaxed);
    bytes_sent.fetch_add(size, std::memory_order_relaxed);
    offset += size;
  } while (offset < bytes.size());
}

/// The exchange that a message is of.
Key key_of(gex_Token_t token, const PartFields& part) noexcept {
  return {part.team, token->header.endpoints().target_address(), part.number};
}

gex_Rank_t source_of(gex_Token_t token) noexcept {
  return token->header.source;
}

void on_gather(gex_Token_t token, const PartFields& part, void* payload,
               std::size_t size) noexcept {
  Pending& all = pending();
  const OptionalGuard guard(all.lock, true);
  all.gathering[key_of(token, part)][part.rank].add(source_of(token), part.total, part.offset,
                                                    payload, size, max_blocks());
}

void on_spread(gex_Token_t token, const PartFields& part, void* payload,
               std::size_t size) noexcept {
  Pending& all = pending();
  const OptionalGuard guard(all.lock, true);
  all.spreading[key_of(token, part)].add(source_of(token), part.total, part.offset, payload, size,
                                         max_blocks());
}

/// Ends the job unless that member may have sent what was assembled.
void require_sender(const Team& team, gex_Rank_t rank, const Assembly& assembly) noexcept {
  if (rank >= team.size)
    fatal("rank %u: a team exchange names rank %u of %u", assembly.source, rank, team.size);
  if (team.jobrank_of(rank) != assembly.source)
    fatal("rank %u: a team exchange in the name of rank %u of the team, which is rank %u",
          assembly.source, rank, team.jobrank_of(rank));
}

Op op_of(const Team& team, std::uint32_t number) noexcept {
  return Op::with_team(OpKind::agreement, 0, team.id(), number + 1);
}

/// Ends the job unless that are the packed blocks of so many members.
void append_packed(Blocks& blocks, const Assembly& assembly, std::size_t count) {
  if (!blocks.append_packed(assembly.bytes, count, max_block))
    fatal("rank %u: a team exchange that is malformed, or not of %zu blocks of up to %zu bytes",
          assembly.source, count, max_block);
}

/// Waits for what a member's children have gathered, and returns it behind the own block.
Blocks gather(const Team& team, std::uint32_t number, std::span<const std::byte> mine) {
  const ExchangeTree tree(team.size);
  const std::size_t children = tree.children(team.rank);
  const Key key{team.id(), team.endpoint->address(), number};
  Pending& all = pending();
  Blocks blocks;
  blocks.append(mine);
  if (children == 0) return blocks;
  wait_until([&]() noexcept { return op_of(team, number); },
             [&]() noexcept {
               const OptionalGuard guard(all.lock, true);
               const auto& gathered = all.gathering[key];
               // Parts of ranks that are no children are refused below.
               return gathered.size() >= children &&
                      std::all_of(gathered.begin(), gathered.end(),
                                  [](const auto& entry) { return entry.second.whole(); });
             },
             WaitCause::exchange);
  std::map<gex_Rank_t, Assembly> gathered;
  {
    const OptionalGuard guard(all.lock, true);
    gathered = std::move(all.gathering.extract(key).mapped());
  }
  for (const auto& [child, assembly] : gathered) {
    require_sender(team, child, assembly);
    if (child == 0 || ExchangeTree::parent(child) != team.rank)
      fatal("rank %u: a part of a team exchange that is not for rank %u of the team",
            assembly.source, team.rank);
    append_packed(blocks, assembly, tree.end(child) - child);
  }
  return blocks;
}

/// Waits for the whole from a member's parent.
Assembly receive(const Team& team, std::uint32_t number) {
  const Key key{team.id(), team.endpoint->address(), number};
  Pending& all = pending();
  wait_until([&]() noexcept { return op_of(team, number); },
             [&]() noexcept {
               const OptionalGuard guard(all.lock, true);
               const auto found = all.spreading.find(key);
               return found != all.spreading.end() && found->second.whole();
             },
             WaitCause::exchange);
  const OptionalGuard guard(all.lock, true);
  auto spread = all.spreading.extract(key);
  require_sender(team, ExchangeTree::parent(team.rank), spread.mapped());
  return std::move(spread.mapped());
}

}  // namespace

Blocks exchange(Team& team, std::span<const std::byte> mine) {
  Team* const members[1] = {&team};
  return exchange(members, mine);
}

Blocks exchange(std::span<Team* const> local_members, std::span<const std::byte> mine) {
  if (mine.size() > max_block)
    fatal("a team exchange of %zu bytes; the limit is %zu", mine.size(), max_block);
  // A member's children have higher ranks, and some of them may be local: on the way up these go
  // first, and on the way down last.
  std::vector<Team*> members(local_members.begin(), local_members.end());
  std::ranges::sort(members, {}, [](const Team* team) { return team->rank; });
  const ExchangeTree tree(members.front()->size);
  if (members.front()->size == 1) {
    Blocks whole;
    whole.append(mine);
    return whole;
  }
  std::uint32_t number = 0;
  for (Team* team : members) number = team->exchanges.begin();
  exchanges_begun.fetch_add(members.size(), std::memory_order_relaxed);

  Blocks whole;
  std::vector<std::byte> packed;
  for (auto team = members.rbegin(); team != members.rend(); ++team) {
    Blocks blocks = gather(**team, number, mine);
    packed = blocks.pack();
    if ((*team)->rank == 0)
      whole = std::move(blocks);
    else
      send_parts(**team, ExchangeTree::parent((*team)->rank), gather_message, number, packed);
  }
  Assembly received;
  for (Team* team : members) {
    if (team->rank != 0) received = receive(*team, number);
    tree.for_each_child(team->rank, [&](gex_Rank_t child) {
      send_parts(*team, child, spread_message, number, team->rank == 0 ? packed : received.bytes);
    });
  }
  for (Team* team : members) team->exchanges.end();
  if (whole.size() == 0) append_packed(whole, received, members.front()->size);
  return whole;
}

ExchangeCounts exchange_counts() noexcept {
  return {exchanges_begun.load(std::memory_order_relaxed),
          messages_sent.load(std::memory_order_relaxed),
          bytes_sent.load(std::memory_order_relaxed)};
}

void start_exchange() {
  am::register_request<on_gather>(gather_message);
  am::register_request<on_spread>(spread_message);
}

}  // namespace gex::team
