// The conduit's table, and what happens when a job joins and leaves.

#include <gasnet_fwd.h>
#include <gex/plugin/all_ranks.h>
#include <gex/plugin/table.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/kit/device_capabilities.h"
#include "net/kit/processors.h"
#include "net/ucx/atomics.h"
#include "net/ucx/context.h"
#include "net/ucx/device_memory_types.h"
#include "net/ucx/lanes.h"
#include "net/ucx/segments.h"

namespace gex::net::ucx {

namespace {

/// This process's end of the network, in the order in which its parts stand on one another.
class Ucx {
 public:
  static std::unique_ptr<Ucx> attach(const Host& host, Limits& limits);
  static void describe(const Host& host,
                       void (*fact)(void* context, const char* name, const char* text),
                       void* context);
  static Standing standing(const Host& host, bool several_hosts,
                           void (*reason)(void* context, const char* text), void* context);

  Ucx(const Host& host, const Allowed& allowed, const char* why, std::string& error);

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
  void transport(std::uint32_t peer, const char** name, const char** reason);

  bool register_segment(const SegmentMemory& memory, void* key) {
    return key_bytes_ != 0 && segments_->add(memory, key, key_bytes_);
  }
  void deregister_segment(const void* key) { segments_->remove(key); }
  SendResult put(const Remote& remote, const void* local, std::size_t size, void* done,
                 void* local_done) {
    return lanes_->of_thread(remote.peer).one_sided.put(remote, local, size, done, local_done);
  }
  SendResult get(const Remote& remote, void* local, std::size_t size, void* done) {
    return lanes_->of_thread(remote.peer).one_sided.get(remote, local, size, done);
  }
  SendResult flush(std::uint32_t peer, void* done) { return lanes_->flush(peer, done); }
  std::uint32_t atomic_operations(std::uint32_t data_type) const {
    return key_bytes_ != 0 ? ucx::atomic_operations(data_type) : 0;
  }
  SendResult atomic(const Remote& remote, std::uint32_t data_type, std::uint32_t operation,
                    const void* operand1, const void* operand2, void* result, void* done) {
    return lanes_->of_thread(remote.peer)
        .one_sided.atomic(remote, data_type, operation, operand1, operand2, result, done);
  }

 private:
  /// Collective: brings the workers' addresses to all ranks.
  bool exchange_addresses(const Host& host, std::string error);

  std::optional<Context> context_;
  std::optional<Segments> segments_;
  std::unique_ptr<Lane> first_;  ///< until there are lanes
  std::optional<Lanes> lanes_;
  std::size_t key_bytes_ = 0;   ///< of segments; 0: there are no one-sided operations
  std::set<std::string> ways_;  ///< what `transport` has named, which stays where it is
  std::string choice_reason_;
};

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view one) { return text.starts_with(one); });
}

/// Takes a transport with its device, "rc_mlx5/mlx5_0:1"; returns true if an adapter of InfiniBand
/// or RoCE moves the bytes.
bool is_hardware(std::string_view transport) {
  return begins_with_any(transport, {"rc_", "dc_", "ud_"});
}

/// Returns true if it can connect this process with another one at all.
bool leads_to_others(std::string_view transport, bool several_hosts) {
  const std::string_view name = transport.substr(0, transport.find('/'));
  // These only copy, between a device and its processor, or inside the process.
  if (name == "self" || name.ends_with("_copy")) return false;
  const bool on_host = begins_with_any(name, {"posix", "sysv", "cma", "xpmem", "knem"}) ||
                       name.ends_with("_ipc") || transport == "tcp/lo";
  return !(several_hosts && on_host);
}

/// The interfaces by which transports over TCP lead to other hosts; of several names a list.
std::string tcp_interfaces(const std::vector<std::string>& transports) {
  std::string list;
  for (const std::string& one : transports)
    if (one.starts_with("tcp/") && one != "tcp/lo")
      list.append(list.empty() ? "" : ",").append(one.substr(4));
  return list;
}

bool is_set(const char* text) {
  return text != nullptr && text[0] != '\0';
}

/// On one host: nothing that the processes of other users, or other hosts, could connect with,
/// where the user has asked for nothing. UCX accepts any connection over TCP.
void stay_in_memory(const Host& host, Allowed& allowed, const char*& why) {
  for (const char* const name : {"GEX_UCX_TRANSPORTS", "GEX_UCX_DEVICES"})
    if (is_set(host.env_text(name))) return;
  for (const char* const ucx_name : {"UCX_TLS", "UCX_NET_DEVICES"})
    if (is_set(std::getenv(ucx_name))) return;
  const Allowed memory{"shm,self", {}};
  std::string error;
  const Context opened(host, host.size, host.size, host.threaded != 0, memory, error);
  if (!error.empty()) return;
  const std::vector<std::string> all = opened.transports();
  if (std::none_of(all.begin(), all.end(),
                   [](const std::string& one) { return leads_to_others(one, false); }))
    return;
  allowed = memory;
  why = "in memory alone, since all ranks are on one host and UCX accepts any connection over TCP";
}

