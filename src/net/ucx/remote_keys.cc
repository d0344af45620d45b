#include "net/ucx/remote_keys.h"

#include <cstring>
#include <utility>

#include "net/kit/fatal.h"
#include "net/ucx/segments.h"

namespace gex::net::ucx {

namespace {

/// Keys of one peer's that are kept whatever has become of their segments.
constexpr std::size_t max_kept = 64;

}  // namespace

RemoteKeys::OfPeer& RemoteKeys::of(std::uint32_t peer) {
  OfPeer*& known = peers_[peer];
  if (known == nullptr) [[unlikely]]
    known = &contacted_.emplace_back();
  return *known;
}

ucp_rkey_h RemoteKeys::find(const Remote& remote, bool is_idle) {
  OfPeer& known = of(remote.peer);
  std::uint64_t number = 0;
  std::memcpy(&number, remote.key, sizeof number);
  if (!known.empty() && known.front().number == number) [[likely]]
    return known.front().key;
  for (Known& one : known) {
    if (one.number != number) continue;
    std::swap(one, known.front());
    return known.front().key;
  }
  if (known.size() >= max_kept && is_idle) forget(known);
  ucp_rkey_h const key = unpack(remote, number);
  known.push_back({number, key});
  std::swap(known.back(), known.front());
  return key;
}

ucp_rkey_h RemoteKeys::unpack(const Remote& remote, std::uint64_t number) {
  KeyHeader header;
  std::memcpy(&header, remote.key, sizeof header);
  if (number == 0 || header.size == 0 || header.size > key_bytes_ - sizeof header)
    fatal(host_, "ucx: the key of rank %u's segment is not one of its keys", remote.peer);
  ucp_rkey_h key = nullptr;
  const ucs_status_t status = ucp_ep_rkey_unpack(
      endpoints_.to(remote.peer), static_cast<const std::byte*>(remote.key) + sizeof header, &key);
  if (status != UCS_OK) endpoints_.lost(remote.peer, "access to its segment", status);
  return key;
}

void RemoteKeys::forget(OfPeer& known) {
  for (const Known& one : known) ucp_rkey_destroy(one.key);
  known.clear();
}

void RemoteKeys::forget_all() {
  for (OfPeer& known : contacted_) forget(known);
}

}  // namespace gex::net::ucx
