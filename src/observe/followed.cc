#include "observe/followed.h"

#include "observe/trace.h"

namespace gex {

namespace {

struct Followed {
  enum class End : std::uint8_t { done, local };

  CompletionTarget word;
  std::uint64_t id;
  End end;
  /// Parts that are left, above `unsettled` while their number is not known.
  std::atomic<std::int64_t> left{unsettled};

  static constexpr std::int64_t unsettled = std::int64_t{1} << 40;

  CompletionTarget tagged() noexcept {
    return reinterpret_cast<CompletionTarget>(reinterpret_cast<std::uintptr_t>(this) |
                                              followed_tag);
  }
  static Followed& of(CompletionTarget target) noexcept {
    return *reinterpret_cast<Followed*>(reinterpret_cast<std::uintptr_t>(target) & ~followed_tag);
  }

  /// Returns whether it was the last of it.
  bool take(std::int64_t parts) noexcept {
    // Acquire and release: the thread that ends the record has seen what the others did with it.
    return left.fetch_sub(parts, std::memory_order_acq_rel) == parts;
  }
  void record() const noexcept {
    if (end == End::done)
      trace::operation_done(id);
    else
      trace::local_done(id);
  }
};

}  // namespace

void complete_followed(CompletionTarget target, std::uint32_t parts) noexcept {
  Followed& followed = Followed::of(target);
  const CompletionTarget word = followed.word;
  if (followed.take(parts)) {
    // Before the client can see it.
    followed.record();
    delete &followed;
  }
  complete(word, parts);
}

FollowedTargets follow(CompletionTarget done, CompletionTarget local_done) noexcept {
  const std::uint64_t id = trace::operation_begun();
  FollowedTargets targets{(new Followed{done, id, Followed::End::done})->tagged(), nullptr};
  if (local_done != nullptr)
    targets.local_done = (new Followed{local_done, id, Followed::End::local})->tagged();
  return targets;
}

namespace {
void settle_one(CompletionTarget target, std::uint32_t parts) noexcept {
  Followed& followed = Followed::of(target);
  if (!followed.take(Followed::unsettled - parts)) return;
  if (parts != 0) followed.record();
  delete &followed;
}
}  // namespace

void settle(const FollowedTargets& targets, std::uint32_t parts,
            std::uint32_t local_parts) noexcept {
  if (parts == 0) trace::operation_withdrawn();
  settle_one(targets.done, parts);
  if (targets.local_done != nullptr) settle_one(targets.local_done, local_parts);
}

}  // namespace gex