/// Collective, between hosts: the interface that UCX is limited to where it has TCP alone, because
/// it takes any that is up; not where it has an adapter. Returns false if there is
/// none by which the hosts reach each other, of which libgex has warned.
bool choose_device(const Host& host, Allowed& allowed, const char*& why) {
  if (!chooses_addresses(host)) return true;
  std::vector<std::string> transports;
  {
    std::string error;
    const Context opened(host, host.size, ranks_here(host, host.size), host.threaded != 0, {},
                         error);
    if (error.empty()) transports = opened.transports();
  }
  const std::string interfaces = tcp_interfaces(transports);
  std::uint64_t have_tcp_alone =
      !interfaces.empty() && std::none_of(transports.begin(), transports.end(), is_hardware) ? 1
                                                                                             : 0;
  host.least(&have_tcp_alone, 1);
  if (have_tcp_alone == 0) return true;
  const PortRange ports = tcp_ports(host).value_or(PortRange{});
  const AddressWish wish{.named = interfaces.c_str(),
                         .variables = "GEX_UCX_DEVICES",
                         .first_of_interface = 1,
                         .first_port = ports.first,
                         .last_port = ports.last};
  ChosenAddress chosen{};
  if (host.choose_address(&wish, &chosen) != 0) return false;
  allowed.devices = chosen.interface;
  why = chosen.reason;
  return true;
}

/// Names the variables by which UCX chooses, beside what it finds.
std::string choice_reason(const Host& host) {
  std::string asked;
  for (const char* const name : {"GEX_UCX_TRANSPORTS", "GEX_UCX_DEVICES"}) {
    const char* const value = host.env_text(name);
    if (value != nullptr && value[0] != '\0')
      asked.append(asked.empty() ? "" : ", ").append(name).append("=").append(value);
  }
  return asked.empty() ? "UCX chose among those that lead there"
                       : "UCX chose among those that " + asked + " leaves";
}

Ucx::Ucx(const Host& host, const Allowed& allowed, const char* why, std::string& error)
    : choice_reason_(choice_reason(host)) {
  if (why != nullptr) choice_reason_.append("; ").append(why);
  wanted_lanes(host, "GEX_UCX_LANES", max_lanes, error);
  if (!error.empty()) return;
  const bool threaded = host.threaded != 0;
  context_.emplace(host, host.size, ranks_here(host, host.size), threaded, allowed, error);
  if (!error.empty()) return;
  segments_.emplace(host, *context_);
  if (device_classes_of(host) != 0 && context_->has_devices()) {
    const std::vector<std::string> all = context_->transports();
    if (std::any_of(all.begin(), all.end(), is_hardware)) segments_->take_devices();
  }
  first_ = std::make_unique<Lane>(host, *context_, *segments_, true, error);
  if (!error.empty()) return;
  key_bytes_ = Segments::key_bytes(*context_);
}

bool Ucx::exchange_addresses(const Host& host, std::string error) {
  std::vector<std::byte> address;
  if (error.empty()) address = first_->worker.address(error);
  // The most of both, and the least size of a key: 0 where a rank has none.
  enum : std::size_t { max_address, max_key, least_key };
  std::uint64_t extents[] = {~std::uint64_t{address.size()}, ~std::uint64_t{key_bytes_},
                             key_bytes_};
  host.least(extents, std::size(extents));
  if (!error.empty()) error = "ucx: " + error;
  if (!succeeded_on_all_ranks(host, error)) return false;
  key_bytes_ = extents[least_key] != 0 ? static_cast<std::size_t>(~extents[max_key]) : 0;
  const std::size_t stride = (static_cast<std::size_t>(~extents[max_address]) + 7) / 8 * 8;
  address.resize(stride);
  const void* const addresses = host.exchange_shared(address.data(), stride);
  first_->endpoints.set_addresses(static_cast<const std::byte*>(addresses), stride);
  return true;
}

