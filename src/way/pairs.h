#pragma once
// Which way does it go: what carries messages between each pair of ranks, and why nothing better.
//
// Pairs are described by classes, of which a job has few however many ranks it has: pairs that
// share memory, pairs of one host that do not, pairs of different hosts; and of these those whose
// ranks take different ways of the network.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "job/rank_set.h"
#include "shm/placement.h"

namespace gex {

enum class PairKind : std::uint8_t {
  memory,    ///< they share memory
  one_host,  ///< they are on one host and do not
  hosts,     ///< they are on different hosts
};

/// "memory", "one_host", "hosts"
const char* kind_name(PairKind kind) noexcept;

/// The kind of a pair of different ranks.
PairKind kind_of(const shm::Placement& placement, std::uint32_t a, std::uint32_t b) noexcept;

/// A network's way to peers, by its own name and reason (`Conduit::transport`).
struct Way {
  std::string name;    ///< empty: the network does not name any; several: "tcp or verbs"
  std::string reason;  ///< empty: it gives none
};

/// A rank has these ways to the peers of either kind that a network carries; empty without such.
struct WaysOfRank {
  Way on_host;
  Way to_hosts;
};

struct PairClass {
  PairKind kind;
  /// memory: the ranks of each neighborhood that has several; one_host: of each host that has
  /// several neighborhoods; hosts: of each host.
  std::vector<job::RankSet> groups;
  /// These ranks take this way of the network, where others of the kind take another; else empty.
  job::RankSet from;
  Way way;
};

/// The classes of a job's pairs, in the order of the kinds. `ways`: of each rank, or empty.
std::vector<PairClass> classify_pairs(const shm::Placement& placement,
                                      std::span<const WaysOfRank> ways);

/// The class of a pair, as its first rank takes it; -1 of a rank with itself.
int class_of(const std::vector<PairClass>& classes, const shm::Placement& placement,
             std::uint32_t from, std::uint32_t to) noexcept;

/// "ranks 0-3 among themselves", "ranks of different hosts (0,1 | 2,3)". One line, however large
/// the job is.
std::string describe_pairs(const PairClass& pairs);

/// Collective over the job, once it has its network: its classes, on the rank that speaks for it.
std::vector<PairClass> gather_pairs();

/// Why a pair of that kind does not share memory; empty: it does.
std::string why_no_memory(PairKind kind);

/// GEX_REQUIRE: ends the job in one line if a pair is connected in another way, or if it names a
/// network that there is not. `require_known_networks` needs no network yet; `require_ways` is
/// collective, over a job in which a rank has the variable set.
void require_known_networks();
void require_ways();

}  // namespace gex
