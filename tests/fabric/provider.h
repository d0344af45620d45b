#pragma once
// The provider itself, as libfabric has loaded it.

#include <rdma/fabric.h>
#include <rdma/providers/fi_prov.h>

#include <string>

namespace gexsim {

extern fi_provider provider;

/// The name by which it is loaded, and that of the provider which it is layered over, or empty: of
/// "verbs;ofi_rxm" ofi_rxm, and verbs.
std::string own_name();
std::string core_name();

/// Called by fi_getinfo. (info.cc)
int get_info(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
             const fi_info* hints, fi_info** info);
/// Called by fi_fabric. (fabric.cc)
int open_fabric(fi_fabric_attr* attributes, fid_fabric** fabric, void* context);

/// The provider is unloaded: its threads end. (endpoint.cc)
void end_movers();

/// The type of the endpoints that the provider has.
fi_ep_type endpoint_type();
/// The order bits of a knob's words.
std::uint64_t order_of(std::string_view words);
/// The number of an interface's name; -1: it has none of the kind.
int nic_of(const char* domain_name);
/// The fabric on which an interface lies.
std::uint16_t fabric_of(int nic);
/// Endpoints that have the same number reach one another: those of one fabric, protocol and
/// identity.
std::uint16_t reach_of(int nic, std::uint32_t protocol);

}  // namespace gexsim
