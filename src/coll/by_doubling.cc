#include "coll/by_doubling.h"

#include <cstring>

#include "team/barrier.h"

namespace gex::coll {

namespace {

/// As many messages as members are better up to here: of as many rounds each costs a journey.
constexpr gex_Rank_t min_members = 9;
/// Longer blocks take longer to pass on several times than a message each does.
constexpr std::size_t max_exchanged_bytes = 512;
constexpr std::size_t max_gathered_bytes = eager_bytes;

}  // namespace

bool DoublingCollective::suits(const Request& request, gex_Rank_t members) noexcept {
  if (members < min_members) return false;
  if (request.kind == Kind::exchange) return request.bytes <= max_exchanged_bytes;
  return request.kind == Kind::gather_to_all && request.bytes <= max_gathered_bytes;
}

void DoublingCollective::set_up() {
  rounds_ = {team_.size, request.kind == Kind::exchange};
  launched_ = taken_ = 0;
}

void DoublingCollective::fill_row() {
  row_.resize(request.bytes * team_.size);
  if (!rounds_.exchanges) {
    std::memcpy(place(0), request.source, request.bytes);
    return;
  }
  for (std::uint32_t i = 0; i < team_.size; ++i)
    std::memcpy(place(i), request.source + rounds_.first_of(team_.rank, i) * request.bytes,
                request.bytes);
}

bool DoublingCollective::launch_parts() {
  // The client's memory is not looked at before data may move.
  if (launched_ != taken_ || is_launched() || !enter(barrier_of(team_))) return false;
  if (launched_ == 0) fill_row();
  const std::size_t bytes = rounds_.blocks(launched_) * request.bytes;
  sent_.resize(bytes);
  received_.resize(bytes);
  std::byte* to = sent_.data();
  rounds_.for_each_place(launched_, [&](std::uint32_t sent, std::uint32_t) {
    std::memcpy(to, place(sent), request.bytes);
    to += request.bytes;
  });
  prepare_part(round_, request);
  round_.request.kind = Kind::shift;
  round_.request.source = sent_.data();
  round_.request.destination = received_.data();
  round_.request.bytes = bytes;
  round_.shift = {rounds_.to(team_.rank, launched_), rounds_.from(team_.rank, launched_)};
  ++launched_;
  messages_.launch(round_);
  return true;
}

bool DoublingCollective::advance_parts() {
  if (taken_ == launched_ || !is_done(round_)) return false;
  const std::byte* from = received_.data();
  rounds_.for_each_place(taken_, [&](std::uint32_t, std::uint32_t received) {
    std::memcpy(place(received), from, request.bytes);
    from += request.bytes;
  });
  ++taken_;
  if (has_moved()) empty_row();
  return true;
}

void DoublingCollective::empty_row() {
  for (std::uint32_t i = 0; i < team_.size; ++i)
    std::memcpy(request.destination + rounds_.last_of(team_.rank, i) * request.bytes, place(i),
                request.bytes);
}

}  // namespace gex::coll
