#include "net/address_agreement.h"

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

/// A rank shows these first.
struct Introduction {
  std::uint32_t failed = 0;
  std::uint32_t candidates = 0;  ///< 0: another rank of its host offers them
  std::uint64_t stack = 0;
  SipKey key{};  ///< rank 0's holds
  char name[40] = {};
};

template <class Value>
std::vector<Value> exchange(const Host& host, const Value& mine) {
  std::vector<Value> all(host.size);
  host.exchange(&mine, sizeof mine, all.data());
  return all;
}

/// As many values of each rank as the longest list has; of each rank `counts` of them are its own.
template <class Value>
std::vector<std::vector<Value>> exchange_lists(const Host& host, std::vector<Value> mine,
                                               std::span<const std::size_t> counts) {
  const std::size_t longest = std::ranges::max(counts);
  mine.resize(longest);
  std::vector<Value> all(longest * host.size);
  if (longest != 0) host.exchange(mine.data(), longest * sizeof(Value), all.data());
  std::vector<std::vector<Value>> lists(host.size);
  for (std::size_t rank = 0; rank < host.size; ++rank)
    lists[rank].assign(&all[rank * longest], &all[rank * longest] + counts[rank]);
  return lists;
}

/// The first of several addresses of an interface, as `wish` asks for.
void keep_first_of_interfaces(std::vector<HostAddress>& addresses) {
  std::set<std::string> seen;
  std::erase_if(addresses,
                [&](const HostAddress& one) { return !seen.insert(one.interface).second; });
}

/// One host's part of the agreement; only its first rank asks and answers.
class Agreement {
 public:
  Agreement(const Host& host, const AddressWish& wish) : host_(host), wish_(wish) {
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

  bool introduce(std::string& error);
  void exchange_offers();
  AddressChooser::Outcomes exchange_outcomes(std::vector<Outcome> own) const;
  bool take_own(const AddressChoice& choice, AgreedAddress& agreed, std::string& error) const;

  const Host& host_;
  const AddressWish& wish_;
  std::vector<std::uint32_t> firsts_;  ///< the first rank of each host
  std::vector<HostAddress> usable_;    ///< this rank's
  std::vector<OfferedAddress> own_;    ///< of a host's first rank
  std::vector<Introduction> all_;
  std::optional<AddressProbe> probe_;
  std::optional<AddressChooser> chooser_;
};

bool Agreement::introduce(std::string& error) {
  std::vector<HostAddress> here = host_addresses();
  if (wish_.first_of_interface != 0) keep_first_of_interfaces(here);
  usable_ = usable_addresses(wish_.named, false, here, wish_.variables, error);
  Introduction mine;
  if (error.empty() && getrandom(&mine.key, sizeof mine.key, 0) != sizeof mine.key)
    error = "the system has no random numbers";
  if (is_first() && error.empty()) {
    own_ = offered_addresses(usable_);
    probe_.emplace(
        wish_.datagrams != 0 ? AddressProbe::By::datagrams : AddressProbe::By::connections,
        wish_.first_port, wish_.last_port, own_);
  }
  mine.failed = error.empty() ? 0 : 1;
  mine.candidates = static_cast<std::uint32_t>(own_.size());
  mine.stack = ip_stack();
  std::strncpy(mine.name, os::hostname().c_str(), sizeof mine.name - 1);
  all_ = exchange(host_, mine);
  const auto failed =
      std::ranges::find_if(all_, [](const Introduction& one) { return one.failed != 0; });
  if (failed == all_.end()) return true;
  if (failed - all_.begin() != host_.rank) error.clear();
  return false;
}

void Agreement::exchange_offers() {
  std::vector<std::size_t> counts;
  for (const Introduction& one : all_) counts.push_back(one.candidates);
  std::vector<std::vector<OfferedAddress>> lists = exchange_lists(host_, own_, counts);
  std::vector<HostOffer> offers;
  for (const std::uint32_t first : firsts_)
    offers.push_back({all_[first].name, all_[first].stack, std::move(lists[first])});
  chooser_.emplace(std::move(offers));
}

AddressChooser::Outcomes Agreement::exchange_outcomes(std::vector<Outcome> own) const {
  std::vector<std::size_t> counts(host_.size, 0);
  for (std::uint32_t i = 0; i < firsts_.size(); ++i)
    counts[firsts_[i]] = chooser_->questions_of(i).size();
  std::vector<std::vector<Outcome>> lists = exchange_lists(host_, std::move(own), counts);
  AddressChooser::Outcomes outcomes;
  for (const std::uint32_t first : firsts_) outcomes.push_back(std::move(lists[first]));
  return outcomes;
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
  if (probe_)
    failed = probe_->start(all_[0].key, self, chooser_->questions_of(self), chooser_->offers());
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
  const std::uint32_t mine = error.empty() ? 0 : 1;
  const std::vector<std::uint32_t> all = exchange(host_, mine);
  const auto first = std::ranges::find(all, 1U);
  if (first == all.end()) return !choice.of_host.empty();
  if (first - all.begin() != host_.rank) error.clear();
  return false;
}

}  // namespace

bool agree_on_address(const Host& host, const AddressWish& wish, AgreedAddress& agreed,
                      std::string& error) {
  return Agreement(host, wish).run(agreed, error);
}

}  // namespace gex::net
