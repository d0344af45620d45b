#pragma once
// Which address each host of a job uses: a pure function of what the hosts offer and of what they
// have found out about one another (address_probe.h), so that all ranks come to the same answer.
//
// An address is used only if the hosts that have asked for it have been answered there. Of those
// the choice prefers a subnet in which many hosts have an address, so that no router is in the way,
// then the faster interface, then the order in which the first host names them.

#include <net/if.h>

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "net/address.h"
#include "net/host_addresses.h"

namespace gex::net {

/// An address that a host offers; its bytes are exchanged.
struct OfferedAddress {
  Address address;  ///< with the port at which it can be asked for
  std::uint32_t prefix = 0;
  std::uint32_t speed = 0;
  char interface[IF_NAMESIZE] = {};
};
static_assert(std::is_trivially_copyable_v<OfferedAddress>);

/// "10.0.0.5 (eth0)"
std::string name_of(const OfferedAddress& candidate);

/// Returns the addresses that are offered: of those, the first of them.
std::vector<OfferedAddress> offered_addresses(std::span<const HostAddress> usable);

struct HostOffer {
  std::string name;
  std::uint64_t stack = 0;  ///< its ip_stack()
  std::vector<OfferedAddress> candidates;
};

/// The question whether a peer is reached at an address has one of these outcomes.
enum class Outcome : std::uint8_t {
  pending,   ///< not asked, or not answered yet
  reached,   ///< the peer has answered
  silent,    ///< nothing has come back in time
  refused,   ///< something else answers there, and not the peer
  no_route,  ///< the system has no way there
  no_port,   ///< the peer cannot be asked there: no port that the user allows is free
};

struct Question {
  std::uint32_t host;       ///< who is asked
  std::uint32_t candidate;  ///< at which of its addresses
};

struct AddressChoice {
  std::vector<std::uint32_t> of_host;  ///< a candidate of each host; empty: there is no choice
  std::string why_not;                 ///< then: which hosts do not reach each other, and where
};

/// The offers of all hosts, and what follows from them.
class AddressChooser {
 public:
  /// Each host has the outcomes of its questions, in their order.
  using Outcomes = std::vector<std::vector<Outcome>>;

  explicit AddressChooser(std::vector<HostOffer> offers);

  std::span<const HostOffer> offers() const noexcept { return offers_; }

  /// Returns the questions of `host`: its peers at all addresses that may be theirs. In large jobs
  /// these are the hosts a power of two before and behind, so that the questions grow with the
  /// logarithm of their number.
  const std::vector<Question>& questions_of(std::uint32_t host) const { return questions_[host]; }

  /// `variable` is what users choose by.
  AddressChoice choose(const Outcomes& outcomes, const std::string& variable) const;

  /// Why `host` uses the chosen one and not its others, in one line: "10.0.0.5 (eth0), where the
  /// other hosts reach it; not 172.17.0.1 (docker0): several hosts have it".
  std::string reason_of(std::uint32_t host, const AddressChoice& choice,
                        const Outcomes& outcomes) const;

 private:
  class Answers;

  void ask();
  bool all_share_stack() const;
  std::size_t hosts_in_subnet(const OfferedAddress& candidate) const;
  std::vector<std::uint32_t> assign(std::uint32_t first, const Answers& answers) const;
  std::string attempts(std::uint32_t from, std::uint32_t to, const Answers& answers) const;
  bool are_silent_neighbors(std::uint32_t one, std::uint32_t other, const Answers& answers) const;
  std::string why_none(const Answers& answers, const std::string& variable) const;

  std::vector<HostOffer> offers_;
  /// Each host has these candidates that may join it with others.
  std::vector<std::vector<std::uint32_t>> usable_;
  std::vector<std::vector<Question>> questions_;
};

}  // namespace gex::net
