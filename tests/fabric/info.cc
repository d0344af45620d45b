// The answer of fi_getinfo: what the preset has, if it has all that the hints ask for.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>

#include "address.h"
#include "knobs.h"
#include "provider.h"

namespace gexsim {

namespace {

struct Word {
  std::string_view word;
  std::uint64_t bit;
};

constexpr Word orders[] = {
    {"rar", FI_ORDER_RAR},
    {"raw", FI_ORDER_RAW},
    {"ras", FI_ORDER_RAS},
    {"war", FI_ORDER_WAR},
    {"waw", FI_ORDER_WAW},
    {"was", FI_ORDER_WAS},
    {"sar", FI_ORDER_SAR},
    {"saw", FI_ORDER_SAW},
    {"sas", FI_ORDER_SAS},
    {"rma_rar", FI_ORDER_RMA_RAR},
    {"rma_raw", FI_ORDER_RMA_RAW},
    {"rma_war", FI_ORDER_RMA_WAR},
    {"rma_waw", FI_ORDER_RMA_WAW},
    {"atomic_rar", FI_ORDER_ATOMIC_RAR},
    {"atomic_raw", FI_ORDER_ATOMIC_RAW},
    {"atomic_war", FI_ORDER_ATOMIC_WAR},
    {"atomic_waw", FI_ORDER_ATOMIC_WAW},
};
constexpr Word modes[] = {
    {"local", FI_MR_LOCAL},       {"virt_addr", FI_MR_VIRT_ADDR}, {"allocated", FI_MR_ALLOCATED},
    {"prov_key", FI_MR_PROV_KEY}, {"endpoint", FI_MR_ENDPOINT},
};
/// The number of the first provider's own protocol; each further one has the next number.
constexpr std::uint32_t first_protocol = FI_PROV_SPECIFIC;
constexpr std::uint64_t basic_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;

template <std::size_t N>
std::uint64_t bits_of(std::string_view text, const Word (&table)[N]) {
  std::uint64_t bits = 0;
  for (const std::string_view word : words_of(text)) {
    const auto* row = std::find_if(std::begin(table), std::end(table),
                                   [&](const Word& one) { return one.word == word; });
    if (row == std::end(table)) {
      std::fprintf(stderr, "gexsim: no bit is called '%.*s'\n", static_cast<int>(word.size()),
                   word.data());
      _exit(99);
    }
    bits |= row->bit;
  }
  return bits;
}

/// The name with a number in it, at the %.
std::string numbered(std::string name, int number) {
  const std::size_t place = name.find('%');
  return place == std::string::npos ? name : name.replace(place, 1, std::to_string(number));
}

std::string nic_name(int nic) {
  const std::string& name = knobs().nic_name;
  return numbered(name.find('%') == std::string::npos ? name + "%" : name, nic);
}

/// The first demand of the hints that the provider does not meet; null: it meets all.
class Negotiation {
 public:
  Negotiation(std::uint32_t version, const fi_info* hints) : version_(version), hints_(hints) {}

  /// Null: refused.
  fi_info* answer(int nic, std::uint32_t kind, const char* node) {
    fi_info* info = fi_allocinfo();
    if (info == nullptr) return nullptr;
    const bool agreed = capabilities(*info, kind) && sizes(*info) && order(*info) &&
                        domain(*info, nic) && place(*info, nic, node);
    info->ep_attr->protocol = first_protocol + kind;
    if (agreed) return info;
    fi_freeinfo(info);
    return nullptr;
  }

 private:
  bool capabilities(fi_info& info, std::uint32_t kind) const {
    const std::uint64_t directions =
        FI_READ | FI_WRITE | FI_RECV | FI_SEND | FI_REMOTE_READ | FI_REMOTE_WRITE;
    std::uint64_t offered =
        FI_MSG | FI_RMA | directions | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_SOURCE;
    if (knobs().multi_recv != 0) offered |= FI_MULTI_RECV;
    if (knobs().atomics != "none") offered |= FI_ATOMIC;
    if (!knobs().hmem.empty() && (knobs().hmem_kind == Knobs::max || knobs().hmem_kind == kind))
      offered |= FI_HMEM;
    info.caps = offered;
    if (hints_ != nullptr) {
      if ((hints_->caps & ~offered) != 0) return false;
      if (hints_->caps != 0) info.caps = hints_->caps | directions | FI_LOCAL_COMM | FI_REMOTE_COMM;
      if (knobs().strict_tx_caps != 0 && hints_->tx_attr != nullptr && hints_->caps != 0 &&
          (hints_->tx_attr->caps & ~hints_->caps) != 0)
        return false;
    }
    std::uint64_t mode = 0;
    for (const std::string_view word : words_of(knobs().required_mode))
      mode |= word == "context" ? FI_CONTEXT : FI_CONTEXT2;
    if (hints_ != nullptr && (mode & ~hints_->mode) != 0) return false;
    info.mode = mode;
    info.ep_attr->type = endpoint_type();
    if (hints_ != nullptr && hints_->ep_attr != nullptr && hints_->ep_attr->type != FI_EP_UNSPEC &&
        hints_->ep_attr->type != endpoint_type())
      return false;
    info.tx_attr->caps = info.caps & (FI_MSG | FI_RMA | FI_ATOMIC | FI_READ | FI_WRITE | FI_SEND);
    info.rx_attr->caps = info.caps & (FI_MSG | FI_RMA | FI_ATOMIC | FI_RECV | FI_MULTI_RECV |
                                      FI_REMOTE_READ | FI_REMOTE_WRITE);
    info.tx_attr->mode = info.rx_attr->mode = mode;
    return true;
  }

