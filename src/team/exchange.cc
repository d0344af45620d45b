#include "team/exchange.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

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

namespace gex::team {

namespace {

constinit am::Internal gather_message{"team exchange: gather"};
constinit am::Internal spread_message{"team exchange: spread"};

/// Limit of a member's block: what it publishes of all its endpoints takes some kilobytes.
constexpr std::size_t max_block = std::size_t{64} << 10;
/// Limit of the blocks of all members of the largest team together.
std::size_t max_blocks() noexcept {
  return std::size_t{gex_proc_.jobsize} * max_endpoints * (max_block + sizeof(std::uint32_t));
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
  std::map<Key, std::map<gex_Rank_t, Assembly>> gathering;  ///< at rank 0, by rank
  std::map<Key, Assembly> spreading;
};
Immortal<Pending> the_pending;
Pending& pending() noexcept {
  return the_pending.get();
}

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
  std::size_t offset = 0;
  do {
    const std::size_t size = std::min(limit, bytes.size() - offset);
    const am::Packed packed(PartFields{team.id(), number, team.rank,
                                       static_cast<std::uint32_t>(bytes.size()),
                                       static_cast<std::uint32_t>(offset)});
    am::Outbound message = packed.message_for(kind);
    message.category = Category::medium;
    message.endpoints = am::endpoints_of(team.endpoint, team.endpoint_of(to));
    message.payload = bytes.data() + offset;
    message.size = size;
    am::send_request(jobrank, message, false);
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
  if (part.rank == 0)
    fatal("rank %u: a part of a team exchange from rank 0 to itself", source_of(token));
  const OptionalGuard guard(all.lock, true);
  all.gathering[key_of(token, part)][part.rank].add(source_of(token), part.total, part.offset,
                                                    payload, size, max_block);
}

void on_spread(gex_Token_t token, const PartFields& part, void* payload,
               std::size_t size) noexcept {
  Pending& all = pending();
  const OptionalGuard guard(all.lock, true);
  all.spreading[key_of(token, part)].add(source_of(token), part.total, part.offset, payload, size,
                                         max_blocks());
}

/// Sizes of all blocks, then the blocks.
std::vector<std::byte> pack(const Blocks& blocks) {
  std::vector<std::byte> packed(blocks.size() * sizeof(std::uint32_t));
  for (std::size_t r = 0; r < blocks.size(); ++r) {
    const auto size = static_cast<std::uint32_t>(blocks[r].size());
    std::memcpy(packed.data() + r * sizeof size, &size, sizeof size);
    packed.insert(packed.end(), blocks[r].begin(), blocks[r].end());
  }
  return packed;
}

Blocks unpack(std::span<const std::byte> packed, std::size_t count) {
  Blocks blocks(count);
  std::size_t at = count * sizeof(std::uint32_t);
  if (packed.size() < at) fatal("a team exchange came back incomplete");
  for (std::size_t r = 0; r < count; ++r) {
    std::uint32_t size;
    std::memcpy(&size, packed.data() + r * sizeof size, sizeof size);
    if (size > packed.size() - at) fatal("a team exchange came back incomplete");
    blocks[r].assign(packed.begin() + static_cast<std::ptrdiff_t>(at),
                     packed.begin() + static_cast<std::ptrdiff_t>(at + size));
    at += size;
  }
  return blocks;
}

void require_member(const Team& team, gex_Rank_t rank, const Assembly& assembly) noexcept {
  if (rank >= team.size)
    fatal("rank %u: a team exchange names rank %u of %u", assembly.source, rank, team.size);
  if (team.jobrank_of(rank) != assembly.source)
    fatal("rank %u: a team exchange in the name of rank %u of the team, which is rank %u",
          assembly.source, rank, team.jobrank_of(rank));
}

Op op_of(const Team& team, std::uint32_t number) noexcept {
  return Op::with_team(OpKind::agreement, 0, team.id(), number + 1);
}

/// Rank 0's part: the blocks of all members, the own one included.
Blocks gather(const Team& team, std::uint32_t number, std::span<const std::byte> mine) {
  const Key key{team.id(), team.endpoint->address(), number};
  Pending& all = pending();
  wait_until([&]() noexcept { return op_of(team, number); },
             [&]() noexcept {
               const OptionalGuard guard(all.lock, true);
               const auto& gathered = all.gathering[key];
               // Blocks of ranks that are no members are refused below.
               return gathered.size() >= team.size - 1 &&
                      std::all_of(gathered.begin(), gathered.end(),
                                  [](const auto& entry) { return entry.second.whole(); });
             },
             WaitCause::exchange);
  Blocks blocks(team.size);
  blocks[0].assign(mine.begin(), mine.end());
  const OptionalGuard guard(all.lock, true);
  auto gathered = all.gathering.extract(key);
  for (auto& [rank, assembly] : gathered.mapped()) {
    require_member(team, rank, assembly);
    blocks[rank] = std::move(assembly.bytes);
  }
  return blocks;
}

/// The part of the other ranks.
Blocks receive(const Team& team, std::uint32_t number) {
  const Key key{team.id(), team.endpoint->address(), number};
  Pending& all = pending();
  wait_until([&]() noexcept { return op_of(team, number); },
             [&]() noexcept {
               const OptionalGuard guard(all.lock, true);
               const auto found = all.spreading.find(key);
               return found != all.spreading.end() && found->second.whole();
             },
             WaitCause::exchange);
  std::vector<std::byte> packed;
  {
    const OptionalGuard guard(all.lock, true);
    auto spread = all.spreading.extract(key);
    require_member(team, 0, spread.mapped());
    packed = std::move(spread.mapped().bytes);
  }
  return unpack(packed, team.size);
}

}  // namespace

Blocks exchange(Team& team, std::span<const std::byte> mine) {
  Team* const members[1] = {&team};
  return exchange(members, mine);
}

Blocks exchange(std::span<Team* const> local_members, std::span<const std::byte> mine) {
  const gex_Rank_t size = local_members.front()->size;
  if (size == 1) return {std::vector<std::byte>(mine.begin(), mine.end())};
  std::uint32_t number = 0;
  for (Team* team : local_members) number = team->exchanges.begin();

  // What goes to rank 0 goes first: it may be local, too.
  for (Team* team : local_members)
    if (team->rank != 0) send_parts(*team, 0, gather_message, number, mine);
  Blocks blocks;
  for (Team* team : local_members) {
    if (team->rank != 0) continue;
    blocks = gather(*team, number, mine);
    const std::vector<std::byte> packed = pack(blocks);
    for (gex_Rank_t r = 1; r < size; ++r) send_parts(*team, r, spread_message, number, packed);
  }
  for (Team* team : local_members)
    if (team->rank != 0) blocks = receive(*team, number);
  for (Team* team : local_members) team->exchanges.end();
  return blocks;
}

void start_exchange() {
  am::register_request<on_gather>(gather_message);
  am::register_request<on_spread>(spread_message);
}

}  // namespace gex::team