std::unique_ptr<Ucx> Ucx::attach(const Host& host, Limits& limits) {
  std::string error;
  Allowed allowed;
  const char* why = nullptr;
  if (host.size == ranks_here(host, host.size))
    stay_in_memory(host, allowed, why);
  else if (!choose_device(host, allowed, why))
    return nullptr;
  auto made = std::make_unique<Ucx>(host, allowed, why, error);
  if (!made->exchange_addresses(host, error)) return nullptr;
  if (!made->first_->network.start(made->key_bytes_, error)) error = "ucx: " + error;
  if (!succeeded_on_all_ranks(host, error)) return nullptr;
  if (host.rank == 0)
    host.inform(("ucx: UCX " + version() + ": " + list_of(made->context_->transports())).c_str());
  made->first_->network.connect_neighbors();
  made->lanes_.emplace(host, *made->context_, *made->segments_, made->key_bytes_,
                       std::move(made->first_));
  limits = {.max_message = max_message,
            .reply_depth = channel_depth,
            .max_transfer = OneSided::max_transfer,
            .total_depth = total_channel_depth(host.size),
            // Without one-sided operations no rank gets a key, but keys have a size all the same.
            .key_bytes = static_cast<std::uint32_t>(std::max<std::size_t>(made->key_bytes_, 16))};
  return made;
}

void Ucx::transport(std::uint32_t peer, const char** name, const char** reason) {
  const Worker::Use use(lanes_->first().worker);
  const std::string lanes = lanes_->first().endpoints.lanes_of(peer);
  if (!lanes.empty()) *name = ways_.insert(lanes).first->c_str();
  *reason = choice_reason_.c_str();
}

Standing Ucx::standing(const Host& host, bool several_hosts,
                       void (*reason)(void* context, const char* text), void* context) {
  std::string error;
  std::vector<std::string> all;
  {
    const Context opened(host, 2, several_hosts ? 1 : 2, host.threaded != 0, {}, error);
    if (error.empty()) all = opened.transports();
  }
  std::vector<std::string> leading;
  std::vector<std::string> hardware;
  for (const std::string& one : all) {
    if (!leads_to_others(one, several_hosts)) continue;
    leading.push_back(one);
    if (is_hardware(one)) hardware.push_back(one);
  }
  if (leading.empty() && error.empty())
    error = "UCX finds no transport to other " +
            std::string(several_hosts ? "hosts" : "processes") + " among " + list_of(all);
  const std::string text =
      !error.empty() ? error : "UCX over " + list_of(hardware.empty() ? leading : hardware);
  reason(context, text.c_str());
  if (!error.empty()) return unusable;
  return hardware.empty() ? by_processor : by_hardware;
}

void Ucx::describe(const Host& host,
                   void (*fact)(void* context, const char* name, const char* text), void* context) {
  const auto print = [&](const char* name, const std::string& text) {
    fact(context, name, text.c_str());
  };
  print("library", "UCX " + version() + "; compiled with " + std::to_string(UCP_API_MAJOR) + "." +
                       std::to_string(UCP_API_MINOR));
  std::string error;
  const Context opened(host, 2, 1, false, {}, error);
  if (!error.empty()) {
    print("transports", "none: " + error);
    return;
  }
  print("transports",
        list_of(opened.transports()) + "; UCX chooses among those that lead to the peer");
  print(
      "who may connect",
      "over TCP any user or host that reaches its ports, and can end a job or write to its memory, "
      "which UCX does not prevent: use it on trusted networks; on one host it stays in memory");
  const std::size_t key = Segments::key_bytes(opened);
  print("put and get", key == 0
                           ? "by messages: segments cannot be registered"
                           : "by UCX; a flush in the next poll shows that the bytes of all "
                             "puts before it are at the peer. Puts over TCP by active messages "
                             "with an acknowledgement");
  print("atomics", key == 0
                       ? "by messages"
                       : "by UCX, for domains all of whose operations it has: " +
                             names_of_operations(GEX_DT_I64) + " of integers, " +
                             names_of_operations(GEX_DT_DBL) + " of floating point, also fetching");
  print("under way", "at most " + std::to_string(OneSided::room.a_peer) +
                         " puts, gets and atomic operations to a peer and " +
                         std::to_string(OneSided::room.in_all) + " in all, of " +
                         std::to_string(sizeof(Transfer)) + " bytes each beside what UCX keeps");
  print("lanes", Lanes::describe(host));
  const auto room_for = [](std::uint32_t messages) {
    return std::to_string(3 * messages * (sizeof(SendBuffer) + buffer_room) / 1024) + " KiB";
  };
  print("memory", "to send, at most " + room_for(channel_depth) + " a peer and " +
                      room_for(total_channel_depth(1)) +
                      " in all, in use only while messages wait; what has arrived waits in UCX's "
                      "memory, of which each peer can have " +
                      std::to_string(2 * channel_depth) + " messages");
}

constexpr Conduit table =
    table_of<Ucx>("ucx", "UCX: InfiniBand, RoCE and TCP, whatever UCX has transports for",
                  registers_host_memory | device_capabilities(device_memory_types));

}  // namespace

}  // namespace gex::net::ucx

extern "C" __attribute__((visibility("default"))) const gex::net::Conduit* gex_conduit_v4(void) {
  return &gex::net::ucx::table;
}
