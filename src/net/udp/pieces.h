#pragma once
// Bytes that lie in several places, as the kernel takes and gives them.

#include <sys/uio.h>

#include <cstddef>
#include <span>

namespace gex::net::udp {

inline std::size_t size_of(std::span<const iovec> pieces) noexcept {
  std::size_t size = 0;
  for (const iovec& piece : pieces) size += piece.iov_len;
  return size;
}

}  // namespace gex::net::udp
