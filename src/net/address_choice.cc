#include "net/address_choice.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace gex::net {

namespace {

/// Jobs of up to this many hosts ask all of them.
constexpr std::size_t max_all_to_all = 8;

/// Addresses that a message lists, at most.
constexpr std::size_t max_listed = 4;

bool share_stack(const HostOffer& one, const HostOffer& other) {
  return one.stack != 0 && one.stack == other.stack;
}

std::set<std::uint32_t> peers_of(std::uint32_t host, std::size_t count) {
  std::set<std::uint32_t> peers;
  for (std::size_t distance = 1; distance < count;
       distance = count <= max_all_to_all ? distance + 1 : 2 * distance) {
    peers.insert(static_cast<std::uint32_t>((host + distance) % count));
    peers.insert(static_cast<std::uint32_t>((host + count - distance) % count));
  }
  return peers;
}

const char* text_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::reached:
      return "reached";
    case Outcome::refused:
      return "refused";
    case Outcome::no_route:
      return "no route";
    case Outcome::no_port:
      return "no allowed port is free";
    case Outcome::pending:
    case Outcome::silent:
      break;
  }
  return "no answer";
}

/// The bytes of the address without its port, to compare by.
std::vector<std::byte> number_of(const Address& address) {
  const std::span<const std::byte> bytes = address.host_bytes();
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::string name_of(const OfferedAddress& candidate) {
  return candidate.address.host_text() + " (" + candidate.interface + ")";
}

std::vector<OfferedAddress> offered_addresses(std::span<const HostAddress> usable) {
  constexpr std::size_t max_candidates = 256;
  std::vector<OfferedAddress> candidates;
  for (const HostAddress& one : usable.first(std::min(usable.size(), max_candidates))) {
    OfferedAddress candidate{.address = one.address, .prefix = one.prefix, .speed = one.speed};
    std::strncpy(candidate.interface, one.interface.c_str(), sizeof candidate.interface - 1);
    candidates.push_back(candidate);
  }
  return candidates;
}

/// The outcomes by the host that asks, the one that is asked, and the address.
class AddressChooser::Answers {
 public:
  Answers(const AddressChooser& chooser, const Outcomes& outcomes) : chooser_(chooser) {
    for (std::uint32_t host = 0; host < chooser.offers_.size(); ++host) {
      const std::vector<Question>& asked = chooser.questions_[host];
      auto& of_host = by_question_.emplace_back();
      for (std::size_t i = 0; i < asked.size(); ++i)
        of_host[{asked[i].host, asked[i].candidate}] =
            i < outcomes[host].size() ? outcomes[host][i] : Outcome::pending;
    }
  }

  /// Empty: `from` has not asked there.
  std::optional<Outcome> of(std::uint32_t from, std::uint32_t to, std::uint32_t candidate) const {
    const auto found = by_question_[from].find({to, candidate});
    if (found == by_question_[from].end()) return std::nullopt;
    return found->second;
  }

  /// Returns true if two hosts that have asked each other may communicate by these two addresses.
  bool agree(std::uint32_t one, std::uint32_t of_one, std::uint32_t other,
             std::uint32_t of_other) const {
    return chooser_.offers_[one].candidates[of_one].address.family() ==
               chooser_.offers_[other].candidates[of_other].address.family() &&
           of(one, other, of_other) == Outcome::reached &&
           of(other, one, of_one) == Outcome::reached;
  }

 private:
  const AddressChooser& chooser_;
  std::vector<std::map<std::pair<std::uint32_t, std::uint32_t>, Outcome>> by_question_;
};

AddressChooser::AddressChooser(std::vector<HostOffer> offers) : offers_(std::move(offers)) {
  // An address that several hosts have, each on a network of its own, like that of a bridge of
  // containers, leads each of them to itself.
  std::map<std::vector<std::byte>, std::vector<std::uint32_t>> owners;
  for (std::uint32_t host = 0; host < offers_.size(); ++host)
    for (const OfferedAddress& one : offers_[host].candidates)
      owners[number_of(one.address)].push_back(host);
  const bool one_stack = all_share_stack();
  const auto is_usable = [&](std::uint32_t host, const OfferedAddress& one) {
    if (one.address.is_loopback()) return one_stack;
    return std::ranges::all_of(owners[number_of(one.address)], [&](std::uint32_t other) {
      return other == host || share_stack(offers_[host], offers_[other]);
    });
  };
  for (std::uint32_t host = 0; host < offers_.size(); ++host) {
    auto& usable = usable_.emplace_back();
    for (std::uint32_t i = 0; i < offers_[host].candidates.size(); ++i)
      if (is_usable(host, offers_[host].candidates[i])) usable.push_back(i);
  }
  ask();
}

/// Asks those in a subnet of the host first, since only a number of connections is made
/// at a time.
void AddressChooser::ask() {
  for (std::uint32_t host = 0; host < offers_.size(); ++host) {
    std::set<std::pair<std::uint32_t, std::vector<std::byte>>> subnets;
    for (const OfferedAddress& one : offers_[host].candidates)
      subnets.insert({one.prefix, subnet_number(one.address, one.prefix)});
    auto& questions = questions_.emplace_back();
    for (const bool is_near : {true, false}) {
      for (const std::uint32_t peer : peers_of(host, offers_.size())) {
        for (const std::uint32_t i : usable_[peer]) {
          const OfferedAddress& one = offers_[peer].candidates[i];
          const bool shares_subnet =
              subnets.contains({one.prefix, subnet_number(one.address, one.prefix)});
          if (shares_subnet == is_near) questions.push_back({peer, i});
        }
      }
    }
  }
}

bool AddressChooser::all_share_stack() const {
  return std::ranges::all_of(offers_,
                             [&](const HostOffer& one) { return share_stack(one, offers_[0]); });
}

/// How many hosts have a usable address in its subnet.
std::size_t AddressChooser::hosts_in_subnet(const OfferedAddress& candidate) const {
  std::size_t count = 0;
  for (std::uint32_t host = 0; host < offers_.size(); ++host) {
    const std::vector<OfferedAddress>& own = offers_[host].candidates;
    if (std::ranges::any_of(usable_[host], [&](std::uint32_t i) {
          return own[i].prefix == candidate.prefix &&
                 share_subnet(own[i].address, candidate.address, candidate.prefix);
        }))
      ++count;
  }
  return count;
}

/// Gives each host one of its addresses, the first host `first`; empty if that cannot be done so.
std::vector<std::uint32_t> AddressChooser::assign(std::uint32_t first,
                                                  const Answers& answers) const {
  const OfferedAddress& wanted = offers_[0].candidates[first];
  std::vector<std::uint32_t> chosen{first};
  for (std::uint32_t host = 1; host < offers_.size(); ++host) {
    const std::vector<OfferedAddress>& own = offers_[host].candidates;
    std::vector<std::uint32_t> order = usable_[host];
    std::ranges::stable_sort(order, {}, [&](std::uint32_t i) {
      return std::tuple(!share_subnet(own[i].address, wanted.address, wanted.prefix),
                        UINT32_MAX - own[i].speed);
    });
    const std::set<std::uint32_t> peers = peers_of(host, offers_.size());
    const auto fits = std::ranges::find_if(order, [&](std::uint32_t i) {
      return own[i].address.family() == wanted.address.family() &&
             std::ranges::all_of(peers, [&](std::uint32_t peer) {
               return peer > host || answers.agree(peer, chosen[peer], host, i);
             });
    });
    if (fits == order.end()) return {};
    chosen.push_back(*fits);
  }
  return chosen;
}

/// Where one host has asked for another, and what came of it.
std::string AddressChooser::attempts(std::uint32_t from, std::uint32_t to,
                                     const Answers& answers) const {
  std::string text;
  std::size_t listed = 0;
  for (std::uint32_t i = 0; i < offers_[to].candidates.size(); ++i) {
    const std::optional<Outcome> outcome = answers.of(from, to, i);
    if (++listed > max_listed) return text + ", ...";
    text += (text.empty() ? "" : ", ") + name_of(offers_[to].candidates[i]) + ": " +
            (outcome ? text_of(*outcome) : "several hosts have it");
  }
  return text;
}

/// Returns true if one of two hosts in one subnet does not answer the other: no other interface and
/// no router need be the cause.
bool AddressChooser::are_silent_neighbors(std::uint32_t one, std::uint32_t other,
                                          const Answers& answers) const {
  for (std::uint32_t i = 0; i < offers_[other].candidates.size(); ++i) {
    const std::optional<Outcome> outcome = answers.of(one, other, i);
    if (outcome != Outcome::silent && outcome != Outcome::pending) continue;
    for (const OfferedAddress& own : offers_[one].candidates)
      if (share_subnet(own.address, offers_[other].candidates[i].address, own.prefix)) return true;
  }
  return false;
}

std::string AddressChooser::why_none(const Answers& answers, const std::string& variable) const {
  const std::string remedy =
      "; " + variable + " chooses an interface, an address or a subnet that joins them";
  for (std::uint32_t a = 0; a < offers_.size(); ++a) {
    for (const std::uint32_t b : peers_of(a, offers_.size())) {
      if (b < a) continue;
      const bool meet = std::ranges::any_of(usable_[a], [&](std::uint32_t i) {
        return std::ranges::any_of(usable_[b],
                                   [&](std::uint32_t j) { return answers.agree(a, i, b, j); });
      });
      if (meet) continue;
      std::string text = "hosts " + offers_[a].name + " and " + offers_[b].name +
                         " do not reach each other: " + offers_[b].name + " at " +
                         attempts(a, b, answers) + "; " + offers_[a].name + " at " +
                         attempts(b, a, answers) + remedy;
      if (are_silent_neighbors(a, b, answers) || are_silent_neighbors(b, a, answers))
        text += "; where one does, a firewall has to let it pass";
      return text;
    }
  }
  return "each two of the " + std::to_string(offers_.size()) +
         " hosts reach each other, but no choice of one address for each serves all of them" +
         remedy;
}

AddressChoice AddressChooser::choose(const Outcomes& outcomes, const std::string& variable) const {
  const Answers answers(*this, outcomes);
  std::vector<std::uint32_t> order = usable_[0];
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) {
    const OfferedAddress& one = offers_[0].candidates[i];
    return std::tuple(offers_.size() - hosts_in_subnet(one), UINT32_MAX - one.speed);
  });
  AddressChoice choice;
  for (const std::uint32_t first : order) {
    choice.of_host = assign(first, answers);
    if (!choice.of_host.empty()) return choice;
  }
  choice.why_not = why_none(answers, variable);
  return choice;
}

std::string AddressChooser::reason_of(std::uint32_t host, const AddressChoice& choice,
                                      const Outcomes& outcomes) const {
  const Answers answers(*this, outcomes);
  const std::vector<OfferedAddress>& own = offers_[host].candidates;
  std::string text = name_of(own[choice.of_host[host]]) + ", where the other hosts reach it";
  std::size_t listed = 0;
  for (std::uint32_t i = 0; i < own.size() && listed < max_listed; ++i) {
    if (i == choice.of_host[host]) continue;
    std::string why;
    for (const std::uint32_t peer : peers_of(host, offers_.size())) {
      const std::optional<Outcome> outcome = answers.of(peer, host, i);
      if (!outcome)
        why = "several hosts have it";
      else if (*outcome != Outcome::reached)
        why = offers_[peer].name + " has " + text_of(*outcome);
      if (!why.empty()) break;
    }
    if (why.empty()) why = "reached as well, but fewer hosts are in its subnet or it is slower";
    text += "; not " + name_of(own[i]) + ": " + why;
    ++listed;
  }
  return text;
}

}  // namespace gex::net
