#include "coll/by_posts.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "coll/known.h"

namespace gex::coll {

namespace {

/// Above so many bytes members share the work of combining, if there are more than two.
constexpr std::size_t max_flat_bytes = 1024;

constexpr std::size_t max_piece_bytes = shm::post_buffer_bytes;

/// The numbers that a shape takes, for itself or for each of its pieces.
std::uint32_t numbers_each(const Shape& shape) noexcept {
  return std::holds_alternative<Grouped>(shape) || std::holds_alternative<Sliced>(shape)
             ? Sliced::numbers_each
             : Copy::numbers_each;
}
static_assert(Flat::numbers_each == Copy::numbers_each);
static_assert(Exchange::numbers_each == Copy::numbers_each);
static_assert(Grouped::numbers_each == Sliced::numbers_each);
static_assert(HelpedCopy::numbers == DirectCopy::numbers);

/// Calls `act` with a direct shape.
template <class Act>
auto visit_direct(Shape& shape, Act act) {
  if (auto* const copy = std::get_if<DirectCopy>(&shape)) return act(*copy);
  if (auto* const copy = std::get_if<HelpedCopy>(&shape)) return act(*copy);
  return act(*std::get_if<DirectReduction>(&shape));
}

std::uint32_t numbers_before_pieces(Kind kind) noexcept {
  return kind == Kind::broadcast ? DirectCopy::numbers : DirectReduction::numbers;
}

Numbered numbered(const PostCollective& operation) noexcept {
  return {operation.request, operation.first, operation.end};
}

}  // namespace

Posts::Posts(Team& team, std::vector<gex_Rank_t> members, const std::vector<std::uint32_t>& slots)
    : team_(team), boards_(team, std::move(members), slots), direct_(boards_) {
}

bool Posts::takes(const Request& request) noexcept {
  if (request.kind == Kind::broadcast) return true;
  return is_reduction(request.kind) && request.reduction.element <= max_piece_bytes;
}

bool Posts::takes_whole(const Request& request, gex_Rank_t members) noexcept {
  if (request.kind == Kind::exchange) return request.bytes <= max_piece_bytes / members;
  return takes(request);
}

Shape Posts::shape_of_pieces(const Request& request) const noexcept {
  if (request.kind == Kind::broadcast) return Copy{};
  if (request.kind == Kind::exchange) return Exchange{};
  if (boards_.size() > 2 && request.bytes > max_flat_bytes) return Sliced{};
  if (boards_.size() <= max_flat_members) return Flat{};
  return Grouped{};
}

Shape Posts::direct_shape(const Request& request) const noexcept {
  if (request.kind != Kind::broadcast) return DirectReduction{};
  if (HelpedCopy::takes(request, boards_.size())) return HelpedCopy{};
  return DirectCopy{};
}

void Posts::set_up(PostCollective& operation) const noexcept {
  const Request& request = operation.request;
  const bool broadcast = request.kind == Kind::broadcast;
  const bool root = request.root == boards_.rank();
  operation.shape = shape_of_pieces(request);
  operation.posts = !broadcast || root;
  operation.reads = broadcast ? !root : root || request.kind != Kind::reduce_to_one;
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
  operation.end = operation.first + operation.pieces * numbers_each(operation.shape);
  operation.described = true;
  if (operation.pieces == 1 || (!broadcast && boards_.size() > DirectReduction::max_members))
    return;
  operation.end += numbers_before_pieces(request.kind);
  operation.described = !operation.posts;
  operation.shape = direct_shape(request);
}

Posts::AtOnce Posts::do_at_once(const Request& request) noexcept {
  if (request.bytes > shm::post_cell_bytes || request.after_barrier || !operations_.empty() ||
      boards_.size() > max_flat_members || request.kind == Kind::exchange)
    return AtOnce::nothing;
  const std::uint32_t number = next_number_;
  const bool broadcast = request.kind == Kind::broadcast;
  const bool root = request.root == boards_.rank();
  if (!broadcast || root) {
    if (!boards_.may_write(number)) return AtOnce::nothing;
    post_few(number, request.source, request.bytes);
    if (broadcast && request.destination != request.source)
      copy_few(request.destination, request.source, request.bytes);
  }
  if (broadcast && !root) {
    const std::byte* const from = boards_.posted(request.root, number, request.bytes);
    if (from == nullptr) return AtOnce::nothing;
    copy_few(request.destination, from, request.bytes);
  } else if (request.kind == Kind::reduce_to_all || (!broadcast && root)) {
    return AtOnce::posted;
  }
  next_number_ = number + 1;
  boards_.read_below(number + 1);
  return AtOnce::done;
}

void Posts::post_few(std::uint32_t number, const std::byte* from, std::size_t bytes) noexcept {
  copy_few(boards_.own_place(number, bytes), from, bytes);
  boards_.publish(number, bytes);
}

void Posts::launch(PostCollective& operation, bool posted) {
  operation.first = next_number_;
  set_up(operation);
  next_number_ = operation.end;
  operations_.push(operation);
  if (posted) operation.posted = operation.pieces;
  if (posting_ == nullptr && operation.posted != operation.pieces) posting_ = &operation;
  operation.few = operation.request.bytes <= shm::post_cell_bytes &&
                  operation.posted == operation.pieces && numbers_each(operation.shape) == 1;
  advance_to(operation);
}

void Posts::advance_to(PostCollective& operation) {
  // In checked mode the operation may not have been launched yet.
  if (operations_.front() != &operation || !operation.few || !operations_.has_one()) {
    advance();
    return;
  }
  boards_.forget_missing();
  if (read_few(operation))
    finish(operation);
  else
    show_awaited();
}

void Posts::finish(PostCollective& operation) {
  operations_.pop();
  if (!operation.keeps_posts) boards_.read_below(operation.end);
  operation.finish();
}

bool Posts::read_few(PostCollective& operation) {
  const Request& request = operation.request;
  if (!operation.reads) return true;
  if (Flat* const flat = std::get_if<Flat>(&operation.shape))
    return flat->read(boards_, {request, operation.first, 0, request.bytes, true, true});
  const std::byte* const from = boards_.posted(request.root, operation.first, request.bytes);
  if (from == nullptr) return false;
  copy_few(request.destination, from, request.bytes);
  return true;
}

void Posts::show_awaited() noexcept {
  boards_.await_missing(posting_ == nullptr && !operations_.empty());
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
    if (!boards_.is_posted(member, operation.first)) return false;
  // In the order of Grouped, which is that of Flat where there is one group.
  Line of_group[max_known_bytes / cache_line];
  const gex_Rank_t last_group = (size - 1) / max_flat_members;
  for (gex_Rank_t group = last_group + 1; group-- > 0;) {
    const gex_Rank_t first = group * max_flat_members;
    const gex_Rank_t last = std::min(first + max_flat_members, size) - 1;
    std::byte* const made = group == last_group ? to : of_group[0].bytes;
    Combination().advance(boards_, reduction, operation.first, first, last, 1, {0, bytes}, bytes,
                          made);
    if (made != to) reduction.apply(made, to, bytes);
  }
  return true;
}

bool Posts::wants_polls() const noexcept {
  if (operations_.empty()) return false;
  const PostCollective& operation = *operations_.front();
  return !operations_.has_one() || operation.pieces > 1 || operation.posted != operation.pieces ||
         numbers_each(operation.shape) > 1;
}

bool Posts::describe(PostCollective& operation) {
  operation.described = visit_direct(
      operation.shape, [&](auto& direct) { return direct.describe(direct_, numbered(operation)); });
  return operation.described;
}

bool Posts::post_operands() {
  bool progressed = false;
  for (; posting_ != nullptr; posting_ = static_cast<PostCollective*>(posting_->behind)) {
    PostCollective& operation = *posting_;
    if (operation.posts && !operation.enter(barrier_of(team_))) return progressed;
    if (!operation.described && !describe(operation)) return progressed;
    if (operation.is_direct()) continue;
    for (; operation.posted != operation.pieces; ++operation.posted) {
      const std::uint32_t number =
          operation.first + operation.posted * numbers_each(operation.shape);
      if (!boards_.may_write(number)) return progressed;
      post_piece(operation, number);
      progressed = true;
    }
  }
  return progressed;
}

void Posts::post_piece(PostCollective& operation, std::uint32_t number) {
  const Request& request = operation.request;
  const std::size_t bytes = operation.size(operation.posted);
  const std::size_t blocks = request.kind == Kind::exchange ? boards_.size() : 1;
  const std::size_t offset = operation.offset(operation.posted);
  const std::byte* const from = request.source + offset;
  std::memcpy(boards_.own_place(number, blocks * bytes), from, blocks * bytes);
  boards_.publish(number, bytes);
  // The root's own, while the source is in a near cache.
  if (request.kind == Kind::broadcast && request.destination != request.source)
    std::memcpy(request.destination + offset, from, bytes);
}

bool Posts::advance_directly(PostCollective& operation, bool& progressed) {
  if (!operation.described) return false;
  const Step step = visit_direct(operation.shape, [&](auto& direct) {
    return direct.advance(direct_, numbered(operation), progressed);
  });
  switch (step) {
    case Step::incomplete:
      return false;
    case Step::complete:
      operation.piece = operation.pieces;
      operation.posted = operation.pieces;
      return true;
    case Step::by_pieces:
      break;
  }
  operation.shape = shape_of_pieces(operation.request);
  operation.first += numbers_before_pieces(operation.request.kind);
  // All operations that have posted since then are behind this one.
  if (operation.posts) posting_ = &operation;
  return true;
}

bool Posts::read_piece(PostCollective& operation) {
  const Piece piece{operation.request,
                    operation.first + operation.piece * numbers_each(operation.shape),
                    operation.offset(operation.piece),
                    operation.size(operation.piece),
                    operation.reads,
                    operation.posted > operation.piece};
  if (Copy* const copy = std::get_if<Copy>(&operation.shape)) return copy->read(boards_, piece);
  if (Exchange* const exchange = std::get_if<Exchange>(&operation.shape))
    return exchange->read(boards_, piece);
  if (Flat* const flat = std::get_if<Flat>(&operation.shape)) return flat->read(boards_, piece);
  if (Grouped* const grouped = std::get_if<Grouped>(&operation.shape))
    return grouped->read(boards_, piece);
  return std::get_if<Sliced>(&operation.shape)->read(boards_, piece);
}

bool Posts::advance_front(PostCollective& operation) {
  bool progressed = false;
  boards_.forget_missing();
  if (operation.is_direct()) {
    if (!advance_directly(operation, progressed) || operation.is_direct()) return progressed;
    if (posting_ != nullptr) post_operands();
  }
  while (operation.piece != operation.pieces) {
    // What goes into the client's memory must not overtake what is still read from there.
    if (!read_piece(operation)) return progressed;
    ++operation.piece;
    operation.shape = shape_of_pieces(operation.request);
    if (!operation.keeps_posts)
      boards_.read_below(operation.first + operation.piece * numbers_each(operation.shape));
    progressed = true;
    if (posting_ != nullptr) post_operands();
  }
  return progressed;
}

}  // namespace gex::coll