  bool sizes(fi_info& info) const {
    const Knobs& own = knobs();
    info.tx_attr->inject_size = own.inject;
    info.tx_attr->size = own.tx_reported != 0 ? own.tx_reported : own.tx_size;
    info.tx_attr->iov_limit = own.iov;
    info.tx_attr->rma_iov_limit = own.rma_iov;
    info.rx_attr->size = own.rx_size;
    info.rx_attr->iov_limit = own.iov;
    info.ep_attr->max_msg_size = own.max_message;
    info.ep_attr->tx_ctx_cnt = info.ep_attr->rx_ctx_cnt = 1;
    if (hints_ == nullptr) return true;
    const auto fits = [](std::uint64_t asked, std::uint64_t has) { return asked <= has; };
    if (hints_->tx_attr != nullptr && !(fits(hints_->tx_attr->inject_size, own.inject) &&
                                        fits(hints_->tx_attr->size, info.tx_attr->size) &&
                                        fits(hints_->tx_attr->iov_limit, own.iov) &&
                                        fits(hints_->tx_attr->rma_iov_limit, own.rma_iov)))
      return false;
    if (hints_->rx_attr != nullptr && !fits(hints_->rx_attr->size, own.rx_size)) return false;
    if (hints_->tx_attr != nullptr && hints_->tx_attr->size != 0)
      info.tx_attr->size = hints_->tx_attr->size;
    if (hints_->rx_attr != nullptr && hints_->rx_attr->size != 0)
      info.rx_attr->size = hints_->rx_attr->size;
    return hints_->ep_attr == nullptr || fits(hints_->ep_attr->max_msg_size, own.max_message);
  }

  bool order(fi_info& info) const {
    const Knobs& own = knobs();
    std::uint64_t offered = order_of(own.orders);
    std::uint64_t asked = 0, flags = 0;
    if (hints_ != nullptr && hints_->tx_attr != nullptr) {
      asked |= hints_->tx_attr->msg_order;
      flags |= hints_->tx_attr->op_flags;
    }
    if (hints_ != nullptr && hints_->rx_attr != nullptr) asked |= hints_->rx_attr->msg_order;
    if ((asked & ~offered) != 0) return false;
    if (own.delivery == "refused" && (flags & FI_DELIVERY_COMPLETE) != 0) return false;
    info.tx_attr->op_flags = flags;
    info.tx_attr->msg_order = info.rx_attr->msg_order = own.orders_as_asked != 0 ? asked : offered;
    const bool is_void =
        own.max_order == 0 || (own.atomics_void_order != 0 && (info.caps & FI_ATOMIC) != 0);
    const std::uint64_t extent = is_void ? 0 : std::min(own.max_order, own.max_message);
    const auto granted = [&](std::uint64_t bits) {
      return (info.tx_attr->msg_order & bits) != 0 ? extent : 0;
    };
    info.ep_attr->max_order_raw_size = granted(FI_ORDER_RAW | FI_ORDER_RMA_RAW);
    info.ep_attr->max_order_war_size = granted(FI_ORDER_WAR | FI_ORDER_RMA_WAR);
    info.ep_attr->max_order_waw_size = granted(FI_ORDER_WAW | FI_ORDER_RMA_WAW);
    return true;
  }

  bool registration(fi_domain_attr& domain) const {
    const Knobs& own = knobs();
    std::uint64_t required = bits_of(own.mr_mode, modes);
    const bool asks = hints_ != nullptr && hints_->domain_attr != nullptr;
    const auto asked = asks ? static_cast<std::uint64_t>(hints_->domain_attr->mr_mode) : UINT64_MAX;
    if (asked == 1) {  // FI_MR_BASIC, which newer headers deprecate
      if ((required & ~basic_mode) != 0) return false;
      domain.mr_mode = 1;
      return true;
    }
    // Asked for so, local memory of devices needs descriptors.
    if (hints_ != nullptr && (hints_->caps & FI_HMEM) != 0) required |= FI_MR_HMEM;
    if ((required & ~asked) != 0) return false;
    if (asks) required |= asked & bits_of(own.mr_if_offered, modes);
    domain.mr_mode = static_cast<int>(required);
    return true;
  }

