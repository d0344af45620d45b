#include "coll/shared.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "core/process.h"

namespace gex::coll {

namespace {

/// Operands that are read directly by everybody who wants the result.
constexpr gex_Rank_t most_flat_members = 16;
/// Above so many bytes members share the work of combining, if there are more than two.
constexpr std::size_t most_flat_bytes = 1024;

constexpr std::size_t most_piece_bytes = shm::post_buffer_bytes;

/// The elements of a piece that a member combines, in bytes of the piece.
struct Slice {
  std::size_t offset;
  std::size_t bytes;
};
Slice slice_of(const SharedOperation& operation, std::size_t piece_bytes, gex_Rank_t member,
               gex_Rank_t members) noexcept {
  const std::size_t element = operation.request.reduction.element;
  const std::size_t count = piece_bytes / element;
  const std::size_t first = count * member / members;
  const std::size_t end = count * (std::size_t{member} + 1) / members;
  return {first * element, (end - first) * element};
}

void copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (to != from) std::memcpy(to, from, bytes);
}

}  // namespace

Shared::Shared(Team& team, std::uint32_t slot)
    : team_(team), window_(shm::post_shape), reader_(shm::post_shape) {
  shm::Neighborhood& neighborhood = process().neighborhood;
  neighborhood.map_post_boards(slot);
  for (gex_Rank_t rank = 0; rank < team.size; ++rank)
    boards_.push_back(
        &neighborhood.post_board(slot, neighborhood.local_index_of(team.jobrank_of(rank))));
}

Shared::~Shared() {
  shm::PostBoard& own = *boards_[team_.rank];
  // Relaxed: the slot is used again only after all members have agreed that it is free.
  own.read.store(0, std::memory_order_relaxed);
  for (shm::PostCell& cell : own.cells) cell.ready.store(0, std::memory_order_relaxed);
}

bool Shared::takes(const Request& request) noexcept {
  if (request.kind == Kind::broadcast) return true;
  return is_reduction(request.kind) && request.reduction.element <= most_piece_bytes;
}

void Shared::shape(SharedOperation& operation) const noexcept {
  const Request& request = operation.request;
  using Shape = SharedOperation::Shape;
  const bool broadcast = request.kind == Kind::broadcast;
  const bool root = request.root == team_.rank;
  if (broadcast)
    operation.shape = Shape::copy;
  else if (team_.size > 2 && request.bytes > most_flat_bytes)
    operation.shape = Shape::sliced;
  else if (team_.size <= most_flat_members)
    operation.shape = Shape::flat;
  else
    operation.shape = Shape::grouped;
  operation.posts = !broadcast || root;
  operation.reads = broadcast ? !root : request.kind == Kind::reduce_to_all || root;
  if (request.bytes <= most_piece_bytes) {
    operation.piece_bytes = request.bytes;
    operation.pieces = 1;
  } else {
    const std::size_t element = request.reduction.element;
    const std::size_t piece = most_piece_bytes / element * element;
    operation.piece_bytes = piece;
    operation.pieces = static_cast<std::uint32_t>((request.bytes + piece - 1) / piece);
  }
  operation.posted = operation.posts ? 0 : operation.pieces;
  operation.piece = 0;
  operation.second = false;
  operation.next = GEX_RANK_INVALID;
}

void Shared::launch(SharedOperation& operation) {
  shape(operation);
  operation.first = next_number_;
  next_number_ += operation.pieces * operation.numbers_each();
  operations_.push(operation);
  if (posting_ == nullptr) posting_ = &operation;
  advance();
}

