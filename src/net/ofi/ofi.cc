// The conduit's table, and what happens when a job joins and leaves.

#include <gex/plugin/all_ranks.h>
#include <gex/plugin/table.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/ofi/endpoint.h"
#include "net/ofi/network.h"
#include "net/ofi/one_sided.h"
#include "net/ofi/provider.h"
#include "net/ofi/registration.h"

namespace gex::net::ofi {

namespace {

bool registers_local_always(const Host& host) {
  return host.env_integer("GEX_OFI_REGISTER_LOCAL") != 0;
}

/// This process's end of the network, in the order in which its parts stand on one another.
class Ofi {
 public:
  static std::unique_ptr<Ofi> attach(const Host& host, Limits& limits);
  static void describe(const Host& host,
                       void (*fact)(void* context, const char* name, const char* text),
                       void* context);

  Ofi(Info info, const Host& host, std::string& error)
      : endpoint_(std::move(info), error),
        registrar_(endpoint_, registers_local_always(host), host.threaded != 0) {
    if (!error.empty()) return;
    one_sided_ = std::make_unique<OneSided>(host, endpoint_, registrar_);
    network_ = std::make_unique<Network>(host, endpoint_, registrar_, *one_sided_);
  }

  Endpoint& endpoint() noexcept { return endpoint_; }
  OneSided& one_sided() noexcept { return *one_sided_; }
  Network& network() noexcept { return *network_; }

  SendResult send(Channel channel, std::uint32_t peer, std::span<const Piece> pieces) {
    return network_->send(channel, peer, pieces);
  }
  std::size_t poll(std::uint32_t channels, std::size_t most) {
    return network_->poll(channels, most);
  }
  void leave() {
    network_->leave();
    endpoint_.close();
  }
  void* buffer(Channel channel, std::uint32_t peer, std::size_t size) {
    return network_->buffer(channel, peer, size);
  }
  void release(void* payload) { network_->release(payload); }

  bool register_segment(const SegmentMemory& memory, void* key) {
    return one_sided_->register_segment(memory, *static_cast<OneSided::Key*>(key)) == 0;
  }
  void deregister_segment(const void* key) {
    one_sided_->deregister_segment(*static_cast<const OneSided::Key*>(key));
  }
  SendResult put(const Remote& remote, const void* local, std::size_t size, void* done,
                 void* local_done) {
    return one_sided_->put(remote, local, size, done, local_done);
  }
  SendResult get(const Remote& remote, void* local, std::size_t size, void* done) {
    return one_sided_->get(remote, local, size, done);
  }
  SendResult put_pieces(const Remote& remote, std::span<const RemotePiece> to,
                        std::span<const LocalPiece> from, void* done, void* local_done) {
    return one_sided_->put_pieces(remote, to, from, done, local_done);
  }
  SendResult get_pieces(const Remote& remote, std::span<const RemotePiece> from,
                        std::span<const LocalPiece> to, void* done) {
    return one_sided_->get_pieces(remote, from, to, done);
  }
  std::uint32_t atomic_operations(std::uint32_t data_type) const {
    return one_sided_->atomic_operations(data_type);
  }
  SendResult atomic(const Remote& remote, std::uint32_t data_type, std::uint32_t operation,
                    const void* operand1, const void* operand2, void* result, void* done) {
    return one_sided_->atomic(remote, data_type, operation, operand1, operand2, result, done);
  }