  bool domain(fi_info& info, int nic) const {
    const Knobs& own = knobs();
    fi_domain_attr& domain = *info.domain_attr;
    const fi_domain_attr* asked = hints_ != nullptr ? hints_->domain_attr : nullptr;
    if (!registration(domain)) return false;
    domain.name = strdup(nic_name(nic).c_str());
    if (asked != nullptr && asked->name != nullptr && std::strcmp(asked->name, domain.name) != 0)
      return false;
    domain.threading = asked != nullptr && asked->threading != FI_THREAD_UNSPEC ? asked->threading
                       : own.domain_thread_only != 0                            ? FI_THREAD_DOMAIN
                                                                                : FI_THREAD_SAFE;
    if (own.domain_thread_only != 0 && domain.threading == FI_THREAD_SAFE) return false;
    domain.control_progress = domain.data_progress = FI_PROGRESS_MANUAL;
    if (asked != nullptr && own.progress == "manual" &&
        (asked->data_progress == FI_PROGRESS_AUTO || asked->control_progress == FI_PROGRESS_AUTO))
      return false;
    domain.resource_mgmt = FI_RM_ENABLED;
    if (own.rm == "echo")
      domain.resource_mgmt = asked != nullptr && asked->resource_mgmt != FI_RM_UNSPEC
                                 ? asked->resource_mgmt
                                 : FI_RM_DISABLED;
    domain.av_type =
        asked != nullptr && asked->av_type != FI_AV_UNSPEC ? asked->av_type : FI_AV_TABLE;
    domain.mr_key_size = own.key_size;
    domain.cq_data_size = own.cq_data;
    domain.cq_cnt = 32;
    domain.ep_cnt = own.endpoints;
    domain.tx_ctx_cnt = domain.rx_ctx_cnt = domain.max_ep_tx_ctx = domain.max_ep_rx_ctx = 1;
    domain.mr_iov_limit = 1;
    domain.mr_cnt = own.mr_count;
    domain.caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
    return true;
  }

  bool place(fi_info& info, int nic, const char* node) const {
    const std::uint16_t fabric = fabric_of(nic);
    info.fabric_attr->name = strdup(numbered(knobs().fabric_name, fabric).c_str());
    const fi_fabric_attr* asked = hints_ != nullptr ? hints_->fabric_attr : nullptr;
    if (asked != nullptr && asked->name != nullptr &&
        std::strcmp(asked->name, info.fabric_attr->name) != 0)
      return false;
    if (const std::string core = core_name(); !core.empty())
      info.fabric_attr->prov_name = strdup(core.c_str());
    const AddressFormat& format = address_format();
    info.addr_format = format.number;
    if (hints_ != nullptr && hints_->addr_format != FI_FORMAT_UNSPEC &&
        hints_->addr_format != format.number &&
        !(hints_->addr_format == FI_SOCKADDR &&
          (format.number == FI_SOCKADDR_IN || format.number == FI_SOCKADDR_IN6)))
      return false;
    if (format.number == FI_SOCKADDR_IN) {
      sockaddr_in own{};
      own.sin_family = AF_INET;
      own.sin_addr.s_addr = ip_of(nic);
      in_addr named{};
      if (node != nullptr && inet_pton(AF_INET, node, &named) == 1) {
        // Every interface is also the loopback's.
        const bool is_loopback = ntohl(named.s_addr) >> 24 == IN_LOOPBACKNET;
        if (!is_loopback && named.s_addr != own.sin_addr.s_addr) return false;
        own.sin_addr = named;
      }
      info.src_addr = std::malloc(sizeof own);
      info.src_addrlen = sizeof own;
      std::memcpy(info.src_addr, &own, sizeof own);
    }
    if (format.number == FI_SOCKADDR_IN6) {
      const sockaddr_in6 own = any_address_of(nic);
      info.src_addr = std::malloc(sizeof own);
      info.src_addrlen = sizeof own;
      std::memcpy(info.src_addr, &own, sizeof own);
    }
    if (knobs().nic_pci != 0) add_device(info, nic);
    info.fabric_attr->api_version = version_;
    return true;
  }

  /// The device's place on the bus, by which a client finds what is near.
  static void add_device(fi_info& info, int nic);

