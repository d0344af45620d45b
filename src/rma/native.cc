#include "rma/native.h"

#include <algorithm>
#include <memory>

#include "core/process.h"
#include "core/progress.h"
#include "rma/kept.h"

namespace gex::rma {

namespace {

/// A transfer that is given to the network part by part.
struct Injection {
  Transfer transfer;
  net::SegmentKey key;
  bool put;
  CompletionTarget done;
  CompletionTarget local;
  std::size_t injected = 0;  ///< bytes

  bool whole() const noexcept { return injected == transfer.size; }

  /// Injects the next part; false if there is no room for it now.
  bool inject_next() noexcept {
    const net::Conduit& conduit = *process().conduit;
    const std::size_t size = std::min(process().network.max_transfer, transfer.size - injected);
    const net::Remote remote{transfer.jobrank, key, transfer.remote + injected};
    std::byte* at = static_cast<std::byte*>(transfer.local) + injected;
    const net::SendResult result =
        put ? conduit.put(&remote, at, size, done, local) : conduit.get(&remote, at, size, done);
    if (result != net::sent) return false;
    injected += size;
    return true;
  }
};

/// What an immediate transfer leaves to polls, once its first part is under way.
struct Rest final : Kept {
  explicit Rest(const Injection& begun) : injection(begun) {}

  Injection injection;

  bool advance() noexcept override {
    while (!injection.whole())
      if (!injection.inject_next()) return false;
    return true;
  }
};

int inject(Injection injection, bool immediate) noexcept {
  while (!injection.whole()) {
    if (injection.inject_next()) continue;
    if (!immediate) {
      wait_until([&]() noexcept { return injection.inject_next(); });
    } else if (injection.injected == 0) {
      return 1;
    } else {
      keep(std::make_unique<Rest>(injection));
      return 0;
    }
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
  return inject({transfer, *transfer.key, true, done, local}, immediate);
}

int native_get(const Transfer& transfer, CompletionTarget done, bool immediate) noexcept {
  return inject({transfer, *transfer.key, false, done, nullptr}, immediate);
}

}  // namespace gex::rma
