// Direct operations: members post where their memory is, and the bytes are copied once.
//
// A broadcast takes one number for itself, under which the root posts its Description. A member
// that does not reach the root's memory posts so under the same number, and the root then posts
// pieces; a member that has copied all publishes that it has read all numbers of the operation,
// which is what the root waits for.
//
// In a team of two with a core each the root helps. The other member posts where its memory is.
// Both claim chunks, by a count in the root's post, and copy them: the one from the first on, the
// root from the last on. The root marks the count once no chunk is left and its own are copied, and
// the other member waits for that if the root has claimed any.
//
// A reduction takes three. Under the first all post Descriptions. Under the second they post
// whether they reach all memory that they need, unless that is clear; if one does not, all go on by
// pieces. Otherwise each member combines a slice of all operands and copies it to those that want
// the result, then posts that under the third. A member that has seen all those posts has its
// result, and its memory is used no more.
//
// The result may be in the place of the operand: only the member that combines a slice reads it of
// the operands, and only that member writes it.

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/error.h"
#include "base/spin.h"
#include "coll/shared.h"

namespace gex::coll {

namespace {

/// Bytes that one call moves: then others may want the core, or handlers run.
constexpr std::size_t max_copied_at_once = 1 << 20;
constexpr std::size_t max_combined_at_once = 256 * 1024;

/// So many bytes are combined before they are copied to their place: for a near cache where all
/// operands are mapped, else so much that the kernel's calls cost little beside its copies.
constexpr std::size_t mapped_chunk = 16 * 1024;
constexpr std::size_t copied_chunk = 64 * 1024;
/// Below so many bytes of a slice the kernel's calls cost more than pieces.
constexpr std::size_t min_slice_by_kernel = 4096;

constexpr std::size_t page_bytes = 4096;

/// Fewer bytes are copied before a root could help.
constexpr std::size_t min_helped_bytes = 48 * 1024;
/// Root and other member claim so many bytes at a time: few enough claims, and small enough for an
/// even end.
constexpr std::size_t chunk_to_claim(std::size_t bytes) noexcept {
  const std::size_t chunk = std::clamp<std::size_t>(bytes / 8, 32 * 1024, 256 * 1024);
  return chunk / page_bytes * page_bytes;
}
constexpr std::uint32_t chunks_to_claim(std::size_t bytes) noexcept {
  const std::size_t chunk = chunk_to_claim(bytes);
  return static_cast<std::uint32_t>((bytes + chunk - 1) / chunk);
}

/// In the count of claims: the root has copied all that it has claimed, and claims no more.
constexpr std::uint32_t all_copied = 1U << 31;

/// Members of a broadcast whose data the kernel copies out of memory that is not shared. It counts
/// the users of a page, and a huge page is one: with more members they wait for each other (1 MiB
/// to 7 members took four times as long as by pieces, to 15 eight times).
constexpr gex_Rank_t max_members_by_kernel = 3;

/// A member's answer in the second posts of a reduction.
struct Verdict {
  std::uint8_t reaches_all;            ///< that it needs of this operation
  std::uint8_t kernel_copies_for_all;  ///< between it and each other member
};

bool by_kernel(const SharedOperation& operation, gex_Rank_t members) noexcept {
  return operation.request.bytes / members >= min_slice_by_kernel;
}

/// Where a member begins to copy a broadcast's bytes if the kernel does it, which counts the users
/// of each page that it copies: members that are at the same page at the same time wait for each
/// other.
std::size_t start_of(const Request& request, const Team& team) noexcept {
  const gex_Rank_t behind = (team.rank + team.size - request.root) % team.size - 1;
  const std::size_t start = request.bytes / (team.size - 1) * behind;
  return start / page_bytes * page_bytes;
}

}  // namespace

/// Fits in a post's cell. The lower half of the number of bytes stands in the ready word.
struct Shared::Description {
  MemoryAt source;
  MemoryAt destination;
  std::uint32_t upper_bytes;
  std::uint32_t direct;  ///< of a broadcast's root; 0: the operation goes on by pieces
  /// A broadcast's root counts the claimed chunks here; another member sets it to not 0 if it does
  /// not reach the root's memory. Changes after it has been posted.
  std::uint32_t shared_word;

