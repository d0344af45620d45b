#include "net/ofi/habits.h"

#include <rdma/fabric.h>

#include <algorithm>
#include <iterator>

namespace gex::net::ofi {

namespace {

struct Row {
  std::string_view name;  ///< that, or with a semicolon in front: all that end in it
  Habits habits;
};

constexpr const char* psm_advice =
    "each endpoint takes a context of the interface: start fewer processes a host, or set "
    "GEX_OFI_LANES=1";

// The first row that fits.
constexpr Row rows[] = {
    {"cxi",
     {.grows_in_place = true,
      .advice = "a job needs a VNI: of Slurm on one host, srun --network=single_node_vni; "
                "fi_info -p cxi shows what is there"}},
    {"verbs;ofi_rxm",
     {.connects = true,
      .ignores_delivery = true,
      .grows_in_place = true,
      .advice = "ulimit -l must allow much memory"}},
    {";ofi_rxm", {.connects = true, .grows_in_place = true}},
    {";ofi_rxd", {.fails_at_atomics = true, .has_one_endpoint = true}},
    {"efa", {.shakes_hands = true, .advice = "ulimit -l must allow much memory"}},
    {"psm3", {.shakes_hands = true, .connects_at_insertion = true, .advice = psm_advice}},
    {"psm2", {.shakes_hands = true, .connects_at_insertion = true, .advice = psm_advice}},
    {"opx", {.advice = psm_advice}},
    {"tcp", {.connects = true, .grows_in_place = true}},
    {"net", {.connects = true, .grows_in_place = true}},
    {"sockets", {.connects = true, .has_one_endpoint = true}},
    {"shm", {.has_one_endpoint = true, .has_files = true, .connects_at_insertion = true}},
};

}  // namespace

Habits habits_of(std::string_view provider) noexcept {
  for (const Row& row : rows)
    if (row.name.starts_with(';') ? provider.ends_with(row.name) : provider == row.name)
      return row.habits;
  return {};
}

Reach reach_of(std::string_view provider) noexcept {
  if (provider == "shm") return Reach::memory;
  for (const std::string_view by_sockets : {"sockets", "net", "tcp", "udp"})
    if (provider.starts_with(by_sockets)) return Reach::sockets;
  return Reach::network;
}

std::size_t room_for_addresses(const Habits& habits, std::size_t addresses) noexcept {
  constexpr std::size_t pieces = 16;
  constexpr std::size_t least = 64;
  if (!habits.grows_in_place) return addresses;
  return std::min(addresses, std::max(least, (addresses + pieces - 1) / pieces));
}

bool takes_option_late(std::string_view provider, std::uint32_t library_version) noexcept {
  return habits_of(provider).has_files && library_version < FI_VERSION(2, 0);
}

bool opens_files_early(std::string_view provider, std::uint32_t library_version) noexcept {
  return habits_of(provider).has_files && library_version < FI_VERSION(2, 0);
}

}  // namespace gex::net::ofi
