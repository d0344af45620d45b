#pragma once
// Segments of this process: where their memory is from, and what they are bound to.
//
// Memory that the library allocates lies in shared memory as long as this process's part of it has
// room, so that neighbors reach it by copying. Beyond that, and where the client gives memory of
// its own, they reach it by messages.

#include <gasnetex.h>

#include <cstddef>
#include <string>

#include "core/objects.h"
#include "core/published.h"

namespace gex {

/// Bytes that this host can still give to segments, by memory and by control group.
std::uint64_t usable_memory();

/// Makes a segment of `bytes` in memory of the library's, which is not more than is usable; null,
/// with the reason in errno, if there are no addresses for it. Any thread.
gex_Segment_t allocate_segment(gex_Client_t client, std::uintptr_t bytes, gex_Flags_t flags = 0);

/// Makes a segment of `bytes` of memory that the kind allocates; null, with the reason in `why`, if
/// it has none. Any thread.
gex_Segment_t allocate_segment(gex_Client_t client, std::uintptr_t bytes, gex_Flags_t flags,
                               const MemoryKind& kind, std::string& why);

/// Makes a segment of the client's memory, which is the host's (null) or of another kind, that
/// outlives it. Any thread.
gex_Segment_t register_segment(gex_Client_t client, void* address, std::uintptr_t bytes,
                               gex_Flags_t flags = 0, const MemoryKind* kind = nullptr);

/// Checked mode: ends the job if there is no such segment, or none any more.
void require_live_segment(gex_Segment_t segment, const char* call) noexcept;

/// Ends a segment that is bound to no endpoint, its memory with it unless that is the client's.
/// `untouched`: no client has been given the segment yet.
void destroy_segment(gex_Segment_t segment, bool untouched = false);

/// Binds the segment, or none if it is null, to an idle endpoint in the place of what is bound to
/// it. It is valid in this process at once, in others when it is published.
void bind_segment(gex_EP_t endpoint, gex_Segment_t segment);

/// The class of a segment's memory, in the terms of the conduit interface.
net::MemoryClass class_of(const _gex_Segment& segment) noexcept;

/// Lets the network's one-sided operations reach the segment, if it has any and takes this kind of
/// memory; asked once, when the segment is first published or used. Returns whether it has a key.
/// Any thread.
bool give_to_network(_gex_Segment& segment);

/// Returns true if the network's one-sided operations also have a segment of a device's, an own
/// one, as their local side. Lets them reach it as `give_to_network` does.
bool is_local_for_network(_gex_Segment& segment);

/// Where the memory of a segment of this process lies in its part of shared memory, or
/// `not_shared`. Any thread.
std::uint64_t shared_offset(const _gex_Segment& segment) noexcept;
/// Where memory that begins at `address` lies there, if that is in a segment. Any thread.
std::uint64_t shared_offset(const void* address) noexcept;

}  // namespace gex
