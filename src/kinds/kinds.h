#pragma once
// The memory kinds that clients make: which classes there are, and the objects behind gex_MK_t.
//
// A further class is a folder beside `cuda`, a pointer in kinds.cc, and what
// docs/writing-a-kind.md names. All other code works on any:
//
//   kinds/device_class.h   DeviceClass, which a folder defines
//   core/memory.h          MemoryKind, from which its devices derive; `kind_at` an address
//   core/memory_class.h    the names of a class, which the room registers
//   core/memory_sharing.h  MemorySharing: how neighbors open its segments
//   rma/by_kind.h          its copies, where they reach both ends; vis/by_kind.h for rows
//   rma/native.h           the network, where that has a key
//   rma/staged_put.h,      messages for all else, copied from and to it part by part
//   rma/staging.h

#include <gasnet_mk.h>

#include <span>
#include <string>

#include "kinds/device_class.h"

namespace gex::kinds {

/// The classes of this library.
std::span<const DeviceClass* const> classes() noexcept;

/// Returns true if there is a class of that number, in this library or in others.
bool is_class(gex_MK_Class_t number) noexcept;
/// The class that a client names by that number, of which there is one.
constexpr net::MemoryClass memory_class_of(gex_MK_Class_t number) noexcept {
  return static_cast<net::MemoryClass>(number);
}

/// Registers the classes (core/memory_class.h), and looks for those that this machine may have;
/// start-up only, before the job is joined.
void expect();

/// Has polls make progress with the kinds; start-up only.
void start();

/// Makes a kind for the client: GASNET_OK, or an error with the reason in `why`.
int create(gex_MK_t& made, gex_Client_t client, const gex_MK_Create_args_t& args, std::string& why);

/// Returns true if there is that kind, which is not the host's.
bool exists(gex_MK_t kind) noexcept;

/// Ends a kind that exists.
void destroy(gex_MK_t kind) noexcept;

}  // namespace gex::kinds
