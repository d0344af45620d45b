#include "net/ofi/provider.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include "net/ofi/absence.h"
#include "net/ofi/domain.h"
#include "net/ofi/nearness.h"

namespace gex::net::ofi {

namespace {

/// A provider and what it is good for, best first. `net` (the tcp provider's native endpoints
/// before version 1.18 of libfabric, called developmental there), `sockets` (deprecated) and `shm`
/// (neighbors have shared memory of libgex's own) are used when asked for.
struct Candidate {
  const char* name;
  const char* praise;
};
constexpr const char* own_protocol = "a network interface with its own protocol";
constexpr Candidate candidates[] = {
    {"cxi", own_protocol},
    // On Omni-Path, which has verbs too.
    {"psm2", own_protocol},
    {"opx", own_protocol},
    {"verbs;ofi_rxm", own_protocol},
    {"efa", own_protocol},
    {"psm3", own_protocol},
    {"tcp", "reliable datagrams over TCP, natively"},
    {"tcp;ofi_rxm", "reliable datagrams over TCP"},
    {"udp;ofi_rxd", "reliable datagrams over UDP"},
};

bool is_ip_address(const std::string& text) {
  in6_addr address;
  return inet_pton(AF_INET, text.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

std::string address_text(const fi_info& info) {
  char text[INET6_ADDRSTRLEN] = "";
  const auto* any = static_cast<const sockaddr*>(info.src_addr);
  if (any == nullptr || (info.addr_format != FI_SOCKADDR && info.addr_format != FI_SOCKADDR_IN &&
                         info.addr_format != FI_SOCKADDR_IN6))
    return {};
  if (any->sa_family == AF_INET) {
    sockaddr_in address;
    std::memcpy(&address, any, sizeof address);
    inet_ntop(AF_INET, &address.sin_addr, text, sizeof text);
  } else if (any->sa_family == AF_INET6) {
    sockaddr_in6 address;
    std::memcpy(&address, any, sizeof address);
    inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof text);
  }
  return text;
}

/// Returns true if other hosts can reach this interface by its address.
bool is_reachable(const fi_info& info) {
  const std::string address = address_text(info);
  return !address.starts_with("127.") && address != "::1" && !address.starts_with("fe80:");
}

/// 0: a socket can have this address here and reach it; or an error number: an interface may be
/// down.
int try_address(const char* address) {
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  v4.sin_family = AF_INET;
  v6.sin6_family = AF_INET6;
  const bool is_v4 = inet_pton(AF_INET, address, &v4.sin_addr) == 1;
  if (!is_v4 && inet_pton(AF_INET6, address, &v6.sin6_addr) != 1) return EINVAL;
  const auto* const any =
      is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);
  const socklen_t size = is_v4 ? sizeof v4 : sizeof v6;
  const int trial = socket(any->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (trial < 0) return errno;
  int error = bind(trial, any, size) == 0 ? 0 : errno;
  // Some port, to which nothing is sent.
  v4.sin_port = v6.sin6_port = htons(9);
  if (error == 0 && connect(trial, any, size) != 0) error = errno;
  close(trial);
  return error;
}

/// The loopback's address; null: it has none, which libfabric would find out too late.
const char* loopback_address() {
  for (const char* const address : {"127.0.0.1", "::1"})
    if (try_address(address) == 0) return address;
  return nullptr;
}

std::string why_no_loopback() {
  const int error = try_address("127.0.0.1");
  if (error == EMFILE || error == ENFILE || error == EPERM || error == EACCES || error == ENOBUFS)
    return std::string(
               "the ranks are on one host, and no socket of its loopback interface can be "
               "made: ") +
           std::strerror(error);
  return "the ranks are on one host, and its loopback interface has neither 127.0.0.1 nor ::1 (ip "
         "link set lo up; GEX_OFI_INTERFACE names another)";
}

bool needs_loopback(const Wish& wish) {
  return wish.one_host && wish.interface.empty();
}

/// A provider is asked for one of these beside messages.
enum class Puts : std::uint8_t { delivered, ordered, none };
struct Extent {
  Puts puts;
  bool atomics;
  std::uint64_t order;  ///< of reads, or puts, behind puts
};
/// Best first. Some providers offer read after write for all operations alone.
constexpr Extent extents[] = {{Puts::delivered, true, FI_ORDER_RMA_WAW},
                              {Puts::delivered, true, 0},
                              {Puts::delivered, false, FI_ORDER_RMA_WAW},
                              {Puts::delivered, false, 0},
                              {Puts::ordered, true, FI_ORDER_RMA_RAW},
                              {Puts::ordered, true, FI_ORDER_RAW},
                              {Puts::ordered, false, FI_ORDER_RMA_RAW},
                              {Puts::ordered, false, FI_ORDER_RAW},
                              {Puts::none, false, 0}};

/// Returns true if the provider keeps what it was asked for: some echo a flag, or grant an order
/// for transfers of no size.
bool has_extent(const fi_info& info, const Extent& extent) {
  if (extent.puts == Puts::none) return true;
  const RmaMeans means = rma_means(info);
  return extent.puts == Puts::delivered ? means.delivery_complete : means.max_ordered != 0;
}

/// Returns true if what a provider offers to this extent may be relied on, and is of use.
bool is_wanted(const Extent& extent, Reach reach, Broken broken) {
  const bool fences = extent.puts == Puts::delivered && extent.order != 0;
  if (fences && (reach != Reach::network || (broken & broken_write_order) != 0)) return false;
  if (extent.puts == Puts::delivered) return (broken & broken_delivery) == 0;
  return extent.puts == Puts::none || (broken & broken_order) == 0;
}

/// Demands beside the extent.
struct Manner {
  bool ordered_messages;    ///< the last message of a rank that leaves comes last
  bool local_registration;  ///< offered; some providers then insist on it, and cache less
};
/// Best first.
constexpr Manner manners[] = {{true, false}, {false, false}, {true, true}, {false, true}};

Info make_hints(const std::string& provider, const Wish& wish, const Extent& extent,
                const Manner& manner) {
  Info hints(fi_allocinfo());
  if (!hints) return hints;
  hints->caps = FI_MSG | FI_MULTI_RECV;
  if (extent.puts != Puts::none) hints->caps |= FI_RMA;
  if (extent.atomics) hints->caps |= FI_ATOMIC;
  if (extent.puts == Puts::delivered) hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
  const std::uint64_t order = extent.order | (manner.ordered_messages ? FI_ORDER_SAS : 0);
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = order;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->fabric_attr->prov_name = strdup(provider.c_str());
  fi_domain_attr& domain = *hints->domain_attr;
  // The modes that this conduit accepts; the provider answers which of them it needs. FI_MR_BASIC
  // goes with none of them, and is asked for alone.
  domain.mr_mode = wish.basic_registration
                       ? basic_registration_mode
                       : FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT |
                             (manner.local_registration ? FI_MR_LOCAL : 0);
  if (wish.devices) {
    hints->caps |= FI_HMEM;
    domain.mr_mode |= FI_MR_HMEM;
  }
  domain.threading = wish.threaded ? FI_THREAD_SAFE : FI_THREAD_DOMAIN;
  // Ranks of a client without threads have none of ours either.
  domain.control_progress = FI_PROGRESS_MANUAL;
  domain.data_progress = FI_PROGRESS_MANUAL;
  // A receiver without buffers holds its senders back instead of losing messages.
  domain.resource_mgmt = FI_RM_ENABLED;
  return hints;
}

/// Returns true if `name` is what was asked for: itself, or layered over it.
bool is_named(std::string_view name, std::string_view asked) {
  return name == asked || (name.starts_with(asked) && name.substr(asked.size()).starts_with(";"));
}

/// Returns true if the user's name of an interface means this one. Some providers name a domain
/// after its device with something behind it ("rdmap0s6-rdm").
bool is_interface(const fi_info& info, std::string_view asked) {
  const std::string_view domain = info.domain_attr->name;
  if (domain == asked ||
      (domain.starts_with(asked) && domain.substr(asked.size()).starts_with("-")))
    return true;
  return info.nic != nullptr && info.nic->device_attr != nullptr &&
         info.nic->device_attr->name != nullptr && asked == info.nic->device_attr->name;
}

/// Returns the interfaces that a provider offers to this extent, as libfabric lists them.
std::vector<Info> interfaces_of(const std::string& provider, const Wish& wish, bool exactly,
                                const Extent& extent, const Manner& manner) {
  std::vector<Info> found;
  const Reach reach = reach_of(provider);
  const bool is_agreed = reach == Reach::sockets && !wish.address.empty();
  const bool by_address = is_agreed || is_ip_address(wish.interface);
  const char* node = nullptr;
  if (is_agreed)
    node = wish.address.c_str();
  else if (by_address)
    node = wish.interface.c_str();
  else if (reach == Reach::sockets && needs_loopback(wish))
    node = loopback_address();
  if (reach == Reach::sockets && needs_loopback(wish) && node == nullptr) return found;
  const Info hints = make_hints(provider, wish, extent, manner);
  fi_info* list = nullptr;
  if (!hints || fi_getinfo(asked_version(fi_version()), node, nullptr,
                           node == nullptr ? 0 : FI_SOURCE, hints.get(), &list) != 0)
    return found;
  const Info all(list);
  for (const fi_info* info = list; info != nullptr; info = info->next) {
    const std::string_view name = info->fabric_attr->prov_name;
    if (exactly ? name != provider : !is_named(name, provider)) continue;
    if (!wish.interface.empty() && !by_address && !is_interface(*info, wish.interface)) continue;
    if (node == nullptr && wish.interface.empty() && !is_reachable(*info)) continue;
    const Way way = way_of(*info);
    if (std::find(wish.refused.begin(), wish.refused.end(), way) != wish.refused.end()) continue;
    if (has_extent(*info, extent)) found.emplace_back(fi_dupinfo(info));
  }
  return found;
}

/// Leaves the interfaces of one provider and fabric, which is the same on all ranks that have it,
/// in the order in which they are to be tried.
void settle(std::vector<Info>& interfaces, const Wish& wish) {
  if (reach_of(interfaces.front()->fabric_attr->prov_name) != Reach::network) {
    interfaces.resize(1);
    return;
  }
  const auto fabric = [](const Info& one) { return way_of(*one).fabric; };
  const std::string provider = interfaces.front()->fabric_attr->prov_name;
  std::string first = fabric(interfaces.front());
  for (const Info& one : interfaces) first = std::min(first, fabric(one));
  // Some providers list an interface once for each protocol or format of tags that it has, best
  // first, and endpoints of different ones do not reach each other.
  std::set<std::string> seen;
  std::erase_if(interfaces, [&](const Info& one) {
    return fabric(one) != first || provider != one->fabric_attr->prov_name ||
           !seen.insert(one->domain_attr->name).second;
  });
  if (interfaces.size() > 1) order_by_nearness(interfaces, own_node(), wish.turn);
}

/// Returns the interfaces of the best way that a provider offers for exactly this wish.
std::vector<Info> best_interfaces_of(const std::string& provider, const Wish& wish, bool exactly) {
  // Most providers are not there, which one question with the fewest demands shows.
  if (interfaces_of(provider, wish, exactly, std::end(extents)[-1], std::end(manners)[-1]).empty())
    return {};
  for (const Extent& extent : extents) {
    if (!is_wanted(extent, reach_of(provider), wish.broken)) continue;
    for (const Manner& manner : manners) {
      std::vector<Info> found = interfaces_of(provider, wish, exactly, extent, manner);
      if (found.empty()) continue;
      settle(found, wish);
      return found;
    }
  }
  return {};
}

/// Returns the interfaces of the best way that a provider offers, in the order in which they are to
/// be tried; `exactly` leaves out what is layered over it.
std::vector<Info> interfaces_of(const std::string& provider, const Wish& wish, bool exactly) {
  if (wish.devices) {
    // What reaches devices is worth more than the rest of what is asked for. By sockets their
    // memory would be copied, as it is without.
    if (reach_of(provider) == Reach::network && !wish.basic_registration) {
      std::vector<Info> found = best_interfaces_of(provider, wish, exactly);
      if (!found.empty()) return found;
    }
    Wish without = wish;
    without.devices = false;
    return best_interfaces_of(provider, without, exactly);
  }
  return best_interfaces_of(provider, wish, exactly);
}
std::string where(const Wish& wish) {
  return wish.interface.empty() ? std::string() : " over " + wish.interface;
}

/// Returns why the provider that the user names has no interface here.
std::string why_none(const Wish& wish) {
  Wish anywhere = wish;
  anywhere.interface.clear();
  std::string others;
  if (!wish.interface.empty())
    for (const Info& one : interfaces_of(wish.provider, anywhere, false))
      others.append(others.empty() ? "" : ", ").append(one->domain_attr->name);
  if (!others.empty())
    return " has no interface " + wish.interface + " (GEX_OFI_INTERFACE; it has " + others + ")";
  return ": " + why_absent(wish.provider, false, this_machine());
}

/// The choice of the first of these interfaces.
Choice choice_of(std::vector<Info> interfaces, const Wish& wish, std::string reason) {
  if (interfaces.size() > 1)
    reason += ", the nearest of " + std::to_string(interfaces.size()) + " interfaces";
  Choice choice{.info = std::move(interfaces.front()),
                .others = {},
                .reason = std::move(reason),
                .broken = wish.broken};
  for (std::size_t i = 1; i < interfaces.size(); ++i)
    choice.others.push_back(std::move(interfaces[i]));
  return choice;
}

/// Returns how many ranks of this host come before this one.
std::uint32_t turn_of(const Host& host) {
  std::uint32_t before = 0;
  if (host.host_of != nullptr)
    for (std::uint32_t rank = 0; rank < host.rank; ++rank)
      before += host.host_of(rank) == host.host_of(host.rank) ? 1 : 0;
  return before;
}

std::string text_of(const Host& host, const char* variable) {
  const char* text = host.env_text(variable);
  return text == nullptr ? std::string() : text;
}

}  // namespace

Wish wish_of(const Host& host, bool one_host) {
  return {.provider = text_of(host, "GEX_OFI_PROVIDER"),
          .interface = text_of(host, "GEX_OFI_INTERFACE"),
          .address = {},
          .one_host = one_host,
          .threaded = host.threaded != 0,
          .basic_registration = host.env_integer("GEX_OFI_REGISTER_BASIC") != 0,
          .devices = device_classes_of(host) != 0,
          .turn = turn_of(host),
          .refused = {},
          .broken = 0};
}

std::uint64_t registration_mode(const fi_info& info) {
  const auto mode = static_cast<std::uint64_t>(info.domain_attr->mr_mode);
  return mode == basic_registration_mode ? FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY
                                         : mode;
}

Way way_of(const fi_info& info) {
  // Between sockets a fabric is a subnet, and routes lead from one to another.
  const char* fabric = has_own_interface(info) ? info.fabric_attr->name : nullptr;
  const auto shown = [](const char* name, std::size_t room) {
    return std::string(name == nullptr ? "" : name).substr(0, room - 1);
  };
  return {shown(info.fabric_attr->prov_name, Way::provider_room), shown(fabric, Way::fabric_room)};
}

std::size_t preference_of(std::string_view provider) {
  std::size_t place = 0;
  for (const Candidate& candidate : candidates) {
    if (provider == candidate.name) break;
    ++place;
  }
  return place;
}

std::string name_of(const fi_info& info) {
  std::string name = info.fabric_attr->prov_name;
  name.append(", interface ").append(info.domain_attr->name);
  const std::string address = address_text(info);
  if (!address.empty()) name.append(" (").append(address).append(")");
  return name;
}

bool is_over_sockets(const fi_info& info) {
  return reach_of(info.fabric_attr->prov_name) == Reach::sockets;
}

bool has_own_interface(const fi_info& info) {
  return reach_of(info.fabric_attr->prov_name) == Reach::network;
}

Choice choose(const Wish& wish) {
  if (!wish.one_host && reach_of(wish.provider) == Reach::memory)
    return {nullptr,
            {},
            "libfabric's " + wish.provider + " reaches one machine, and the ranks are on several"};
  if (!wish.provider.empty()) {
    std::vector<Info> found = interfaces_of(wish.provider, wish, false);
    if (found.empty() && reach_of(wish.provider) == Reach::sockets && needs_loopback(wish) &&
        loopback_address() == nullptr)
      return {nullptr, {}, why_no_loopback()};
    if (found.empty()) return {nullptr, {}, "GEX_OFI_PROVIDER=" + wish.provider + why_none(wish)};
    return choice_of(std::move(found), wish, "GEX_OFI_PROVIDER");
  }
  for (const Candidate& candidate : candidates) {
    // A job on one host keeps off networks that others can reach, unless an interface is asked for.
    if (wish.one_host && reach_of(candidate.name) == Reach::network && wish.interface.empty())
      continue;
    std::vector<Info> found = interfaces_of(candidate.name, wish, true);
    if (found.empty()) continue;
    std::string reason = std::string("the best there is") + where(wish) + ": " + candidate.praise;
    if (wish.one_host && wish.interface.empty())
      reason.append("; on the loopback, because all ranks are on one host");
    if (!wish.one_host && reach_of(candidate.name) == Reach::sockets && wish.interface.empty() &&
        wish.address.empty())
      reason.append("; in a job at addresses by which its hosts reach each other");
    return choice_of(std::move(found), wish, std::move(reason));
  }
  if (needs_loopback(wish) && loopback_address() == nullptr)
    return {nullptr, {}, why_no_loopback()};
  return {nullptr, {}, "libfabric has no provider" + where(wish) + " with what this conduit needs"};
}

std::vector<std::string> known_providers() {
  std::vector<std::string> names;
  for (const Candidate& candidate : candidates) names.emplace_back(candidate.name);
  for (const char* name : {"net", "sockets", "shm"}) names.emplace_back(name);
  return names;
}

std::vector<Info> usable_interfaces(const std::string& provider, const Wish& wish) {
  return interfaces_of(provider, wish, true);
}

}  // namespace gex::net::ofi
