#pragma once
// The address of this host that a rank's network uses in a job of several hosts: found by asking
// (address_probe.h), chosen by all ranks alike (address_choice.h).

#include <gex/plugin/conduit.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "net/address.h"

namespace gex::net {

struct AgreedAddress {
  Address address;        ///< port 0
  std::string interface;  ///< whose it is
  std::string reason;     ///< one line: it, and why not the others
};

/// Collective over the job: replaces the bytes by those of the first rank of this rank's host.
using TakeFromFirst = void (*)(void* bytes, std::size_t size);

/// Collective over the job. Returns whether all ranks have an address; if not, `error` is one line
/// on the rank that reports it and empty on the others. Of `host` its ranks, hosts and exchanges
/// are used. `wish` is this rank's.
bool agree_on_address(const Host& host, TakeFromFirst take_from_first, const AddressWish& wish,
                      AgreedAddress& agreed, std::string& error);

}  // namespace gex::net