 private:
  Endpoint endpoint_;
  Registrar registrar_;
  std::unique_ptr<OneSided> one_sided_;
  std::unique_ptr<Network> network_;
};

/// What every rank tells the others: how it would join, or that it cannot.
struct Introduction {
  char provider[48];
  std::uint32_t name_size;  ///< 0: a text, which ends itself
  std::uint32_t ready;
  std::byte name[128];
  OneSidedExtent one_sided;
};

bool is_one_host(const Host& host) {
  for (std::uint32_t rank = 1; rank < host.size; ++rank)
    if (host.host_of(rank) != host.host_of(0)) return false;
  return true;
}

void warn(const Host& host, const std::string& text) {
  host.warn(("ofi: " + text).c_str());
}

/// What the provider that was chosen lacks here, so that a job may come to a stand; empty: nothing.
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

/// This rank's part: an endpoint, not yet connected with anybody.
std::unique_ptr<Ofi> open(const Host& host, Introduction& mine, std::string& error) {
  Choice choice = choose(wish_of(host, is_one_host(host)));
  if (!choice.info) {
    error = choice.reason;
    return nullptr;
  }
  if (host.rank == 0) host.inform(("ofi: " + name_of(*choice.info) + ": " + choice.reason).c_str());
  const std::string danger = host.rank == 0 ? danger_of(*choice.info) : std::string();
  if (!danger.empty()) warn(host, danger);
  std::snprintf(mine.provider, sizeof mine.provider, "%s", choice.info->fabric_attr->prov_name);
  auto made = std::make_unique<Ofi>(std::move(choice.info), host, error);
  if (!error.empty()) return nullptr;
  const std::vector<std::byte> name = made->endpoint().name(error);
  const bool is_text = made->endpoint().has_text_for_name();
  if (name.size() + (is_text ? 1 : 0) > sizeof mine.name)
    error = "the endpoint's address is too long";
  if (!error.empty()) return nullptr;
  std::memcpy(mine.name, name.data(), name.size());
  mine.name_size = is_text ? 0 : static_cast<std::uint32_t>(name.size());
  mine.one_sided = made->one_sided().extent();
  mine.ready = 1;
  return made;
}

/// What the introductions of all ranks rule out; empty: nothing.
std::string disagreement(const std::vector<Introduction>& all) {
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (std::strncmp(all[rank].provider, all[0].provider, sizeof all[0].provider) != 0 ||
        all[rank].name_size != all[0].name_size)
      return "rank 0 would use " + std::string(all[0].provider) + ", rank " + std::to_string(rank) +
             " " + all[rank].provider + "; set GEX_OFI_PROVIDER to one that all have";
  }
  return {};
}

/// What the one-sided operations of all ranks have in common.
OneSidedExtent common_extent(const std::vector<Introduction>& all) {
  OneSidedExtent common = all[0].one_sided;
  for (const Introduction& one : all) {
    common.available &= one.one_sided.available;
    common.max_transfer = std::min(common.max_transfer, one.one_sided.max_transfer);
    common.pieces.own = std::min(common.pieces.own, one.one_sided.pieces.own);
    common.pieces.peer = std::min(common.pieces.peer, one.one_sided.pieces.peer);
    common.atomics.intersect(one.one_sided.atomics);
  }
  return common;
}

std::unique_ptr<Ofi> Ofi::attach(const Host& host, Limits& limits) {
  std::string error;
  Introduction mine{};
  std::unique_ptr<Ofi> made = open(host, mine, error);
  std::vector<Introduction> all(host.size);
  host.exchange(&mine, sizeof mine, all.data());
  // The reason is mostly the same on all ranks: the lowest of them reports it.
  const auto unready =
      std::find_if(all.begin(), all.end(), [](const Introduction& one) { return one.ready == 0; });
  if (unready != all.end()) {
    if (unready - all.begin() == host.rank) warn(host, error);
    return nullptr;
  }
  error = disagreement(all);
  if (!error.empty()) {
    if (host.rank == 0) warn(host, error);
    return nullptr;
  }
  made->one_sided_->agree_on(common_extent(all));
  std::vector<std::byte> names;
  for (const Introduction& one : all)
    names.insert(names.end(), std::begin(one.name), std::end(one.name));
  if (made->endpoint_.learn(names, sizeof mine.name, error)) made->network_->start(error);
  if (!error.empty()) error = "ofi: " + error;
  if (!succeeded_on_all_ranks(host, error)) return nullptr;
  made->endpoint_.forget_file();
  made->network_->greet();
  limits = {.max_message = max_message,
            .reply_depth = depth,
            .max_transfer = made->one_sided_->extent().max_transfer,
            .total_depth = total_depth,
            .key_bytes = sizeof(OneSided::Key),
            .max_pieces = made->one_sided_->extent().pieces.own,
            .max_remote_pieces = made->one_sided_->extent().pieces.peer};
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
  if (!means.available) return "by messages: the provider has none that say when they are done";
  if (means.delivery_complete) return "by the provider, which says when the bytes are at the peer";
  return "by the provider; a byte is read back to know that the bytes are at the peer";
}

std::string memory_text() {
  const auto room_for = [](std::uint32_t messages) {
    return std::to_string(3 * messages * max_wire / 1024) + " KiB";
  };
  return "to send, at most " + room_for(depth) + " a peer and " + room_for(total_depth) +
         " in all, in use only while messages wait; to receive, " +
         std::to_string(ReceiveBuffers::most_at_first / 1024) +
         " KiB, and more while messages wait to be handled, of which each peer can have " +
         std::to_string(2 * depth) + "; to copy through where local memory must be registered, " +
         std::to_string(OneSided::bounce_memory / 1024) + " KiB";
}

std::string room_text(const fi_info& info) {
  const OneSidedRoom room = one_sided_room(info);
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
  const auto say = [&](const char* name, const std::string& text) {
    fact(context, name, text.c_str());
  };
  Wish wish = wish_of(host, false);
  const auto choice_text = [](const Choice& choice) {
    return choice.info ? name_of(*choice.info) + ": " + choice.reason : "none: " + choice.reason;
  };
  say("on several hosts", choice_text(choose(wish)));
  wish.one_host = true;
  const Choice choice = choose(wish);
  say("on one host", choice_text(choice));
  std::string providers;
  for (const std::string& name : usable_providers(wish))
    providers.append(providers.empty() ? "" : ", ").append(name);
  say("providers", providers);
  if (choice.info) {
    const RmaMeans means = rma_means(*choice.info);
    const bool always = registers_local_always(host);
    say("put and get", puts_text(means));
    if (means.available)
      say("pieces",
          pieces_text(piece_extent(*choice.info, Registrar::needs_local(*choice.info, always))));
    say("atomics", means.atomics ? "the provider's, for domains all of whose operations it has"
                                 : "by messages: the provider has none");
    say("under way", room_text(*choice.info));
    say("registration", registration_text(*choice.info, always));
    say("kept registered", Registrar::describe_cache(*choice.info, always));
  }
  say("memory", memory_text());
}

constexpr Conduit table = table_of<Ofi>(
    "ofi", "libfabric: TCP, UDP and the networks that it has providers for", registers_host_memory);

}  // namespace

}  // namespace gex::net::ofi

extern "C" __attribute__((visibility("default"))) const gex::net::Conduit* gex_conduit_v4(void) {
  return &gex::net::ofi::table;
}
