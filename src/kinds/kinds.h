#pragma once
// The memory kinds that clients make: which classes there are, and the objects behind gex_MK_t.

#include <gasnet_mk.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/memory.h"

namespace gex::kinds {

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
