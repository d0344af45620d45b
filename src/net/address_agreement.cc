#include "net/address_agreement.h"

#include <gex/plugin/all_ranks.h>
#include <sys/random.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/os_host.h"
#include "base/siphash.h"
#include "net/address_choice.h"
#include "net/address_probe.h"
#include "net/host_addresses.h"

namespace gex::net {

namespace {

/// All ranks of a host show these of the host, as its first rank has them.
struct Introduction {
  std::uint64_t candidates = 0;
  std::uint64_t stack = 0;
  char name[40] = {};
};

/// The first of several addresses of an interface, as `wish` asks for.
void keep_first_of_interfaces(std::vector<HostAddress>& addresses) {
  std::set<std::string> seen;
  std::erase_if(addresses,
                [&](const HostAddress& one) { return !seen.insert(one.interface).second; });
}

/// One host's part of the agreement; only its first rank asks and answers.
class Agreement {
 public:
  Agreement(const Host& host, TakeFromFirst take_from_first, const AddressWish& wish)
      : host_(host), take_from_first_(take_from_first), wish_(wish) {
    std::set<std::uint32_t> seen;
    for (std::uint32_t rank = 0; rank < host.size; ++rank)
      if (seen.insert(host.host_of(rank)).second) firsts_.push_back(rank);
  }

  bool run(AgreedAddress& agreed, std::string& error);

 private:
  bool is_first() const { return std::ranges::find(firsts_, host_.rank) != firsts_.end(); }
  /// The place of this rank's host among the hosts.
  std::uint32_t own_host() const {
    for (std::uint32_t i = 0; i < firsts_.size(); ++i)
      if (host_.host_of(firsts_[i]) == host_.host_of(host_.rank)) return i;
    return 0;
  }

  template <class Value>
  std::vector<std::vector<Value>> exchange_lists(std::vector<Value> mine,
                                                 std::span<const std::size_t> counts) const;
  bool introduce(std::string& error);
  bool succeeds_on_all_ranks(std::string& error) const;
  void exchange_offers();
  AddressChooser::Outcomes exchange_outcomes(std::vector<Outcome> own) const;
  bool take_own(const AddressChoice& choice, AgreedAddress& agreed, std::string& error) const;

