#pragma once
// gexinfo --pairs: what carries messages between the ranks of this job, and why nothing better; and
// the rule by which a job gets a network if none is named.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conduits.h"
#include "device_routes.h"
#include "facts.h"

namespace gexinfo {

/// A network's place by the rule, in a job on several hosts.
struct RulePlace {
  std::string name;
  std::uint32_t place;  ///< 1: the best; 0: it is not chosen
  std::string reason;
};

/// One class of pairs.
struct PairFacts {
  std::string ranks;  ///< "ranks 0-3 among themselves"
  std::string kind;   ///< "memory", "one_host", "hosts"
  std::vector<std::vector<std::uint32_t>> groups;
  std::vector<std::uint32_t> from;  ///< the ranks that take this way, if not all of the kind do
  std::string network;              ///< "shm", or the conduit's name
  std::string way;                  ///< of the network's; empty: it names none
  std::vector<gex::net::Means> means;
  MessageLimits limits;            ///< no packet in shared memory
  bool outstanding_to_all;         ///< requests without reply: to all peers together, not to each
  std::string why_no_memory;       ///< empty: it is shared memory
  std::string why_way;             ///< by the network
  std::vector<RulePlace> instead;  ///< better networks that were not taken, and why
};

struct PairsFacts {
  JobFacts job;
  bool is_job;  ///< else what jobs of this process's environment would have
  std::vector<PairFacts> classes;
  std::vector<DeviceRoute> devices;  ///< of other ranks; empty without devices
  std::vector<RulePlace> rule;       ///< where no job was joined by more than this process
  /// For each rank, the class of its pair with each other, -1 with itself. Empty: not asked for.
  std::vector<std::vector<int>> matrix;
};

/// The rule's order of the conduits that were tried.
std::vector<RulePlace> places(const Conduits& conduits);

/// Once this process has joined its job; collective over it. `conduits`: as found before, of which
/// a job of several ranks needs none.
PairsFacts gather_pairs(const Conduits& conduits, bool wants_matrix, gex_Client_t client,
                        gex_TM_t team);

}  // namespace gexinfo
