#include "coll/shared.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "core/process.h"

namespace gex::coll {

namespace {

/// Operands that are read by each member that wants the result.
constexpr gex_Rank_t max_flat_members = 16;
/// Above so many bytes members share the work of combining, if there are more than two.
constexpr std::size_t max_flat_bytes = 1024;

constexpr std::size_t max_piece_bytes = shm::post_buffer_bytes;
/// Reductions in which each member reaches the memory of each other.
constexpr gex_Rank_t max_direct_members = 64;

/// For bytes that fit in a cell: mostly a word, whose copy is no call.
void copy_few(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (bytes == sizeof(std::uint64_t))
    std::memcpy(to, from, sizeof(std::uint64_t));
  else
    std::memcpy(to, from, bytes);
}

std::vector<shm::PostBoard*> boards_of(const Team& team, const std::vector<std::uint32_t>& slots) {
  const shm::Neighborhood& neighborhood = process().neighborhood;
  std::vector<shm::PostBoard*> boards;
  for (gex_Rank_t rank = 0; rank < team.size; ++rank)
    boards.push_back(&neighborhood.team_slots().post_board(
        slots[rank], neighborhood.local_index_of(team.jobrank_of(rank))));
  return boards;
}

}  // namespace

Shared::Shared(Team& team, const std::vector<std::uint32_t>& slots)
    : team_(team),
      boards_(boards_of(team, slots)),
      access_(team, boards_),
      window_(shm::post_shape),
      reader_(shm::post_shape) {
}

Shared::~Shared() {
  shm::PostBoard& own = *boards_[team_.rank];
  // Relaxed: the slot is used again only after all members have agreed that it is free.
  own.read.store(0, std::memory_order_relaxed);
  for (shm::PostCell& cell : own.cells) cell.ready.store(0, std::memory_order_relaxed);
}

bool Shared::takes(const Request& request) noexcept {
  if (request.kind == Kind::broadcast) return true;
  return is_reduction(request.kind) && request.reduction.element <= max_piece_bytes;
}

SharedOperation::Shape Shared::shape_of_pieces(const Request& request) const noexcept {
  if (request.kind == Kind::broadcast) return Shape::copy;
  if (team_.size > 2 && request.bytes > max_flat_bytes) return Shape::sliced;
  return team_.size <= max_flat_members ? Shape::flat : Shape::grouped;
}

void Shared::shape(SharedOperation& operation) const noexcept {
  const Request& request = operation.request;
  const bool broadcast = request.kind == Kind::broadcast;
  const bool root = request.root == team_.rank;
  operation.shape = shape_of_pieces(request);
  operation.posts = !broadcast || root;
  operation.reads = broadcast ? !root : request.kind == Kind::reduce_to_all || root;
  if (request.bytes <= max_piece_bytes) {
    operation.piece_bytes = request.bytes;
    operation.pieces = 1;
  } else {
    const std::size_t element = request.reduction.element;
    const std::size_t piece = max_piece_bytes / element * element;
    operation.piece_bytes = piece;
    operation.pieces = static_cast<std::uint32_t>((request.bytes + piece - 1) / piece);
  }
  operation.posted = operation.posts ? 0 : operation.pieces;
  operation.piece = 0;
  operation.second = false;
  operation.next = GEX_RANK_INVALID;
  operation.end = operation.first + operation.pieces * operation.numbers_each();
  operation.described = true;
  if (operation.pieces == 1 || (!broadcast && team_.size > max_direct_members)) return;
  operation.shape = Shape::direct;
  operation.end += SharedOperation::numbers_before_pieces(request.kind);
  operation.stage = Stage::describing;
  operation.described = !operation.posts;
  operation.refused = false;
  operation.agrees = true;
  operation.kernel_agrees = true;
  operation.seen = 0;
  operation.moved = 0;
  operation.offered = false;
  operation.claimed = 0;
}

Shared::AtOnce Shared::do_at_once(const Request& request) noexcept {
  if (request.bytes > shm::post_cell_bytes || request.after_barrier || !operations_.empty() ||
      team_.size > max_flat_members)
    return AtOnce::nothing;
  const std::uint32_t number = next_number_;
  const bool broadcast = request.kind == Kind::broadcast;
  const bool root = request.root == team_.rank;
  if (!broadcast || root) {
    if (!may_write(number)) return AtOnce::nothing;
    post_few(number, request.source, request.bytes);
    if (broadcast && request.destination != request.source)
      copy_few(request.destination, request.source, request.bytes);
  }
  if (broadcast && !root) {
    const std::byte* const from = posted(request.root, number, request.bytes);
    if (from == nullptr) return AtOnce::nothing;
    copy_few(request.destination, from, request.bytes);
  } else if (request.kind == Kind::reduce_to_all || (!broadcast && root)) {
    return AtOnce::posted;
  }
  next_number_ = number + 1;
  shown_ = true;
  reader_.advance_to(number + 1, boards_[team_.rank]->read);
  return AtOnce::done;
}

void Shared::post_few(std::uint32_t number, const std::byte* from, std::size_t bytes) noexcept {
  shm::PostBoard& own = *boards_[team_.rank];
  copy_few(own.place(number, bytes), from, bytes);
  shown_ = true;
  shm::publish_post<shm::StdAtomics>(own.ready(number), number, static_cast<std::uint32_t>(bytes));
}

void Shared::launch(SharedOperation& operation, bool posted) {
  operation.first = next_number_;
  shape(operation);
  next_number_ = operation.end;
  operations_.push(operation);
  if (posted) operation.posted = operation.pieces;
  if (posting_ == nullptr && operation.posted != operation.pieces) posting_ = &operation;
  operation.few = operation.request.bytes <= shm::post_cell_bytes &&
                  operation.posted == operation.pieces &&
                  (operation.shape == Shape::copy || operation.shape == Shape::flat);
  advance_to(operation);
}

void Shared::advance_to(SharedOperation& operation) {
  // In checked mode the operation may not have been launched yet.
  if (operations_.front() != &operation || !operation.few || !operations_.has_one()) {
    advance();
    return;
  }
  missing_ = nullptr;
  if (!read_few(operation)) {
    show_awaited();
    return;
  }
  operations_.pop();
  shown_ = true;
  reader_.advance_to(operation.end, boards_[team_.rank]->read);
  operation.finish();
}

bool Shared::read_few(SharedOperation& operation) {
  const Request& request = operation.request;
  if (!operation.reads) return true;
  if (operation.shape == Shape::flat)
    return combine(operation, operation.first, 0, team_.size - 1, 1, 0, request.bytes,
                   request.bytes, request.destination);
  const std::byte* const from = posted(request.root, operation.first, request.bytes);
  if (from == nullptr) return false;
  copy_few(request.destination, from, request.bytes);
  return true;
}

void Shared::show_awaited() noexcept {
  const bool only_missing = posting_ == nullptr && !operations_.empty();
  awaited_number_.store(missing_number_, std::memory_order_relaxed);
  awaited_.store(only_missing ? missing_ : nullptr, std::memory_order_relaxed);
}

bool Shared::advance() {
  bool progressed = posting_ != nullptr && post_operands();
  while (!operations_.empty()) {
    SharedOperation& operation = *operations_.front();
    progressed |= read(operation);
    // It is behind `posting_`, because the own operand was the last thing looked at.
    if (operation.piece != operation.pieces || operation.posted != operation.pieces) break;
    operations_.pop();
    shown_ = true;
    reader_.advance_to(operation.end, boards_[team_.rank]->read);
    operation.finish();
    progressed = true;
    // The cells that were read may be what the own next operand waits for.
    if (posting_ != nullptr) post_operands();
  }
  show_awaited();
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

bool Shared::has_read(gex_Rank_t member, std::uint32_t number) const noexcept {
  // Acquire: the member's reads precede what follows here.
  const std::uint32_t read = boards_[member]->read.load(std::memory_order_acquire);
  return static_cast<std::int32_t>(read - number) >= 0;
}

bool Shared::is_posted(gex_Rank_t member, std::uint32_t number) const noexcept {
  std::uint32_t what = 0;
  return shm::post_arrived<shm::StdAtomics>(boards_[member]->ready(number), number, what);
}

bool Shared::has_posted(gex_Rank_t member, std::uint32_t number, std::size_t bytes) noexcept {
  std::uint32_t there = 0;
  const shm::StdAtomics::Ready& ready = boards_[member]->ready(number);
  if (!shm::post_arrived<shm::StdAtomics>(ready, number, there)) {
    missing_ = &ready;
    missing_number_ = number;
    return false;
  }
  if (there != static_cast<std::uint32_t>(bytes)) [[unlikely]]
    refuse_size(member, there, bytes);
  return true;
}

void Shared::refuse_size(gex_Rank_t member, std::uint64_t there, std::size_t bytes) const noexcept {
  fatal(
      "a collective operation of %lu bytes in rank %u of the team meets one of %zu bytes here: "
      "the members' calls differ",
      static_cast<unsigned long>(there), member, bytes);
}

void Shared::refuse_member(gex_Rank_t member) const noexcept {
  fatal(
      "a reduction does not reach the memory of rank %u of the team any more: its segment was "
      "replaced meanwhile, or the kernel refuses to copy",
      member);
}

const std::byte* Shared::posted(gex_Rank_t member, std::uint32_t number,
                                std::size_t bytes) noexcept {
  return has_posted(member, number, bytes) ? boards_[member]->place(number, bytes) : nullptr;
}

bool Shared::post_operands() {
  bool progressed = false;
  shm::PostBoard& own = *boards_[team_.rank];
  for (; posting_ != nullptr; posting_ = static_cast<SharedOperation*>(posting_->behind)) {
    SharedOperation& operation = *posting_;
    if (operation.posts && !operation.enter(barrier_of(team_))) return progressed;
    if (!operation.described && !describe(operation)) return progressed;
    if (operation.is_direct()) continue;
    const bool keeps =
        operation.shape == Shape::copy && operation.request.destination != operation.request.source;
    for (; operation.posted != operation.pieces; ++operation.posted) {
      const std::uint32_t number = operation.first + operation.posted * operation.numbers_each();
      if (!may_write(number)) return progressed;
      const std::size_t bytes = operation.size(operation.posted);
      std::memcpy(own.place(number, bytes),
                  operation.request.source + operation.offset(operation.posted), bytes);
      shown_ = true;
      shm::publish_post<shm::StdAtomics>(own.ready(number), number,
                                         static_cast<std::uint32_t>(bytes));
      // The root's own, while the source is in a near cache.
      if (keeps)
        std::memcpy(operation.request.destination + operation.offset(operation.posted),
                    operation.request.source + operation.offset(operation.posted), bytes);
      progressed = true;
    }
  }
  return progressed;
}

bool Shared::read(SharedOperation& operation) {
  bool progressed = false;
  missing_ = nullptr;
  if (operation.is_direct()) {
    if (!move_directly(operation, progressed) || operation.is_direct()) return progressed;
    if (posting_ != nullptr) post_operands();
  }
  while (operation.piece != operation.pieces) {
    // What goes into the client's memory must not overtake what is still read from there.
    bool whole = false;
    switch (operation.shape) {
      case Shape::direct:
        break;
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
    shown_ = true;
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
    copy_few(to, from + offset, bytes);
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
  if (!operation.second && me % max_flat_members == 0) {
    if (!may_write(number + 1)) return false;
    shm::PostBoard& own = *boards_[me];
    if (!combine(operation, number, me, std::min(me + max_flat_members, team_.size) - 1, 1, 0,
                 bytes, bytes, own.place(number + 1, bytes)))
      return false;
    shown_ = true;
    shm::publish_post<shm::StdAtomics>(own.ready(number + 1), number + 1,
                                       static_cast<std::uint32_t>(bytes));
  }
  if (!operation.second) {
    operation.second = true;
    operation.next = GEX_RANK_INVALID;
  }
  if (!operation.reads) return true;
  if (operation.posted <= operation.piece) return false;
  const gex_Rank_t last = (team_.size - 1) / max_flat_members * max_flat_members;
  return combine(operation, number + 1, 0, last, max_flat_members, 0, bytes, bytes,
                 operation.request.destination + operation.offset(operation.piece));
}

bool Shared::read_sliced(SharedOperation& operation) {
  const gex_Rank_t me = team_.rank;
  const std::size_t bytes = operation.size(operation.piece);
  const std::uint32_t number = operation.first + 2 * operation.piece;
  if (!operation.second) {
    const SharedOperation::Slice slice = operation.slice(bytes, me, team_.size);
    if (slice.bytes != 0) {
      if (!may_write(number + 1)) return false;
      shm::PostBoard& own = *boards_[me];
      if (!combine(operation, number, 0, team_.size - 1, 1, slice.offset, slice.bytes, bytes,
                   own.place(number + 1, bytes) + slice.offset))
        return false;
      shown_ = true;
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
    const SharedOperation::Slice slice = operation.slice(bytes, operation.next - 1, team_.size);
    if (slice.bytes == 0) continue;
    const std::byte* from = posted(operation.next - 1, number + 1, bytes);
    if (from == nullptr) return false;
    std::memcpy(to + slice.offset, from + slice.offset, slice.bytes);
  }
  return true;
}

}  // namespace gex::coll
