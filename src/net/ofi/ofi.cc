// The conduit's table, and what happens when a job joins and leaves.

#include <gex/plugin/all_ranks.h>
#include <gex/plugin/table.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "net/kit/device_capabilities.h"
#include "net/ofi/agreement.h"
#include "net/ofi/default_variable.h"
#include "net/ofi/device_interfaces.h"
#include "net/ofi/domain.h"
#include "net/ofi/endpoint.h"
#include "net/ofi/inventory.h"
#include "net/ofi/job_variables.h"
#include "net/ofi/lanes.h"
#include "net/ofi/network.h"
#include "net/ofi/one_sided.h"
#include "net/ofi/provider.h"
#include "net/ofi/registration.h"
#include "net/ofi/scratch.h"
#include "net/ofi/segments.h"
#include "net/ofi/trial.h"

namespace gex::net::ofi {

namespace {

bool registers_local_always(const Host& host) {
  return host.env_integer("GEX_OFI_REGISTER_LOCAL") != 0;
}

/// The provider over which this process has joined a job.
std::string joined_over;

/// This process's end of the network, in the order in which its parts stand on one another.
class Ofi {
 public:
  static std::unique_ptr<Ofi> attach(const Host& host, Limits& limits);
  static void describe(const Host& host,
                       void (*fact)(void* context, const char* name, const char* text),
                       void* context);
  static Standing standing(const Host& host, bool several_hosts,
                           void (*reason)(void* context, const char* text), void* context);

  /// Opens the interface that was chosen, or one of the others; `error` is set if none can be.
  Ofi(Choice choice, const Host& host, std::string& error);

  const Domain& domain() const noexcept { return *domain_; }
  const Endpoint& first_endpoint() noexcept { return *lanes_->first().endpoint; }
  const OneSidedExtent& extent() const noexcept { return extent_; }
  /// The result of its trial; `lost_atomics`: the names of operations that are not used.
  Broken broken() const noexcept { return broken_; }
  const std::string& lost_atomics() const noexcept { return lost_atomics_; }
  Place scratch() const noexcept { return scratch_ ? scratch_->place_of(scratch_at) : Place{}; }

  SendResult send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces) {
    return lanes_->send(channel, peer, pieces);
  }
  std::size_t poll(std::uint32_t channels, std::size_t max) { return lanes_->poll(channels, max); }
  std::int32_t prepare_wait(std::span<int> descriptors, std::uint64_t& limit_ns) {
    return lanes_->prepare_wait(descriptors, limit_ns);
  }
  void leave() { lanes_->leave(); }
  void* buffer(Channel channel, std::uint32_t peer, std::size_t size) {
    return lanes_->buffer(channel, peer, size);
  }
  void release(void* payload) { lanes_->release(payload); }
  void enter_lane(std::uint32_t number) { lanes_->enter(number); }
  void transport(std::uint32_t /*peer*/, const char** name, const char** reason) const {
    *name = way_.c_str();
    *reason = choice_reason_.c_str();
  }

  bool register_segment(const SegmentMemory& memory, void* key) {
    return extent_.available != 0 && segments_->add(memory, *static_cast<Segments::Key*>(key));
  }
  void deregister_segment(const void* key) {
    segments_->remove(*static_cast<const Segments::Key*>(key));
  }
  SendResult put(const Remote& remote, const void* local, std::size_t size, void* done,
                 void* local_done) {
    return lanes_->for_transfers(remote.peer).one_sided.put(remote, local, size, done, local_done);
  }
  SendResult get(const Remote& remote, void* local, std::size_t size, void* done) {
    return lanes_->for_transfers(remote.peer).one_sided.get(remote, local, size, done);
  }
  SendResult put_pieces(const Remote& remote, std::span<const RemotePiece> to,
                        std::span<const LocalPiece> from, void* done, void* local_done) {
    return lanes_->for_transfers(remote.peer)
        .one_sided.put_pieces(remote, to, from, done, local_done);
  }
  SendResult get_pieces(const Remote& remote, std::span<const RemotePiece> from,
                        std::span<const LocalPiece> to, void* done) {
    return lanes_->for_transfers(remote.peer).one_sided.get_pieces(remote, from, to, done);
  }
  std::uint32_t atomic_operations(std::uint32_t data_type) const {
    return extent_.atomics.on(data_type);
  }
  SendResult atomic(const Remote& remote, std::uint32_t data_type, std::uint32_t operation,
                    const void* operand1, const void* operand2, void* result, void* done) {
    return lanes_->for_transfers(remote.peer)
        .one_sided.atomic(remote, data_type, operation, operand1, operand2, result, done);
  }