  std::atomic_ref<std::uint32_t> word() noexcept {
    return std::atomic_ref<std::uint32_t>(shared_word);
  }
};

bool Shared::describe(SharedOperation& operation) {
  static_assert(sizeof(Description) <= shm::post_cell_bytes);
  if (!may_write(operation.first)) return false;
  const Request& request = operation.request;
  Description description{};
  description.source = memory_at(request.source);
  if (operation.reads && request.kind != Kind::broadcast)
    description.destination = memory_at(request.destination);
  description.upper_bytes = static_cast<std::uint32_t>(request.bytes >> 32);
  description.direct = 1;
  const bool kernel_copies = !kernel_refused_ && team_.size <= max_members_by_kernel;
  if (request.kind == Kind::broadcast && !kernel_copies &&
      (mapped_refused_ || !description.source.shared()))
    description.direct = 0;
  if (request.kind == Kind::broadcast) operation.agrees = description.direct != 0;
  post_description(operation, description);
  operation.described = true;
  return true;
}

void Shared::post_description(const SharedOperation& operation,
                              const Description& description) noexcept {
  shm::PostBoard& own = *boards_[team_.rank];
  std::memcpy(own.cell(operation.first), &description, sizeof description);
  shown_ = true;
  shm::publish_post<shm::StdAtomics>(own.ready(operation.first), operation.first,
                                     static_cast<std::uint32_t>(operation.request.bytes));
}

Shared::Description* Shared::description_of(gex_Rank_t member,
                                            const SharedOperation& operation) noexcept {
  if (!has_posted(member, operation.first, operation.request.bytes)) return nullptr;
  auto* const description = reinterpret_cast<Description*>(boards_[member]->cell(operation.first));
  if (description->upper_bytes != operation.request.bytes >> 32) [[unlikely]]
    refuse_size(member, std::uint64_t{description->upper_bytes} << 32, operation.request.bytes);
  return description;
}

void Shared::go_on_by_pieces(SharedOperation& operation) {
  operation.shape = shape_of_pieces(operation.request);
  operation.first += SharedOperation::numbers_before_pieces(operation.request.kind);
  // All operations that have posted since then are behind this one.
  if (operation.posts) posting_ = &operation;
}

void Shared::finish_directly(SharedOperation& operation) {
  operation.piece = operation.pieces;
  operation.posted = operation.pieces;
}

bool Shared::move_directly(SharedOperation& operation, bool& progressed) {
  if (!operation.described) return false;
  if (operation.request.kind != Kind::broadcast) return reduce_directly(operation, progressed);
  return operation.posts ? serve_copy(operation, progressed) : take_copy(operation, progressed);
}

bool Shared::may_help(const SharedOperation& operation) const noexcept {
  return team_.size == 2 && operation.request.bytes >= min_helped_bytes && !oversubscribed();
}

bool Shared::help(SharedOperation& operation, bool& progressed) {
  const Request& request = operation.request;
  const gex_Rank_t other = 1 - team_.rank;
  if (has_read(other, operation.end)) return true;
  // It may read without a post of its own: that is not all that is waited for.
  if (!is_posted(other, operation.first)) return false;
  Description* const there = description_of(other, operation);
  // Acquire: pairs with the member's refusal.
  if (there->word().load(std::memory_order_acquire) != 0) return true;
  if (!access_.kernel_reaches(other) && !access_.maps(other, there->destination, request.bytes))
    return true;
  Description& own = *description_of(team_.rank, operation);
  const std::size_t chunk = chunk_to_claim(request.bytes);
  const std::uint32_t chunks = chunks_to_claim(request.bytes);
  for (std::size_t copied = 0; copied < max_copied_at_once; copied += chunk) {
    // Relaxed: a claim orders nothing.
    if (own.word().fetch_add(1, std::memory_order_relaxed) >= chunks) {
      // Release: the copies come before.
      shown_ = true;
      own.word().fetch_or(all_copied, std::memory_order_release);
      return true;
    }
    const std::size_t at = (chunks - 1 - operation.claimed) * chunk;
    const std::size_t bytes = std::min(chunk, request.bytes - at);
    if (!access_.copy_to(other, there->destination + at, request.source + at, bytes))
      refuse_member(other);
    ++operation.claimed;
    progressed = true;
  }
  return false;
}

bool Shared::serve_copy(SharedOperation& operation, bool& progressed) {
  const Request& request = operation.request;
  if (!operation.agrees) {
    go_on_by_pieces(operation);
    return true;
  }
  if (request.destination != request.source && operation.moved != request.bytes) {
    const std::size_t bytes = std::min(request.bytes - operation.moved, max_copied_at_once);
    std::memcpy(request.destination + operation.moved, request.source + operation.moved, bytes);
    operation.moved += bytes;
    progressed = true;
    if (operation.moved != request.bytes) return false;
  }
  if (operation.stage != Stage::ending) {
    if (may_help(operation) && !help(operation, progressed)) return false;
    operation.stage = Stage::ending;
  }
  // Pieces do not wait for those that copy: all have copied or refused before.
  for (; operation.seen != team_.size; ++operation.seen) {
    if (operation.seen == team_.rank || has_read(operation.seen, operation.end)) continue;
    // Acquire: the member's copies precede what follows here.
    if (!is_posted(operation.seen, operation.first) ||
        description_of(operation.seen, operation)->word().load(std::memory_order_acquire) == 0)
      return false;
    operation.refused = true;
  }
  if (!operation.refused) {
    finish_directly(operation);
    return true;
  }
  kernel_refused_ = true;
  mapped_refused_ = mapped_refused_ || memory_at(request.source).shared();
  go_on_by_pieces(operation);
  return true;
}

bool Shared::take_copy(SharedOperation& operation, bool& progressed) {
  const Request& request = operation.request;
  if (operation.stage != Stage::ending) {
    // Before the root's post is there: the root may be waiting for this one.
    if (!operation.offered && operation.moved == 0 && may_help(operation) &&
        may_write(operation.first)) {
      Description description{};
      description.destination = memory_at(request.destination);
      description.upper_bytes = static_cast<std::uint32_t>(request.bytes >> 32);
      post_description(operation, description);
      operation.offered = true;
    }
    if (!operation.refused) {
      Description* const root = description_of(request.root, operation);
      if (root == nullptr) return false;
      if (root->direct == 0) {
        go_on_by_pieces(operation);
        return true;
      }
      const bool all =
          operation.offered ? copy_claimed(operation, *root) : copy_all(operation, *root);
      progressed = true;
      if (!operation.refused && !all) return false;
    }
    if (operation.refused) return refuse_copy(operation);
    operation.stage = Stage::ending;
  }
  // Acquire: pairs with the root's mark.
  if (operation.offered && operation.claimed != chunks_to_claim(request.bytes) &&
      (description_of(request.root, operation)->word().load(std::memory_order_acquire) &
       all_copied) == 0)
    return false;
  shown_ = true;
  reader_.advance_now_to(operation.end, boards_[team_.rank]->read);
  finish_directly(operation);
  return true;
}

bool Shared::copy_all(SharedOperation& operation, const Description& root) {
  const Request& request = operation.request;
  std::size_t at = operation.moved;
  if (!root.source.shared()) at = (at + start_of(request, team_)) % request.bytes;
  const std::size_t bytes =
      std::min({request.bytes - operation.moved, request.bytes - at, max_copied_at_once});
  operation.refused =
      !access_.copy_from(request.root, root.source + at, request.destination + at, bytes);
  operation.moved += bytes;
  return operation.moved == request.bytes;
}

bool Shared::copy_claimed(SharedOperation& operation, Description& root) {
  const Request& request = operation.request;
  const std::size_t chunk = chunk_to_claim(request.bytes);
  for (std::size_t copied = 0; copied < max_copied_at_once; copied += chunk) {
    // Relaxed: a claim orders nothing.
    if ((root.word().fetch_add(1, std::memory_order_relaxed) & ~all_copied) >=
        chunks_to_claim(request.bytes))
      return true;
    const std::size_t at = operation.claimed * chunk;
    const std::size_t bytes = std::min(chunk, request.bytes - at);
    operation.refused =
        !access_.copy_from(request.root, root.source + at, request.destination + at, bytes);
    if (operation.refused) return false;
    ++operation.claimed;
  }
  return false;
}

bool Shared::refuse_copy(SharedOperation& operation) {
  if (operation.offered) {
    // Release: the root posts pieces after this member's last copy.
    shown_ = true;
    description_of(team_.rank, operation)->word().store(1, std::memory_order_release);
  } else {
    if (!may_write(operation.first)) return false;
    Description description{};
    description.upper_bytes = static_cast<std::uint32_t>(operation.request.bytes >> 32);
    description.shared_word = 1;
    post_description(operation, description);
  }
  go_on_by_pieces(operation);
  return true;
}

bool Shared::reduce_directly(SharedOperation& operation, bool& progressed) {
  if (operation.stage == Stage::describing || operation.stage == Stage::agreeing) {
    if (!agree_on_reduction(operation, progressed)) return false;
    if (!operation.is_direct()) return true;
  }
  if (operation.stage == Stage::moving && !combine_slice(operation, progressed)) return false;
  for (; operation.seen != team_.size; ++operation.seen)
    if (!has_posted(operation.seen, operation.first + 2, operation.request.bytes)) return false;
  finish_directly(operation);
  return true;
}

bool Shared::agree_on_reduction(SharedOperation& operation, bool& progressed) {
  const auto next_stage = [&](Stage stage) {
    operation.stage = stage;
    operation.seen = 0;
    progressed = true;
  };
  if (operation.stage == Stage::describing) {
    // Here `agrees` is whether all memory is in segments.
    for (; operation.seen != team_.size; ++operation.seen) {
      const Description* const description = description_of(operation.seen, operation);
      if (description == nullptr) return false;
      const bool receives =
          operation.request.kind == Kind::reduce_to_all || operation.request.root == operation.seen;
      operation.agrees = operation.agrees && description->source.shared() &&
                         (!receives || description->destination.shared());
    }
    operation.all_shared = operation.agrees;
    const bool kernel_may = by_kernel(operation, team_.size);
    if (kernel_may && kernel_ == Kernel::between_all) {
      next_stage(Stage::moving);
      return true;
    }
    if (!operation.all_shared && (!kernel_may || kernel_ == Kernel::not_between_all)) {
      go_on_by_pieces(operation);
      return true;
    }
    if (!post_verdict(operation)) return false;
    operation.agrees = true;
    next_stage(Stage::agreeing);
  }
  for (; operation.seen != team_.size; ++operation.seen) {
    if (!has_posted(operation.seen, operation.first + 1, operation.request.bytes)) return false;
    Verdict verdict{};
    std::memcpy(&verdict, boards_[operation.seen]->cell(operation.first + 1), sizeof verdict);
    operation.agrees = operation.agrees && verdict.reaches_all != 0;
    operation.kernel_agrees = operation.kernel_agrees && verdict.kernel_copies_for_all != 0;
  }
  kernel_ = operation.kernel_agrees ? Kernel::between_all : Kernel::not_between_all;
  if (operation.agrees)
    next_stage(Stage::moving);
  else
    go_on_by_pieces(operation);
  return true;
}

bool Shared::post_verdict(SharedOperation& operation) {
  const Request& request = operation.request;
  const std::uint32_t number = operation.first + 1;
  if (!may_write(number)) return false;
  Verdict verdict{1, 1};
  for (gex_Rank_t member = 0; member < team_.size; ++member) {
    if (member == team_.rank) continue;
    const bool kernel = access_.kernel_reaches(member);
    if (!kernel) verdict.kernel_copies_for_all = 0;
    if (kernel && by_kernel(operation, team_.size)) continue;
    const Description& description = *description_of(member, operation);
    const bool receives = request.kind == Kind::reduce_to_all || request.root == member;
    if (!access_.maps(member, description.source, request.bytes) ||
        (receives && !access_.maps(member, description.destination, request.bytes)))
      verdict.reaches_all = 0;
  }
  shm::PostBoard& own = *boards_[team_.rank];
  std::memcpy(own.cell(number), &verdict, sizeof verdict);
  shown_ = true;
  shm::publish_post<shm::StdAtomics>(own.ready(number), number,
                                     static_cast<std::uint32_t>(request.bytes));
  return true;
}

bool Shared::combine_slice(SharedOperation& operation, bool& progressed) {
  const Request& request = operation.request;
  const SharedOperation::Slice slice = operation.slice(request.bytes, team_.rank, team_.size);
  const std::size_t element = request.reduction.element;
  const std::size_t chunk =
      (operation.all_shared ? mapped_chunk : copied_chunk) / element * element;
  for (std::size_t combined = 0; operation.moved != slice.bytes;) {
    if (combined >= max_combined_at_once) return false;
    const std::size_t bytes = std::min(chunk, slice.bytes - operation.moved);
    combine_chunk(operation, slice.offset + operation.moved, bytes);
    operation.moved += bytes;
    combined += bytes;
    progressed = true;
  }
  const std::uint32_t number = operation.first + 2;
  if (!may_write(number)) return false;
  shown_ = true;
  shm::publish_post<shm::StdAtomics>(boards_[team_.rank]->ready(number), number,
                                     static_cast<std::uint32_t>(request.bytes));
  operation.stage = Stage::ending;
  return true;
}

void Shared::combine_chunk(SharedOperation& operation, std::size_t offset, std::size_t bytes) {
  const Request& request = operation.request;
  if (chunk_.empty()) chunk_.resize(3 * copied_chunk / sizeof(Line));
  std::byte* const partial = reinterpret_cast<std::byte*>(chunk_.data());
  std::byte* const buffer = partial + copied_chunk;
  const auto with_operand = [&](gex_Rank_t member, std::byte* place, auto act) {
    if (member == team_.rank) {
      act(request.source + offset);
      return;
    }
    const MemoryAt source = description_of(member, operation)->source + offset;
    if (!access_.read(member, source, place, bytes, act)) refuse_member(member);
  };
  // The last step makes the result in its place. A user's operator changes one of its operands, of
  // which the other may be there.
  const bool receives = request.kind == Kind::reduce_to_all || team_.rank == request.root;
  std::byte* const result =
      receives && request.reduction.builtin != nullptr ? request.destination + offset : partial;
  // From the last operand down. The first two are combined without a copy of either.
  with_operand(team_.size - 1, buffer + copied_chunk, [&](const std::byte* last) {
    with_operand(team_.size - 2, buffer, [&](const std::byte* left) {
      request.reduction.apply(left, last, team_.size == 2 ? result : partial, bytes);
    });
  });
  for (gex_Rank_t member = team_.size - 2; member-- > 0;)
    with_operand(member, buffer, [&](const std::byte* left) {
      if (member == 0 && result != partial)
        request.reduction.apply(left, partial, result, bytes);
      else
        request.reduction.apply(left, partial, bytes);
    });
  // Each begins with its own, so that not all write to the same one.
  for (gex_Rank_t i = 0; i < team_.size; ++i) {
    const gex_Rank_t member = (team_.rank + i) % team_.size;
    if (request.kind != Kind::reduce_to_all && member != request.root) continue;
    if (member == team_.rank) {
      if (result == partial) std::memcpy(request.destination + offset, partial, bytes);
      continue;
    }
    const MemoryAt destination = description_of(member, operation)->destination + offset;
    if (!access_.copy_to(member, destination, result, bytes)) refuse_member(member);
  }
}

}  // namespace gex::coll
