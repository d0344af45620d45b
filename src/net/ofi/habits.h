#pragma once
// Habits of providers that they do not report, by their names: the one table of such names.
// Everything else is decided from what a provider reports.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gex::net::ofi {

struct Habits {
  /// Makes connections by itself, at the first message between two endpoints.
  bool connects = false;
  /// A first message, or transfer, waits for polls of both ends, though there is no connection.
  bool shakes_hands = false;
  /// Echoes FI_DELIVERY_COMPLETE, and completes puts before their bytes are at the peer.
  bool ignores_delivery = false;
  /// A rank jumps into nowhere when it is asked for an atomic operation (libfabric 1.17).
  bool fails_at_atomics = false;
  /// Endpoints of one process disturb each other, or have not been tried.
  bool has_one_endpoint = false;
  /// Endpoints have files with names (/dev/shm).
  bool has_files = false;
  /// Makes connections, or opens files, when addresses are inserted, with processes that wait for
  /// nothing else meanwhile.
  bool connects_at_insertion = false;
  /// Its table of addresses grows by pieces of the size that it is made with, and does not move up
  /// to 16 of them, which other threads may read.
  bool grows_in_place = false;
  /// Advice for when its domain or endpoint cannot be opened, or null.
  const char* advice = nullptr;
};

/// The number of addresses for which the provider is to make room at once, of those that there may
/// be. A table that moves when it grows has room for all, since other threads read it.
std::size_t room_for_addresses(const Habits& habits, std::size_t addresses) noexcept;

/// Which hosts a provider reaches.
enum class Reach : std::uint8_t {
  network,  ///< those that have it, by an interface of its own
  sockets,  ///< every one; on one host it is made to stay on the loopback
  memory,   ///< this one
};
Reach reach_of(std::string_view provider) noexcept;

/// The habits of a provider, which is named as libfabric does: "verbs;ofi_rxm".
Habits habits_of(std::string_view provider) noexcept;

/// Returns true if a provider with files for endpoints takes the option FI_OPT_MIN_MULTI_RECV only
/// once an endpoint is enabled. libfabric's shm before 2.0 writes it to a place that is made by
/// enabling; later ones ignore it then.
bool takes_option_late(std::string_view provider, std::uint32_t library_version) noexcept;

/// Returns true if the files of endpoints are no longer needed once all addresses are known.
/// From 2.0 on shm opens a peer's at the first contact.
bool opens_files_early(std::string_view provider, std::uint32_t library_version) noexcept;

}  // namespace gex::net::ofi
