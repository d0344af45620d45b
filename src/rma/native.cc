#include "rma/native.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "am/deferred_send.h"
#include "base/round_up.h"
#include "core/memory.h"
#include "core/process.h"
#include "rma/injection.h"

namespace gex::rma {

namespace {

/// A transfer that is given to the network part by part.
struct NativeInjection : ContiguousInjection {
  CompletionTarget local_done;

  bool inject_next() noexcept {
    const net::Conduit& conduit = *process().conduit;
    const std::size_t size = std::min(process().network.max_transfer, transfer.size - injected);
    const net::Remote remote{transfer.peer.jobrank, transfer.key, transfer.remote + injected};
    std::byte* const local = static_cast<std::byte*>(transfer.local) + injected;
    const net::SendResult result = put ? conduit.put(&remote, local, size, done, local_done)
                                       : conduit.get(&remote, local, size, done);
    if (result != net::sent) return false;
    injected += size;
    return true;
  }
};

/// The bytes of all copies of sources together.
std::atomic<std::size_t> copied{0};
constexpr std::size_t max_copied = std::size_t{16} << 20;

bool take_copied(std::size_t size, bool any_size) noexcept {
  std::size_t before = copied.load(std::memory_order_relaxed);
  do {
    const bool fits = size <= max_copied && before <= max_copied - size;
    if (!fits && (!any_size || before != 0)) return false;
  } while (!copied.compare_exchange_weak(before, before + size, std::memory_order_relaxed));
  return true;
}

/// A copy of a put's source; polls keep it until all parts have been sent.
class SourceCopy final : public am::DeferredSend {
 public:
  /// Null if there is no memory for it.
  static std::unique_ptr<SourceCopy> of(const ResolvedTransfer& transfer, bool any_size) noexcept {
    if (!take_copied(transfer.size, any_size)) return nullptr;
    std::unique_ptr<SourceCopy> made(new (std::nothrow) SourceCopy(transfer));
    if (!made) copied.fetch_sub(transfer.size, std::memory_order_relaxed);
    if (!made || !made->bytes_) return nullptr;
    copy_memory(made->bytes_.get(), transfer.local, transfer.size);
    return made;
  }
  ~SourceCopy() override { copied.fetch_sub(size_, std::memory_order_relaxed); }

  std::byte* bytes() noexcept { return bytes_.get(); }
  /// Returns the target that a part completes once it is sent.
  CompletionTarget sent() noexcept { return &sent_; }
  bool advance() noexcept override { return StdCompletion::load_acquire(sent_) == parts_; }

 private:
  explicit SourceCopy(const ResolvedTransfer& transfer) noexcept
      : size_(transfer.size),
        parts_(native_parts_of(transfer)),
        bytes_(new (std::nothrow) std::byte[transfer.size]) {}

  std::size_t size_;
  std::uint32_t parts_;
  std::unique_ptr<std::byte[]> bytes_;
  StdCompletion::Word sent_{0};
};

Injected inject(NativeInjection injection, bool immediate) noexcept {
  if (!inject_all<DeferredInjection<NativeInjection>>(injection, immediate)) return not_injected;
  return {native_parts_of(injection.transfer), /*completes_local_done=*/injection.put};
}

/// Injects a put from a copy of its source, which is kept until the network has done with it.
Injected inject_copy(const ResolvedTransfer& transfer, std::unique_ptr<SourceCopy> copy,
                     CompletionTarget done, bool immediate) noexcept {
  ResolvedTransfer from_copy = transfer;
  from_copy.local = copy->bytes();
  const Injected injected = inject({{from_copy, true, done}, copy->sent()}, immediate);
  if (injected.parts == 0) return not_injected;
  if (!copy->advance()) am::defer(std::move(copy));
  return {injected.parts};
}

}  // namespace

std::uint32_t native_parts_of(const ResolvedTransfer& transfer) noexcept {
  return static_cast<std::uint32_t>(quotient_up(transfer.size, process().network.max_transfer));
}

Injected native_put(const ResolvedTransfer& transfer, const CompletionTargets& targets,
                    FromCopy from_copy, bool immediate) noexcept {
  if (from_copy != FromCopy::no) {
    const bool must_copy = from_copy == FromCopy::yes;
    std::unique_ptr<SourceCopy> copy = SourceCopy::of(transfer, must_copy);
    if (copy) return inject_copy(transfer, std::move(copy), targets.done, immediate);
    if (must_copy) return not_injected;
  }
  return inject({{transfer, true, targets.done}, targets.local_done}, immediate);
}

Injected native_get(const ResolvedTransfer& transfer, CompletionTarget done,
                    bool immediate) noexcept {
  return inject({{transfer, false, done}, nullptr}, immediate);
}

}  // namespace gex::rma
