#pragma once
// Puts and gets of memory of CUDA's device 0. Rank 0 is active; rank 1 waits in a barrier, since
// processes that copy at the same time have the device in turn.

#include "measurements.h"

namespace gexperf {

/// A measurement with options has two: bytes of a transfer, and the memory of its ends.
///
///   host.device        the local end first: a put from host memory to the device's at rank 1, or
///                      a get from there into host memory
///   self.host.device   at rank 0 itself
void cuda_put(const Context& context);
void cuda_get(const Context& context);
void cuda_flood_of_puts(const Context& context);
void cuda_flood_of_gets(const Context& context);
void cuda_strided_put(const Context& context);
void cuda_strided_get(const Context& context);
/// Rank 1 publishes a segment of 64 MiB, and rank 0 puts 8 bytes into it.
void cuda_first_put(const Context& context);
/// A kernel that waits for 8 bytes, and the driver's copy of them; without libgex.
void cuda_kernel_put(const Context& context);
/// `gasnet_AMPoll` while there is a kind and nothing to do.
void cuda_idle_poll(const Context& context);

/// Bytes of host memory that they need of every rank.
inline constexpr std::size_t cuda_host_bytes = segment_bytes + 2 * (std::size_t{64} << 20);

}  // namespace gexperf