bool Shared::advance() {
  bool progressed = posting_ != nullptr && post_operands();
  while (!operations_.empty()) {
    SharedOperation& operation = *operations_.front();
    progressed |= read(operation);
    // It is behind `posting_`, because the own operand was the last thing looked at.
    if (operation.piece != operation.pieces || operation.posted != operation.pieces) break;
    operations_.pop();
    reader_.advance_to(operation.first + operation.pieces * operation.numbers_each(),
                       boards_[team_.rank]->read);
    operation.finish();
    progressed = true;
    // The cells that were read may be what the own next operand waits for.
    if (posting_ != nullptr) post_operands();
  }
  const bool only_missing = posting_ == nullptr && !operations_.empty();
  awaited_number_.store(missing_number_, std::memory_order_relaxed);
  awaited_.store(only_missing ? missing_ : nullptr, std::memory_order_relaxed);
  return progressed;
}

bool Shared::wants_polls() const noexcept {
  if (operations_.empty()) return false;
  const SharedOperation& operation = *operations_.front();
  return !operations_.has_one() || operation.pieces > 1 || operation.posted != operation.pieces ||
         operation.numbers_each() > 1;
}

bool Shared::may_write(std::uint32_t number) noexcept {
  return window_.may_write(number, team_.size,
                           [this](std::uint32_t member) -> const shm::StdAtomics::Word& {
                             return boards_[member]->read;
                           });
}

const std::byte* Shared::posted(gex_Rank_t member, std::uint32_t number,
                                std::size_t bytes) noexcept {
  shm::PostBoard& board = *boards_[member];
  std::uint32_t there = 0;
  const shm::StdAtomics::Ready& ready = board.ready(number);
  if (!shm::post_arrived<shm::StdAtomics>(ready, number, there)) {
    missing_ = &ready;
    missing_number_ = number;
    return nullptr;
  }
  if (there != bytes) [[unlikely]]
    fatal(
        "a collective operation of %u bytes in rank %u of the team meets one of %zu bytes here: "
        "the members' calls differ",
        there, member, bytes);
  return board.place(number, bytes);
}

bool Shared::post_operands() {
  bool progressed = false;
  shm::PostBoard& own = *boards_[team_.rank];
  for (; posting_ != nullptr; posting_ = static_cast<SharedOperation*>(posting_->behind)) {
    SharedOperation& operation = *posting_;
    if (operation.posts && !operation.enter(barrier_of(team_))) return progressed;
    for (; operation.posted != operation.pieces; ++operation.posted) {
      const std::uint32_t number = operation.first + operation.posted * operation.numbers_each();
      if (!may_write(number)) return progressed;
      const std::size_t bytes = operation.size(operation.posted);
      std::memcpy(own.place(number, bytes),
                  operation.request.source + operation.offset(operation.posted), bytes);
      shm::publish_post<shm::StdAtomics>(own.ready(number), number,
                                         static_cast<std::uint32_t>(bytes));
      progressed = true;
    }
    if (operation.shape == SharedOperation::Shape::copy && operation.posts)
      copy(operation.request.destination, operation.request.source, operation.request.bytes);
  }
  return progressed;
}

bool Shared::read(SharedOperation& operation) {
  using Shape = SharedOperation::Shape;
  bool progressed = false;
  missing_ = nullptr;
  while (operation.piece != operation.pieces) {
    // What goes into the client's memory must not overtake what is still read from there.
    bool whole = false;
    switch (operation.shape) {
      case Shape::copy:
        whole = !operation.reads || read_copy(operation);
        break;
      case Shape::flat:
        whole = !operation.reads || read_flat(operation);
        break;
      case Shape::grouped:
        whole = read_grouped(operation);
        break;
      case Shape::sliced:
        whole = read_sliced(operation);
        break;
    }
    if (!whole) return progressed;
    ++operation.piece;
    operation.second = false;
    operation.next = GEX_RANK_INVALID;
    reader_.advance_to(operation.first + operation.piece * operation.numbers_each(),
                       boards_[team_.rank]->read);
    progressed = true;
    if (posting_ != nullptr) post_operands();
  }
  return progressed;
}

bool Shared::read_copy(SharedOperation& operation) {
  const std::size_t bytes = operation.size(operation.piece);
  const std::byte* from = posted(operation.request.root, operation.first + operation.piece, bytes);
  if (from == nullptr) return false;
  std::memcpy(operation.request.destination + operation.offset(operation.piece), from, bytes);
  return true;
}