  const Host& host_;
  TakeFromFirst take_from_first_;
  const AddressWish& wish_;
  std::vector<std::uint32_t> firsts_;  ///< the first rank of each host
  std::vector<HostAddress> usable_;    ///< this rank's
  std::vector<OfferedAddress> own_;    ///< of a host's first rank
  std::vector<Introduction> hosts_;
  SipKey key_{};  ///< rank 0's
  std::optional<AddressProbe> probe_;
  std::optional<AddressChooser> chooser_;
};

/// The lists of the hosts, which have so many values each. All ranks of a host show the list of its
/// first rank, `mine`: between hosts it is there once (job/packed_table.h).
template <class Value>
std::vector<std::vector<Value>> Agreement::exchange_lists(
    std::vector<Value> mine, std::span<const std::size_t> counts) const {
  const std::size_t longest = std::ranges::max(counts);
  mine.resize(longest);
  std::vector<std::vector<Value>> lists(firsts_.size());
  if (longest == 0) return lists;
  const std::size_t size = longest * sizeof(Value);
  take_from_first_(mine.data(), size);
  const auto* const all = static_cast<const Value*>(host_.exchange_shared(mine.data(), size));
  for (std::size_t i = 0; i < firsts_.size(); ++i)
    lists[i].assign(&all[firsts_[i] * longest], &all[firsts_[i] * longest] + counts[i]);
  return lists;
}

bool Agreement::introduce(std::string& error) {
  std::vector<HostAddress> here = host_addresses(error);
  if (wish_.first_of_interface != 0) keep_first_of_interfaces(here);
  if (error.empty()) usable_ = usable_addresses(wish_.named, false, here, wish_.variables, error);
  if (error.empty() && getrandom(&key_, sizeof key_, 0) != sizeof key_)
    error = "the system has no random numbers";
  Introduction mine;
  if (is_first() && error.empty()) {
    own_ = offered_addresses(usable_);
    mine.candidates = own_.size();
    mine.stack = ip_stack();
    std::strncpy(mine.name, os::hostname().c_str(), sizeof mine.name - 1);
    probe_.emplace(
        wish_.datagrams != 0 ? AddressProbe::By::datagrams : AddressProbe::By::connections,
        wish_.first_port, wish_.last_port, own_);
  }
  if (!succeeds_on_all_ranks(error)) return false;
  take_from_rank(host_, 0, key_);
  take_from_first_(&mine, sizeof mine);
  const auto* const all =
      static_cast<const Introduction*>(host_.exchange_shared(&mine, sizeof mine));
  for (const std::uint32_t first : firsts_) hosts_.push_back(all[first]);
  return true;
}

/// Returns whether no rank has an error. Else only that of the lowest rank is left.
bool Agreement::succeeds_on_all_ranks(std::string& error) const {
  const std::uint32_t failed = first_rank_with(host_, !error.empty());
  if (failed != host_.rank) error.clear();
  return failed == host_.size;
}

void Agreement::exchange_offers() {
  std::vector<std::size_t> counts;
  for (const Introduction& one : hosts_) counts.push_back(one.candidates);
  std::vector<std::vector<OfferedAddress>> lists = exchange_lists(own_, counts);
  std::vector<HostOffer> offers;
  for (std::size_t i = 0; i < hosts_.size(); ++i)
    offers.push_back({hosts_[i].name, hosts_[i].stack, std::move(lists[i])});
  chooser_.emplace(std::move(offers));
}

AddressChooser::Outcomes Agreement::exchange_outcomes(std::vector<Outcome> own) const {
  std::vector<std::size_t> counts;
  for (std::uint32_t i = 0; i < firsts_.size(); ++i)
    counts.push_back(chooser_->questions_of(i).size());
  return exchange_lists(std::move(own), counts);
}

/// A rank whose user has named another interface than the first rank's of its host takes that.
bool Agreement::take_own(const AddressChoice& choice, AgreedAddress& agreed,
                         std::string& error) const {
  const std::uint32_t self = own_host();
  const OfferedAddress& of_host = chooser_->offers()[self].candidates[choice.of_host[self]];
  const Address wanted = of_host.address.with_port(0);
  const auto take = [&](const auto& fits) {
    const auto found = std::ranges::find_if(usable_, fits);
    if (found == usable_.end()) return false;
    agreed.address = found->address;
    agreed.interface = found->interface;
    return true;
  };
  if (take([&](const HostAddress& one) { return one.address == wanted; })) return true;
  if (take([&](const HostAddress& one) {
        return share_subnet(one.address, wanted, of_host.prefix);
      }) ||
      take([&](const HostAddress& one) { return one.address.family() == wanted.family(); })) {
    agreed.reason = agreed.address.host_text() + " (" + agreed.interface + "), as " +
                    wish_.variables + " asks of this rank";
    return true;
  }
  error = "rank " + std::to_string(host_.rank) + " has no IPv" +
          (wanted.family() == AF_INET ? "4" : "6") + " address, which rank 0 uses; " +
          wish_.variables + " can name a subnet that all hosts have";
  return false;
}

bool Agreement::run(AgreedAddress& agreed, std::string& error) {
  if (!introduce(error)) return false;
  exchange_offers();
  const std::uint32_t self = own_host();
  int failed = 0;
  if (probe_) failed = probe_->start(key_, self, chooser_->questions_of(self), chooser_->offers());
  if (failed != 0) error = std::string("no thread to ask other hosts with: ") + strerror(failed);
  const auto outcomes_of = [&](std::vector<Outcome> (AddressProbe::*wait)()) {
    return exchange_outcomes(probe_ && failed == 0 ? ((*probe_).*wait)() : std::vector<Outcome>());
  };
  AddressChooser::Outcomes outcomes = outcomes_of(&AddressProbe::first_outcomes);
  AddressChoice choice = chooser_->choose(outcomes, wish_.variables);
  if (choice.of_host.empty()) {
    outcomes = outcomes_of(&AddressProbe::final_outcomes);
    choice = chooser_->choose(outcomes, wish_.variables);
  }
  // All have been answered. The ports are free for what follows once every rank is here.
  probe_.reset();
  if (choice.of_host.empty()) {
    // One line of the job's.
    if (error.empty() && host_.rank == 0) error = choice.why_not;
  } else {
    agreed.reason = chooser_->reason_of(self, choice, outcomes);
    if (error.empty()) take_own(choice, agreed, error);
  }
  return succeeds_on_all_ranks(error) && !choice.of_host.empty();
}

}  // namespace

bool agree_on_address(const Host& host, TakeFromFirst take_from_first, const AddressWish& wish,
                      AgreedAddress& agreed, std::string& error) {
  return Agreement(host, take_from_first, wish).run(agreed, error);
}

}  // namespace gex::net