 private:
  /// Offset in the scratch page to which peers write, once the provider has been tried on the page.
  static constexpr std::size_t scratch_at = Scratch::size - 64;

  bool open(Info info, Broken known, const Host& host, std::string& error);
  void try_provider(const Endpoint& first);

  std::string way_;            ///< "verbs;ofi_rxm/mlx5_0", "tcp;ofi_rxm"
  std::string choice_reason_;  ///< why that one
  std::unique_ptr<Domain> domain_;
  OneSidedExtent extent_{};  ///< what all ranks have agreed on
  Broken broken_ = 0;
  std::string lost_atomics_;
  std::optional<Registrar> registrar_;
  std::optional<Scratch> scratch_;
  std::optional<Trial> trial_;
  std::optional<Segments> segments_;
  std::optional<Lanes> lanes_;
};

Ofi::Ofi(Choice choice, const Host& host, std::string& error)
    : choice_reason_(std::move(choice.reason)) {
  if (open(std::move(choice.info), choice.broken, host, error)) return;
  // Another interface may be up.
  for (Info& other : choice.others) {
    std::string ignored;
    if (!open(std::move(other), choice.broken, host, ignored)) continue;
    error.clear();
    return;
  }
}

bool Ofi::open(Info info, Broken known, const Host& host, std::string& error) {
  // In the order in which they stand on one another.
  lanes_.reset();
  segments_.reset();
  trial_.reset();
  scratch_.reset();
  registrar_.reset();
  domain_.reset();
  way_ = info->fabric_attr->prov_name;
  // Ranks of a host may have taken different ones.
  if (has_own_interface(*info)) way_.append("/").append(info->domain_attr->name);
  const std::uint32_t lanes = Lanes::count_for(host, *info);
  domain_ = std::make_unique<Domain>(std::move(info), known, host.size, lanes, error);
  if (!error.empty()) return false;
  const bool sleeps = host.env_integer("GEX_OFI_SLEEP") != 0;
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (std::uint32_t i = 0; i < lanes; ++i) {
    std::string refused;
    auto endpoint = std::make_unique<Endpoint>(*domain_, sleeps, refused);
    if (refused.empty()) {
      endpoints.push_back(std::move(endpoint));
      continue;
    }
    // A provider that has no further endpoint makes fewer lanes.
    if (i == 0) error = refused;
    break;
  }
  if (!error.empty() || !endpoints.front()->enable(error)) return false;
  const Endpoint& first = *endpoints.front();
  registrar_.emplace(first, registers_local_always(host), host.threaded != 0);
  extent_ = extent_of(first, registrar_->needs_local());
  if (has_own_interface(domain_->info())) try_provider(first);
  segments_.emplace(host, *registrar_);
  lanes_.emplace(host, *domain_, *registrar_, *segments_, std::move(endpoints));
  return true;
}

void Ofi::try_provider(const Endpoint& first) {
  if (extent_.available == 0) return;
  std::string error;
  scratch_.emplace(*registrar_, error);
  if (!error.empty()) {
    // Nor could a segment be registered.
    scratch_.reset();
    extent_.available = 0;
    return;
  }
  trial_.emplace(*domain_, first, *scratch_);
  broken_ = trial_->broken_puts();
  if (broken_ == 0) lost_atomics_ = trial_->keep_working(extent_.atomics);
}

bool is_one_host(const Host& host) {
  for (std::uint32_t rank = 1; rank < host.size; ++rank)
    if (host.host_of(rank) != host.host_of(0)) return false;
  return true;
}

void warn(const Host& host, const std::string& text) {
  host.warn(("ofi: " + text).c_str());
}

/// Returns what the chosen provider lacks here, so that a job may come to a stand; empty: nothing.
std::string danger_of(const fi_info& info) {
  // It takes the head of a message only when all of it is there, and a packet of the loopback, the
  // largest there are, fills a smaller buffer alone.
  constexpr std::uint64_t enough = std::uint64_t{512} << 10;
  if (std::strcmp(info.fabric_attr->prov_name, "sockets") != 0) return {};
  std::uint64_t least = 0, at_first = enough;
  std::ifstream("/proc/sys/net/ipv4/tcp_rmem") >> least >> at_first;
  if (at_first >= enough) return {};
  return "the provider sockets can stop for good with receive buffers of " +
         std::to_string(at_first) +
         " bytes; sysctl net.ipv4.tcp_rmem=\"4096 1048576 33554432\" helps";
}

std::uint16_t port_of(const char* port_variable) {
  const char* const text = std::getenv(port_variable);
  return text == nullptr ? 0 : static_cast<std::uint16_t>(std::atoi(text));
}

/// Collective: the provider for this rank. Between hosts one over the kernel's sockets is bound to
/// the address by which they reach one another. Returns false if there is none and libgex has
/// warned of it.
bool choose_with_address(const Host& host, Wish wish, Choice& choice) {
  choice = choose(wish);
  if (wish.one_host || !chooses_addresses(host)) return true;
  enum class Need : std::uint32_t { none, address, unmet };
  const Need mine = !choice.info                    ? Need::unmet
                    : is_over_sockets(*choice.info) ? Need::address
                                                    : Need::none;
  // 0 where a rank has that need.
  std::uint64_t without[] = {mine != Need::unmet, mine != Need::address};
  host.least(without, std::size(without));
  const auto [without_unmet, without_address] = without;
  if (without_unmet == 0 || without_address != 0) return true;
  const bool by_datagrams =
      std::strncmp(choice.info->fabric_attr->prov_name, "udp", std::strlen("udp")) == 0;
  const AddressWish asked{.named = wish.interface.c_str(),
                          .variables = "GEX_OFI_INTERFACE",
                          .datagrams = by_datagrams ? 1U : 0U,
                          .first_port = port_of(low_port),
                          .last_port = port_of(high_port)};
  ChosenAddress chosen{};
  if (host.choose_address(&asked, &chosen) != 0) return false;
  if (mine != Need::address) return true;
  wish.address = chosen.address;
  choice = choose(wish);
  if (choice.info) choice.reason.append("; ").append(chosen.reason);
  return true;
}

/// This rank's part: an endpoint, not yet connected with any peer.
std::unique_ptr<Ofi> open(const Host& host, Choice choice, Introduction& mine, std::string& error) {
  wanted_lanes(host, "GEX_OFI_LANES", max_lanes, error);
  if (!error.empty()) return nullptr;
  if (!choice.info) {
    error = choice.reason;
    return nullptr;
  }
  if (host.rank == 0) host.inform(("ofi: " + name_of(*choice.info) + ": " + choice.reason).c_str());
  const std::string danger = host.rank == 0 ? danger_of(*choice.info) : std::string();
  if (!danger.empty()) warn(host, danger);
  const Way way = way_of(*choice.info);
  mine.protocol = choice.info->ep_attr->protocol;
  mine.reaches_devices = (choice.info->caps & FI_HMEM) != 0 ? 1 : 0;
  std::snprintf(mine.provider, sizeof mine.provider, "%s", way.provider.c_str());
  std::snprintf(mine.fabric, sizeof mine.fabric, "%s", way.fabric.c_str());
  auto made = std::make_unique<Ofi>(std::move(choice), host, error);
  if (!error.empty()) {
    const char* const advice = habits_of(way.provider).advice;
    error = way.provider + " cannot be used: " + error;
    if (advice != nullptr) error.append("; ").append(advice);
    return nullptr;
  }
  const std::vector<std::byte> name = made->first_endpoint().name(error);
  const bool is_text = made->domain().has_text_for_name();
  if (name.size() + (is_text ? 1 : 0) > sizeof mine.name)
    error = "the endpoint's address is too long";
  if (!error.empty()) return nullptr;
  std::memcpy(mine.name, name.data(), name.size());
  mine.name_size = is_text ? 0 : static_cast<std::uint32_t>(name.size());
  mine.one_sided = made->extent();
  mine.scratch = made->scratch();
  mine.broken = made->broken();
  mine.ready = 1;
  return made;
}

/// Before libfabric is asked for anything, since it reads most variables once.
std::vector<DefaultVariable> set_job_variables(const Host& host) {
  std::vector<DefaultVariable> variables;
  const char* const ports = host.env_text("GEX_PORTS");
  for (const JobVariable& variable :
       job_variables(host.cookie, host.size, parse_port_range(ports != nullptr ? ports : "")))
    variables.emplace_back(variable.name, variable.value);
  return variables;
}

std::string text_of(Broken broken) {
  if ((broken & broken_delivery) != 0) return "completes puts before they are delivered, or never";
  return (broken & broken_order) != 0 ? "has reads overtake puts" : "has puts overtake puts";
}

/// Opens an endpoint of the best provider by which all ranks can have one; `all`: how they have
/// introduced themselves. Null: there is none, and libgex has warned. Collective.
std::unique_ptr<Ofi> open_agreed(const Host& host, Introductions& all) {
  Wish wish = wish_of(host, is_one_host(host));
  for (;;) {
    Introduction mine{};
    Choice choice;
    if (!choose_with_address(host, wish, choice)) return nullptr;
    std::string error;
    std::unique_ptr<Ofi> made = open(host, std::move(choice), mine, error);
    all = {static_cast<const Introduction*>(host.exchange_shared(&mine, sizeof mine)), host.size};
    const Verdict verdict = verdict_on(all, !wish.provider.empty());
    const Broken broken = verdict.agreed ? broken_of(all) & ~wish.broken : 0;
    const bool divided = verdict.agreed && devices_divide(all);
    if (verdict.agreed && broken == 0 && !divided) return made;
    made.reset();
    if (divided) {
      wish.devices = false;
      if (host.rank == 0)
        warn(host, std::string(mine.provider) +
                       " reaches memory of devices by a protocol that not all ranks have; messages "
                       "carry it instead");
      continue;
    }
    if (broken != 0) {
      wish.broken |= broken;
      if (host.rank == 0)
        warn(host, std::string(mine.provider) + " " + text_of(broken) +
                       ", which it claims not to do; puts are shown to be complete in another way");
      continue;
    }
    const std::string& reason = verdict.reason.empty() ? error : verdict.reason;
    if (verdict.rank == host.rank && !verdict.refused) warn(host, reason);
    if (!verdict.refused) return nullptr;
    if (verdict.rank == host.rank)
      warn(host, reason + "; another provider, or fabric, is used if there is one");
    wish.refused.push_back(*verdict.refused);
    wish.broken = 0;
  }
}

std::unique_ptr<Ofi> Ofi::attach(const Host& host, Limits& limits) {
  const std::vector<DefaultVariable> variables = set_job_variables(host);
  Introductions all;
  std::unique_ptr<Ofi> made = open_agreed(host, all);
  if (made == nullptr) return nullptr;
  made->extent_ = common_extent(all);
  if (const std::string& lost = made->lost_atomics(); host.rank == 0 && !lost.empty())
    warn(host, "the provider claims atomic operations that fail, and are not used: " + lost);
  made->domain_->set_scratch_places(&all[0].scratch, sizeof all[0]);
  Lane& first = made->lanes_->first();
  std::string error;
  if (made->domain_->set_first_names(host, all[0].name, sizeof all[0], error)) {
    first.endpoint->use_first_addresses();
    first.network.start(error);
  }
  if (!error.empty()) error = "ofi: " + error;
  if (!succeeded_on_all_ranks(host, error)) return nullptr;
  joined_over = all[host.rank].provider;
  first.network.connect_neighbors();
  // All ranks have reached this one, where that is what opens its file.
  first.endpoint->unlink_file();
  limits = {.max_message = max_message,
            .reply_depth = channel_depth,
            .max_transfer = made->extent_.max_transfer,
            .total_depth = total_channel_depth(host.size),
            .key_bytes = sizeof(Segments::Key),
            .max_pieces = made->extent_.pieces.own,
            .max_remote_pieces = made->extent_.pieces.peer,
            .without_put = made->extent_.available != 0 ? 0U : 1U};
  return made;
}

std::string registration_text(const fi_info& info, bool always) {
  const std::uint64_t mode = registration_mode(info);
  std::string text = "segments";
  text += Registrar::needs_local(info, always) ? " and local memory" : "; local memory needs none";
  text += (mode & FI_MR_VIRT_ADDR) != 0 ? "; by address" : "; by offset";
  text += (mode & FI_MR_PROV_KEY) != 0 ? ", with the provider's keys" : ", with own keys";
  if ((mode & FI_MR_ALLOCATED) != 0) text += "; a segment's pages are there from the start";
  return text;
}

std::string puts_text(const RmaMeans& means) {
  if (!means.available) return "by messages: the provider has none that report when they are done";
  if (means.max_fenced != 0)
    return "by the provider, which reports when the bytes are at the peer, of many puts at once";
  if (means.delivery_complete)
    return "by the provider, which reports when the bytes are at the peer";
  return "by the provider; a byte is read back to show that the bytes are at the peer";
}

std::string memory_text() {
  const auto room_for = [](std::uint32_t messages) {
    return std::to_string(3 * messages * max_wire / 1024) + " KiB";
  };
  return "to send, at most " + room_for(channel_depth) + " a peer and " +
         room_for(total_channel_depth(1)) +
         " in all, in use only while messages wait; to receive, " +
         std::to_string(ReceiveBuffers::max_at_first / 1024) +
         " KiB, and more while messages wait to be handled, of which each peer can have " +
         std::to_string(2 * channel_depth) +
         "; to copy through where local memory must be registered, " +
         std::to_string(OneSided::bounce_memory / 1024) + " KiB";
}

std::string room_text(const fi_info& info) {
  const TransferRoom room = one_sided_room(info);
  return "at most " + std::to_string(room.a_peer) +
         " puts, gets and atomic operations to a peer and " + std::to_string(room.in_all) +
         " in all, of " + std::to_string(sizeof(Transfer)) +
         " bytes each beside what the provider keeps of it";
}

std::string pieces_text(const PieceExtent& pieces) {
  if (pieces.own == 0) return "one a put or get: local memory must be registered";
  return std::to_string(pieces.own) + " of local memory and " + std::to_string(pieces.peer) +
         " of the peer's a put or get, at most";
}

void Ofi::describe(const Host& host,
                   void (*fact)(void* context, const char* name, const char* text), void* context) {
  const auto print = [&](const char* name, const std::string& text) {
    fact(context, name, text.c_str());
  };
  Wish wish = wish_of(host, false);
  const auto choice_text = [](const Choice& choice) {
    return choice.info ? name_of(*choice.info) + ": " + choice.reason : "none: " + choice.reason;
  };
  const std::vector<Stock> inventory = take_inventory(wish, this_machine(), joined_over);
  std::string providers;
  for (const Stock& one : inventory) {
    if (one.is_usable) providers.append(providers.empty() ? "" : ", ").append(one.provider);
    // A job takes the next one.
    if (one.closed) wish.refused.push_back(*one.closed);
  }
  print("on several hosts", choice_text(choose(wish)));
  wish.one_host = true;
  const Choice choice = choose(wish);
  print("on one host", choice_text(choice));
  print("providers", providers);
  if (choice.info) {
    const RmaMeans means = rma_means(*choice.info);
    const bool always = registers_local_always(host);
    print("put and get", puts_text(means));
    if (means.available)
      print("pieces",
            pieces_text(piece_extent(*choice.info, Registrar::needs_local(*choice.info, always))));
    print("atomics", means.atomics ? "the provider's, for domains all of whose operations it has"
                                   : "by messages: the provider has none");
    print("under way", room_text(*choice.info));
    print("lanes", Lanes::describe(host, *choice.info));
    print("registration", registration_text(*choice.info, always));
    print("kept registered", Registrar::describe_cache(*choice.info, always));
  }
  for (const Stock& one : inventory) print(one.provider.c_str(), one.text);
  print("memory", memory_text());
}

Standing Ofi::standing(const Host& host, bool several_hosts,
                       void (*reason)(void* context, const char* text), void* context) {
  const Choice choice = choose(wish_of(host, !several_hosts));
  reason(context, choice.info ? (name_of(*choice.info) + ": " + choice.reason).c_str()
                              : choice.reason.c_str());
  if (!choice.info) return unusable;
  return has_own_interface(*choice.info) ? by_hardware : by_processor;
}

constexpr Conduit table =
    table_of<Ofi>("ofi", "libfabric: TCP, UDP and the networks that it has providers for",
                  registers_host_memory | device_capabilities(device_interfaces));

}  // namespace

}  // namespace gex::net::ofi

extern "C" __attribute__((visibility("default"))) const gex::net::Conduit* gex_conduit_v4(void) {
  return &gex::net::ofi::table;
}