bool Shared::combine(SharedOperation& operation, std::uint32_t number, gex_Rank_t first,
                     gex_Rank_t last, gex_Rank_t step, std::size_t offset, std::size_t bytes,
                     std::size_t posted_bytes, std::byte* to) {
  if (operation.next == GEX_RANK_INVALID) {
    const std::byte* from = posted(last, number, posted_bytes);
    if (from == nullptr) return false;
    std::memcpy(to, from + offset, bytes);
    operation.next = last;
  }
  while (operation.next != first) {
    const gex_Rank_t member = operation.next - step;
    const std::byte* from = posted(member, number, posted_bytes);
    if (from == nullptr) return false;
    operation.request.reduction.apply(from + offset, to, bytes);
    operation.next = member;
  }
  return true;
}

bool Shared::read_flat(SharedOperation& operation) {
  // The own operand is needed until it is posted, and the result may take its place.
  if (operation.posted <= operation.piece) return false;
  const std::size_t bytes = operation.size(operation.piece);
  return combine(operation, operation.first + operation.piece, 0, team_.size - 1, 1, 0, bytes,
                 bytes, operation.request.destination + operation.offset(operation.piece));
}

bool Shared::read_grouped(SharedOperation& operation) {
  const gex_Rank_t me = team_.rank;
  const std::size_t bytes = operation.size(operation.piece);
  const std::uint32_t number = operation.first + 2 * operation.piece;
  if (!operation.second && me % most_flat_members == 0) {
    if (!may_write(number + 1)) return false;
    shm::PostBoard& own = *boards_[me];
    if (!combine(operation, number, me, std::min(me + most_flat_members, team_.size) - 1, 1, 0,
                 bytes, bytes, own.place(number + 1, bytes)))
      return false;
    shm::publish_post<shm::StdAtomics>(own.ready(number + 1), number + 1,
                                       static_cast<std::uint32_t>(bytes));
  }
  if (!operation.second) {
    operation.second = true;
    operation.next = GEX_RANK_INVALID;
  }
  if (!operation.reads) return true;
  if (operation.posted <= operation.piece) return false;
  const gex_Rank_t last = (team_.size - 1) / most_flat_members * most_flat_members;
  return combine(operation, number + 1, 0, last, most_flat_members, 0, bytes, bytes,
                 operation.request.destination + operation.offset(operation.piece));
}

bool Shared::read_sliced(SharedOperation& operation) {
  const gex_Rank_t me = team_.rank;
  const std::size_t bytes = operation.size(operation.piece);
  const std::uint32_t number = operation.first + 2 * operation.piece;
  if (!operation.second) {
    const Slice slice = slice_of(operation, bytes, me, team_.size);
    if (slice.bytes != 0) {
      if (!may_write(number + 1)) return false;
      shm::PostBoard& own = *boards_[me];
      if (!combine(operation, number, 0, team_.size - 1, 1, slice.offset, slice.bytes, bytes,
                   own.place(number + 1, bytes) + slice.offset))
        return false;
      shm::publish_post<shm::StdAtomics>(own.ready(number + 1), number + 1,
                                         static_cast<std::uint32_t>(bytes));
    }
    operation.second = true;
    operation.next = team_.size;
  }
  if (!operation.reads) return true;
  if (operation.posted <= operation.piece) return false;
  std::byte* to = operation.request.destination + operation.offset(operation.piece);
  for (; operation.next != 0; --operation.next) {
    const Slice slice = slice_of(operation, bytes, operation.next - 1, team_.size);
    if (slice.bytes == 0) continue;
    const std::byte* from = posted(operation.next - 1, number + 1, bytes);
    if (from == nullptr) return false;
    std::memcpy(to + slice.offset, from + slice.offset, slice.bytes);
  }
  return true;
}

}  // namespace gex::coll
