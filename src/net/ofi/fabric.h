#pragma once
// libfabric's objects, closed when they go, and its errors as text.

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <memory>
#include <string>

namespace gex::net::ofi {

struct CloseFid {
  template <class T>
  void operator()(T* object) const noexcept {
    fi_close(&object->fid);
  }
};
/// Owns a fid_*: `Fid<fid_domain> domain`.
template <class T>
using Fid = std::unique_ptr<T, CloseFid>;

struct FreeInfo {
  void operator()(fi_info* info) const noexcept { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

/// The version of the interface that is asked for: the newest that this conduit was written against
/// and the library has. Some providers do less for clients that ask for an old one.
constexpr std::uint32_t asked_version(std::uint32_t library) noexcept {
  constexpr std::uint32_t newest = FI_VERSION(1, 22);
  return library < newest ? library : newest;
}

/// FI_MR_BASIC, which newer headers deprecate.
inline constexpr int basic_registration_mode = 1 << 0;

/// Text of a libfabric result (negative, as its functions return it, or positive).
inline std::string error_text(long result) {
  return fi_strerror(static_cast<int>(result < 0 ? -result : result));
}

}  // namespace gex::net::ofi
