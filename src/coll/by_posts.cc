#include "coll/by_posts.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/round_up.h"
#include "base/visit.h"
#include "coll/known.h"

namespace gex::coll {

namespace {

/// Above so many bytes members share the work of combining, if there are more than two.
constexpr std::size_t max_flat_bytes = 1024;

constexpr std::size_t max_piece_bytes = shm::post_buffer_bytes;

// A request that `is_small` is one piece, of a flat shape if it is a reduction.
static_assert(shm::post_cell_bytes <= max_flat_bytes && max_flat_bytes <= max_piece_bytes);

/// Posts a piece of the own operand, for which there is room.
[[gnu::always_inline]] inline void post(Boards& boards, const Request& request,
                                        std::uint32_t number, std::size_t offset,
                                        std::size_t bytes) noexcept {
  const std::size_t post_bytes = request.kind == Kind::exchange ? boards.size() * bytes : bytes;
  const std::byte* const from = request.source + offset;
  copy_bytes(boards.own_place(number, post_bytes), from, post_bytes);
  boards.publish(number, bytes);
  // The root's own, while the source is in a near cache.
  if (request.kind == Kind::broadcast) make_own_result(request, offset, bytes);
}

/// Does what is possible of a piece; true once it is done here.
bool read(PieceShape& shape, Boards& boards, const Piece& piece) {
  return visit(shape, [&](auto& one) { return one.read(boards, piece); });
}

/// Makes a shape ready for the next piece.
void restart(PieceShape& shape) noexcept {
  visit(shape, [](auto& one) noexcept { one = {}; });
}

}  // namespace

Posts::Posts(Team& team, std::vector<gex_Rank_t> members, const std::vector<std::uint32_t>& slots)
    : team_(team), boards_(team, std::move(members), slots), direct_(boards_) {
}

bool Posts::suits(const Request& request) noexcept {
  if (request.kind == Kind::broadcast) return true;
  return is_reduction(request.kind) && request.reduction.element <= max_piece_bytes;
}

bool Posts::suits_whole(const Request& request, gex_Rank_t members) noexcept {
  if (request.kind == Kind::exchange) return request.bytes <= max_piece_bytes / members;
  return suits(request);
}

PieceShape Posts::piece_shape(const Request& request) const noexcept {
  if (request.kind == Kind::broadcast) return Copy{};
  if (request.kind == Kind::exchange) return Exchange{};
  if (boards_.size() > 2 && request.bytes > max_flat_bytes) return Sliced{};
  if (boards_.size() <= max_flat_members) return Flat{};
  return Grouped{};
}

std::optional<DirectShape> Posts::direct_shape(const Request& request) const noexcept {
  // One piece moves sooner than members learn where the memory is.
  if (request.bytes <= max_piece_bytes) return std::nullopt;
  if (HelpedCopy::suits(request, boards_.size())) return HelpedCopy{};
  if (DirectCopy::suits(request)) return DirectCopy{};
  if (DirectReduction::suits(request, boards_.size())) return DirectReduction{};
  return std::nullopt;
}

void Posts::set_up(PostCollective& operation) const noexcept {
  const Request& request = operation.request;
  operation.shape = piece_shape(request);
  operation.stage = PostCollective::Stage::pieces;
  if (request.bytes <= max_piece_bytes) {
    operation.piece_bytes = request.bytes;
    operation.pieces = 1;
  } else {
    const std::size_t element = request.reduction.element;
    const std::size_t piece = max_piece_bytes / element * element;
    operation.piece_bytes = piece;
    operation.pieces = static_cast<std::uint32_t>(quotient_up(request.bytes, piece));
  }
  operation.pieces_posted = has_operand(request) ? 0 : operation.pieces;
  operation.pieces_read = 0;
  operation.numbers_each =
      visit(operation.shape, [](const auto& one) noexcept { return one.numbers_each; });
  operation.first_piece = operation.first;
  operation.end = operation.number_of(operation.pieces);
  const std::optional<DirectShape> direct = direct_shape(request);
  if (!direct) return;
  operation.direct = *direct;
  operation.stage =
      has_operand(request) ? PostCollective::Stage::describe : PostCollective::Stage::direct;
  const std::uint32_t numbers_before =
      visit(operation.direct, [](const auto& one) noexcept { return one.numbers; });
  operation.first_piece += numbers_before;
  operation.end += numbers_before;
}

bool Posts::is_small(const Request& request) const noexcept {
  if (request.bytes > shm::post_cell_bytes) return false;
  return request.kind == Kind::broadcast ||
         (is_reduction(request.kind) && boards_.size() <= max_flat_members);
}

Posts::AtOnce Posts::do_at_once(const Request& request) noexcept {
  if (!is_small(request) || request.after_barrier || request.completes_together || checked() ||
      !operations_.empty())
    return AtOnce::nothing;
  const std::uint32_t number = next_number_;
  if (has_operand(request)) {
    if (!boards_.may_write(number)) return AtOnce::nothing;
    post(boards_, request, number, 0, request.bytes);
  }
  if (wants_result(request)) {
    // What all others post is seldom there already.
    if (is_reduction(request.kind)) return AtOnce::operand_posted;
    const Piece all{request,
                    number,
                    0,
                    request.bytes,
                    /*wants_result=*/true,
                    /*own_is_posted=*/true};
    if (!Copy().read(boards_, all)) return AtOnce::nothing;
  }
  next_number_ = number + 1;
  boards_.publish_read_below(number + 1);
  return AtOnce::done;
}

void Posts::launch(PostCollective& operation, AtOnce at_once) {
  operation.first = next_number_;
  set_up(operation);
  next_number_ = operation.end;
  operations_.push(operation);
  if (at_once == AtOnce::operand_posted) operation.pieces_posted = operation.pieces;
  if (posting_ == nullptr && !operation.is_posted()) posting_ = &operation;
  advance_to(operation);
}

void Posts::advance_to(PostCollective& operation) {
  // In checked mode the operation may not have been launched yet.
  const bool is_alone = operations_.front() == &operation && operations_.has_one();
  if (!is_alone || !operation.is_only_to_be_read()) {
    advance();
    return;
  }
  boards_.forget_missing();
  const Request& request = operation.request;
  if (read(operation.shape, boards_,
           {request, operation.first_piece, 0, request.bytes, wants_result(request),
            /*own_is_posted=*/true}))
    finish(operation);
  else
    show_awaited();
}

void Posts::finish(PostCollective& operation) {
  operations_.pop();
  if (!operation.keeps_posts) boards_.publish_read_below(operation.end);
  operation.finish();
}

void Posts::show_awaited() noexcept {
  boards_.note_awaited(posting_ == nullptr && !operations_.empty());
}

bool Posts::advance() {
  bool progressed = posting_ != nullptr && post_operands();
  while (!operations_.empty()) {
    PostCollective& operation = *operations_.front();
    progressed |= advance_front(operation);
    // It is behind `posting_`, because the own operand was the last thing looked at.
    if (!operation.has_moved()) break;
    finish(operation);
    progressed = true;
    // The cells that were read may be what the own next operand waits for.
    if (posting_ != nullptr) post_operands();
  }
  show_awaited();
  return progressed;
}

bool Posts::take_result(PostCollective& operation, const std::byte* bytes) {
  if (operations_.front() != &operation) return false;
  std::memcpy(operation.request.destination, bytes, operation.request.bytes);
  finish(operation);
  advance();
  return true;
}

bool Posts::combine_posts(const PostCollective& operation, std::byte* to) {
  const std::size_t bytes = operation.request.bytes;
  const Reduction& reduction = operation.request.reduction;
  const gex_Rank_t size = boards_.size();
  for (gex_Rank_t member = 0; member < size; ++member)
    if (!boards_.is_posted(member, operation.first_piece)) return false;
  // In the order of Grouped, which is that of Flat where there is one group.
  Line of_group[max_known_bytes / cache_line];
  const gex_Rank_t last_group = (size - 1) / max_flat_members;
  for (gex_Rank_t group = last_group + 1; group-- > 0;) {
    const gex_Rank_t first = group * max_flat_members;
    const gex_Rank_t last = std::min(first + max_flat_members, size) - 1;
    std::byte* const made = group == last_group ? to : of_group[0].bytes;
    Combination().advance(boards_, reduction, operation.first_piece, first, last, 1, {0, bytes},
                          bytes, made);
    if (made != to) reduction.apply(made, to, bytes);
  }
  return true;
}

bool Posts::wants_polls() const noexcept {
  if (operations_.empty()) return false;
  const PostCollective& operation = *operations_.front();
  return !operations_.has_one() || !operation.is_only_to_be_read();
}

bool Posts::describe(PostCollective& operation) {
  const auto describe_it = [&](auto& one) { return one.describe(direct_, as_direct(operation)); };
  if (!visit(operation.direct, describe_it)) return false;
  operation.stage = PostCollective::Stage::direct;
  return true;
}

bool Posts::post_operands() {
  bool progressed = false;
  for (; posting_ != nullptr; posting_ = static_cast<PostCollective*>(posting_->behind)) {
    PostCollective& operation = *posting_;
    if (!has_operand(operation.request)) continue;
    if (!operation.enter(barrier_of(team_))) return progressed;
    if (operation.stage == PostCollective::Stage::describe && !describe(operation))
      return progressed;
    if (operation.stage == PostCollective::Stage::direct) continue;
    for (; !operation.is_posted(); ++operation.pieces_posted) {
      const std::uint32_t number = operation.number_of(operation.pieces_posted);
      if (!boards_.may_write(number)) return progressed;
      post(boards_, operation.request, number, operation.offset(operation.pieces_posted),
           operation.size(operation.pieces_posted));
      progressed = true;
    }
  }
  return progressed;
}

Step Posts::advance_directly(PostCollective& operation, bool& progressed) {
  if (operation.stage == PostCollective::Stage::describe) return Step::incomplete;
  const Step step = visit(operation.direct, [&](auto& one) {
    return one.advance(direct_, as_direct(operation), progressed);
  });
  switch (step) {
    case Step::incomplete:
      break;
    case Step::done:
      operation.pieces_read = operation.pieces;
      operation.pieces_posted = operation.pieces;
      break;
    case Step::by_pieces:
      operation.stage = PostCollective::Stage::pieces;
      // All operations that have posted since then are behind this one.
      if (has_operand(operation.request)) posting_ = &operation;
      break;
  }
  return step;
}

bool Posts::advance_front(PostCollective& operation) {
  bool progressed = false;
  boards_.forget_missing();
  if (operation.stage != PostCollective::Stage::pieces) {
    if (advance_directly(operation, progressed) != Step::by_pieces) return progressed;
    if (posting_ != nullptr) post_operands();
  }
  while (operation.pieces_read != operation.pieces) {
    // What goes into the client's memory must not overtake what is still read from there.
    const Piece piece{operation.request,
                      operation.number_of(operation.pieces_read),
                      operation.offset(operation.pieces_read),
                      operation.size(operation.pieces_read),
                      wants_result(operation.request),
                      operation.pieces_posted > operation.pieces_read};
    if (!read(operation.shape, boards_, piece)) return progressed;
    ++operation.pieces_read;
    restart(operation.shape);
    if (!operation.keeps_posts)
      boards_.publish_read_below(operation.number_of(operation.pieces_read));
    progressed = true;
    if (posting_ != nullptr) post_operands();
  }
  return progressed;
}

}  // namespace gex::coll
