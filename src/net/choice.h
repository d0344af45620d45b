#pragma once
// The rule by which a job gets its network when none is named: the best of what is there.
//
// A job whose ranks all share memory needs none. Otherwise, of the networks that can be used on
// every host, one whose hardware moves the bytes goes before one whose bytes processors move, and
// of two of a kind the one with the higher declared preference. docs/which-way.md is this page for
// users.

#include <gex/plugin/conduit.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gex::net {

/// A network, and what is known of it in a job.
struct Candidate {
  std::string name;
  std::uint32_t preference = 0;  ///< 0: only its name chooses it
  bool one_machine = false;      ///< it joins the processes of one machine
  Standing standing = unusable;  ///< the least of all ranks
  std::string note;              ///< what it would use, or why it cannot be used
};

/// A network that was not chosen, and why.
struct PassedOver {
  std::string name;
  std::string reason;  ///< one line
  /// It would not have been, however good it is.
  bool by_name_only = false;
};

struct Ranking {
  std::vector<Candidate> order;      ///< that can be used, best first
  std::vector<PassedOver> left_out;  ///< the others, as they were given
};

/// The rule. The result depends on the values alone: ranks that agree on them choose the same.
Ranking rank_networks(const std::vector<Candidate>& candidates, bool several_hosts);

/// Returns true if the network would be asked for its standing: it may be chosen without being
/// named.
bool is_eligible(const Candidate& candidate, bool several_hosts) noexcept;

/// "the interface's hardware moves the bytes", "processors move the bytes".
const char* standing_text(Standing standing) noexcept;

/// Every network that this libgex was made with, those that may be chosen asked for their standing
/// in a job on one host or on several. Opens their plug-ins and ends nothing; attaches none.
std::vector<Candidate> survey_candidates(const Host& host, bool several_hosts);

}  // namespace gex::net