  std::uint32_t version_;
  const fi_info* hints_;
};

void Negotiation::add_device(fi_info& info, int nic) {
  auto* device = static_cast<fid_nic*>(std::calloc(1, sizeof(fid_nic)));
  static fi_ops operations = [] {
    fi_ops made{};
    made.size = sizeof made;
    made.close = [](fid* object) {
      auto* closed = reinterpret_cast<fid_nic*>(object);
      if (closed->device_attr != nullptr) std::free(closed->device_attr->name);
      if (closed->link_attr != nullptr) {
        std::free(closed->link_attr->address);
        std::free(closed->link_attr->network_type);
      }
      std::free(closed->device_attr);
      std::free(closed->bus_attr);
      std::free(closed->link_attr);
      std::free(closed);
      return 0;
    };
    made.control = [](fid* object, int command, void* argument) {
      if (command != FI_DUP) return -FI_ENOSYS;
      const auto* from = reinterpret_cast<const fid_nic*>(object);
      auto* copy = static_cast<fid_nic*>(std::calloc(1, sizeof(fid_nic)));
      copy->fid = from->fid;
      copy->device_attr = static_cast<fi_device_attr*>(std::calloc(1, sizeof(fi_device_attr)));
      copy->device_attr->name = strdup(from->device_attr->name);
      copy->bus_attr = static_cast<fi_bus_attr*>(std::calloc(1, sizeof(fi_bus_attr)));
      *copy->bus_attr = *from->bus_attr;
      copy->link_attr = static_cast<fi_link_attr*>(std::calloc(1, sizeof(fi_link_attr)));
      copy->link_attr->state = from->link_attr->state;
      copy->link_attr->speed = from->link_attr->speed;
      *static_cast<fid_nic**>(argument) = copy;
      return 0;
    };
    made.bind = [](fid*, fid*, std::uint64_t) { return -FI_ENOSYS; };
    return made;
  }();
  device->fid.fclass = FI_CLASS_NIC;
  device->fid.ops = &operations;
  device->device_attr = static_cast<fi_device_attr*>(std::calloc(1, sizeof(fi_device_attr)));
  device->device_attr->name = strdup(info.domain_attr->name);
  device->bus_attr = static_cast<fi_bus_attr*>(std::calloc(1, sizeof(fi_bus_attr)));
  device->bus_attr->bus_type = FI_BUS_PCI;
  device->bus_attr->attr.pci = {.domain_id = 0,
                                .bus_id = static_cast<std::uint8_t>(0x10 * (nic + 1)),
                                .device_id = 0,
                                .function_id = 0};
  device->link_attr = static_cast<fi_link_attr*>(std::calloc(1, sizeof(fi_link_attr)));
  device->link_attr->state = FI_LINK_UP;
  info.nic = device;
}

bool is_reported() {
  if (knobs().absent != 0) return false;
  rlimit limit{};
  return knobs().memlock == 0 ||
         (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur >= knobs().memlock);
}

}  // namespace

std::uint64_t order_of(std::string_view words) {
  if (words != "all") return bits_of(words, orders);
  std::uint64_t all = 0;
  for (const Word& row : orders) all |= row.bit;
  return all;
}

fi_ep_type endpoint_type() {
  return knobs().connected != 0 ? FI_EP_MSG : FI_EP_RDM;
}

int nic_of(const char* domain_name) {
  for (int nic = 0; nic < static_cast<int>(knobs().nics); ++nic)
    if (domain_name != nullptr && nic_name(nic) == domain_name) return nic;
  return -1;
}

std::uint16_t fabric_of(int nic) {
  return static_cast<std::uint16_t>(static_cast<std::uint64_t>(nic) %
                                    std::max<std::uint64_t>(knobs().fabrics, 1));
}

std::uint16_t reach_of(int nic, std::uint32_t protocol) {
  // Read once, as the variable is by those that have it.
  static const std::uint16_t identity = [] {
    const std::string& variable = knobs().identity;
    const char* const value = variable.empty() ? nullptr : std::getenv(variable.c_str());
    return static_cast<std::uint16_t>(
        value == nullptr ? 0 : std::hash<std::string_view>{}(value)&0xff00U);
  }();
  constexpr std::uint32_t max_fabrics = 32;
  return static_cast<std::uint16_t>(fabric_of(nic) + max_fabrics * (protocol - first_protocol) +
                                    identity);
}

int get_info(std::uint32_t version, const char* node, const char* /*service*/,
             std::uint64_t /*flags*/, const fi_info* hints, fi_info** info) {
  if (!is_reported()) return -FI_ENODATA;
  fi_info* first = nullptr;
  fi_info** end = &first;
  const int count = static_cast<int>(knobs().nics);
  for (int i = 0; i < count; ++i) {
    const int nic = knobs().nics_reversed != 0 ? count - 1 - i : i;
    for (std::uint32_t kind = 0; kind < knobs().kinds; ++kind) {
      fi_info* one = Negotiation(version, hints).answer(nic, kind, node);
      if (one == nullptr) continue;
      *end = one;
      end = &one->next;
    }
  }
  if (first == nullptr) return -FI_ENODATA;
  *info = first;
  return 0;
}

}  // namespace gexsim
