#include "coll/by_pieces.h"

#include <algorithm>
#include <cstring>

namespace gex::coll {

bool Combination::advance(Boards& boards, const Reduction& reduction, std::uint32_t number,
                          gex_Rank_t first, gex_Rank_t last, gex_Rank_t step, Slice slice,
                          std::size_t post_bytes, std::byte* to) {
  if (next_ == GEX_RANK_INVALID) {
    const std::byte* from = boards.post_of(last, number, post_bytes);
    if (from == nullptr) return false;
    copy_bytes(to, from + slice.offset, slice.bytes);
    next_ = last;
  }
  while (next_ != first) {
    const gex_Rank_t member = next_ - step;
    const std::byte* from = boards.post_of(member, number, post_bytes);
    if (from == nullptr) return false;
    reduction.apply(from + slice.offset, to, slice.bytes);
    next_ = member;
  }
  return true;
}

bool Exchange::read(Boards& boards, const Piece& piece) {
  // The own blocks are needed until they are posted, and the result may take their place.
  if (!piece.own_is_posted) return false;
  const std::size_t bytes = piece.bytes;
  for (; seen_ != boards.size(); ++seen_) {
    const gex_Rank_t member = (boards.own() + seen_) % boards.size();
    const std::byte* const blocks =
        boards.post_of(member, piece.number, bytes, bytes * boards.size());
    if (blocks == nullptr) return false;
    copy_bytes(piece.result() + member * bytes, blocks + boards.own() * bytes, bytes);
  }
  return true;
}

bool Grouped::combine_group(Boards& boards, const Piece& piece) {
  const gex_Rank_t me = boards.own();
  if (me % max_flat_members != 0) return true;
  if (!boards.may_write(piece.number + 1)) return false;
  const gex_Rank_t last = std::min(me + max_flat_members, boards.size()) - 1;
  if (!combination_.advance(boards, piece.request.reduction, piece.number, me, last, 1,
                            {0, piece.bytes}, piece.bytes,
                            boards.own_place(piece.number + 1, piece.bytes)))
    return false;
  boards.publish(piece.number + 1, piece.bytes);
  return true;
}

bool Grouped::read(Boards& boards, const Piece& piece) {
  if (!second_) {
    if (!combine_group(boards, piece)) return false;
    second_ = true;
    combination_.restart();
  }
  if (!piece.wants_result) return true;
  if (!piece.own_is_posted) return false;
  const gex_Rank_t last = (boards.size() - 1) / max_flat_members * max_flat_members;
  return combination_.advance(boards, piece.request.reduction, piece.number + 1, 0, last,
                              max_flat_members, {0, piece.bytes}, piece.bytes, piece.result());
}

bool Sliced::combine_slice(Boards& boards, const Piece& piece) {
  const Reduction& reduction = piece.request.reduction;
  const Slice slice = slice_of(piece.bytes, reduction.element, boards.own(), boards.size());
  if (slice.bytes == 0) return true;
  if (!boards.may_write(piece.number + 1)) return false;
  if (!combination_.advance(boards, reduction, piece.number, 0, boards.size() - 1, 1, slice,
                            piece.bytes,
                            boards.own_place(piece.number + 1, piece.bytes) + slice.offset))
    return false;
  boards.publish(piece.number + 1, piece.bytes);
  return true;
}

bool Sliced::read(Boards& boards, const Piece& piece) {
  if (!second_) {
    if (!combine_slice(boards, piece)) return false;
    second_ = true;
    left_ = boards.size();
  }
  if (!piece.wants_result) return true;
  if (!piece.own_is_posted) return false;
  for (; left_ != 0; --left_) {
    const Slice slice =
        slice_of(piece.bytes, piece.request.reduction.element, left_ - 1, boards.size());
    if (slice.bytes == 0) continue;
    const std::byte* from = boards.post_of(left_ - 1, piece.number + 1, piece.bytes);
    if (from == nullptr) return false;
    std::memcpy(piece.result() + slice.offset, from + slice.offset, slice.bytes);
  }
  return true;
}

}  // namespace gex::coll
