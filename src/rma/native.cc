#include "rma/native.h"

#include <algorithm>

#include "core/process.h"
#include "core/progress.h"

namespace gex::rma {

namespace {

/// Calls `inject(remote, local, size)`, which answers as a conduit does, for each part.
template <class Inject>
int for_each_part(const Transfer& transfer, bool immediate, Inject inject) noexcept {
  const std::size_t limit = process().network.max_transfer;
  for (std::size_t offset = 0; offset < transfer.size; offset += limit) {
    const net::Remote remote{transfer.jobrank, *transfer.key, transfer.remote + offset};
    std::byte* local = static_cast<std::byte*>(transfer.local) + offset;
    const std::size_t size = std::min(limit, transfer.size - offset);
    const auto injected = [&]() noexcept { return inject(remote, local, size) == net::sent; };
    if (injected()) continue;
    if (immediate && offset == 0) return 1;
    wait_until(injected);
  }
  return 0;
}

}  // namespace

bool is_native(const Transfer& transfer) noexcept {
  return transfer.key != nullptr && process().conduit->put != nullptr;
}

std::uint32_t native_parts_of(const Transfer& transfer) noexcept {
  const std::size_t limit = process().network.max_transfer;
  return static_cast<std::uint32_t>((transfer.size + limit - 1) / limit);
}

int native_put(const Transfer& transfer, CompletionTarget done, CompletionTarget local,
               bool immediate) noexcept {
  const auto put = process().conduit->put;
  return for_each_part(transfer, immediate,
                       [&](const net::Remote& remote, const std::byte* from, std::size_t size) {
                         return put(&remote, from, size, done, local);
                       });
}

int native_get(const Transfer& transfer, CompletionTarget done, bool immediate) noexcept {
  const auto get = process().conduit->get;
  return for_each_part(transfer, immediate,
                       [&](const net::Remote& remote, std::byte* to, std::size_t size) {
                         return get(&remote, to, size, done);
                       });
}

}  // namespace gex::rma
