#pragma once
// The memory kinds that clients make: which classes there are, and the objects behind gex_MK_t.
//
// A further class of kinds is a folder beside `cuda`, a case in each function of kinds.cc that
// names `cuda`, and a row in way/requirement.h (docs/writing-a-kind.md). All other code works on
// any:
//
//   core/memory.h          MemoryKind, from which its devices derive; `kind_at` an address
//   core/memory_sharing.h  MemorySharing: how neighbors open its segments (team/attach.cc asks)
//   rma/by_kind.h          its copies, where they reach both ends; vis/by_kind.h for rows
//   rma/native.h           the network, where that has a key: net/ofi/registration.cc and
//                          net/ucx/segments.cc translate the kind for their libraries
//   rma/staged_put.h,      messages for all else, copied from and to it part by part
//   rma/staging.h

#include <gasnet_mk.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/memory.h"

namespace gex::kinds {

/// The kind of memory that objects of a class are of.
net::MemoryKind kind_of(gex_MK_Class_t kind_class) noexcept;

/// A device with memory of a kind, for reports.
struct DeviceFacts {
  std::string kind;  ///< "CUDA"
  std::uint32_t number;
  std::string name;
  std::uint64_t bytes;
  std::string shared_by;  ///< how other processes of the host open its memory: "descriptor, handle"
  bool has_dma_buf;       ///< networks can be given its memory
};
/// The devices of this machine; none, with the reason in `why`, where there is no driver. Opens it.
std::vector<DeviceFacts> devices(std::string& why);

/// The driver of those devices: "libcuda.so.1 of CUDA 13.0".
std::string driver();

/// Looks for the kinds that this machine may have (core/memory.h); start-up only, before a network
/// is joined.
void expect();

/// Start-up only.
void start();

/// Makes a kind for the client: GASNET_OK, or an error with the reason in `why`.
int create(gex_MK_t& made, gex_Client_t client, const gex_MK_Create_args_t& args, std::string& why);

/// Returns true if there is that kind, which is not the host's.
bool exists(gex_MK_t kind) noexcept;

/// Ends a kind that exists.
void destroy(gex_MK_t kind) noexcept;

}  // namespace gex::kinds
