#pragma once
// How the ranks of a job come to one provider and fabric: each shows what it would use, or why it
// cannot; a way that some rank cannot go is left to none, and all look for the next.

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "net/ofi/one_sided.h"
#include "net/ofi/provider.h"
#include "net/ofi/wire.h"

namespace gex::net::ofi {

/// Every rank shows the others how it would join, or that it cannot.
struct Introduction {
  char provider[Way::provider_room];  ///< empty: it has none
  char fabric[Way::fabric_room];
  std::uint32_t name_size;  ///< 0: a text, which ends itself
  std::uint32_t ready;
  std::byte name[max_name];
  OneSidedExtent one_sided;
  Place scratch;                  ///< that peers may write to without harm
  Broken broken;                  ///< of the provider, as far as it was found
  std::uint32_t protocol;         ///< of the endpoint; those of others are not reached
  std::uint32_t reaches_devices;  ///< 1: memory of devices, too
};

/// Introductions of all ranks, in their order.
using Introductions = std::span<const Introduction>;

/// All ranks come to the same from the same introductions.
struct Verdict {
  bool agreed = false;
  /// The way that must not be gone; nothing: there is no other.
  std::optional<Way> refused;
  /// The reason for people, unless it is that of `rank`, which alone has it.
  std::string reason;
  std::uint32_t rank = 0;  ///< that reports it
};
/// `is_named`: the user has named the provider, and none other is looked for.
Verdict verdict_on(Introductions all, bool is_named);

/// Returns true if ranks speak another protocol because they reach memory of devices: none may.
bool devices_divide(Introductions all);

/// Returns all that any rank has found broken.
Broken broken_of(Introductions all);

/// Returns what the one-sided operations of all ranks have in common.
OneSidedExtent common_extent(Introductions all);

}  // namespace gex::net::ofi
