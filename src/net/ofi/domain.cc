#include "net/ofi/domain.h"

#include <string_view>
#include <utility>

namespace gex::net::ofi {

RmaMeans rma_means(const fi_info& info, Broken broken) noexcept {
  RmaMeans means;
  const Habits habits = habits_of(info);
  means.delivery_complete =
      (info.tx_attr->op_flags & FI_DELIVERY_COMPLETE) != 0 && !habits.ignores_delivery;
  if ((info.tx_attr->msg_order & (FI_ORDER_RAW | FI_ORDER_RMA_RAW)) != 0)
    means.max_ordered = info.ep_attr->max_order_raw_size;
  // Where bytes go by the processor, an answer for each put costs little.
  if (means.delivery_complete && reach_of(info.fabric_attr->prov_name) == Reach::network &&
      (broken & broken_write_order) == 0 && (info.tx_attr->msg_order & FI_ORDER_RMA_WAW) != 0)
    means.max_fenced = info.ep_attr->max_order_waw_size;
  means.available =
      (info.caps & FI_RMA) != 0 && (means.delivery_complete || means.max_ordered != 0);
  means.atomics = means.available && (info.caps & FI_ATOMIC) != 0 && !habits.fails_at_atomics;
  return means;
}

Habits habits_of(const fi_info& info) noexcept {
  return habits_of(std::string_view(info.fabric_attr->prov_name));
}

Domain::Domain(Info info, Broken broken, std::size_t ranks, std::size_t endpoints,
               std::string& error)
    : info_(std::move(info)), rma_(rma_means(*info_, broken)), ranks_(ranks) {
  // What the choice asked for as a default is set for each operation instead.
  info_->tx_attr->op_flags = 0;
  fid_fabric* fabric = nullptr;
  if (!took(fi_fabric(info_->fabric_attr, &fabric, nullptr), fabric, fabric_, "fi_fabric", error))
    return;
  // Some providers end the process at an error that they cannot report.
  fi_eq_attr events{};
  events.wait_obj = FI_WAIT_NONE;
  fid_eq* queue = nullptr;
  if (fi_eq_open(fabric, &events, &queue, nullptr) == 0) events_.reset(queue);
  fid_domain* domain = nullptr;
  if (!took(fi_domain(fabric, info_.get(), &domain, nullptr), domain, domain_, "fi_domain", error))
    return;
  fi_av_attr attributes{};
  attributes.type = info_->domain_attr->av_type;
  // This rank once more, for its trial.
  attributes.count = room_for_addresses(habits_of(*info_), ranks * endpoints + 1);
  fid_av* peers = nullptr;
  took(fi_av_open(domain, &attributes, &peers, nullptr), peers, peers_, "fi_av_open", error);
}

std::string Domain::take_device_error() const {
  if (!events_) return {};
  std::uint32_t event = 0;
  fi_eq_entry entry{};
  if (fi_eq_read(events_.get(), &event, &entry, sizeof entry, 0) != -FI_EAVAIL) return {};
  fi_eq_err_entry error{};
  if (fi_eq_readerr(events_.get(), &error, 0) < 0) return {};
  return error_text(error.err);
}

bool Domain::set_first_names(const Host& host, const std::byte* names, std::size_t stride,
                             std::string& error) {
  first_addresses_.emplace(host, peers_.get(), names, stride);
  return !habits_of(*info_).connects_at_insertion || first_addresses_->insert_all(error);
}

fi_addr_t Domain::insert(const std::byte* name) const {
  fi_addr_t address = FI_ADDR_NOTAVAIL;
  return fi_av_insert(peers_.get(), name, 1, &address, 0, nullptr) == 1 ? address
                                                                        : FI_ADDR_NOTAVAIL;
}

}  // namespace gex::net::ofi
