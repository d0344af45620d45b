#include "coll/by_leaders.h"

#include <algorithm>

#include "core/process.h"

namespace gex::coll {

namespace {

/// Long enough that posts copy it directly, short enough that stages of several overlap.
constexpr std::size_t max_chunk_bytes = 128 << 10;

bool goes_up(const Request& request) noexcept {
  return is_reduction(request.kind);
}
bool goes_down(const Request& request) noexcept {
  return request.kind != Kind::reduce_to_one;
}

}  // namespace

bool Leaders::takes(const Request& request) const noexcept {
  if (!Posts::takes(request)) return false;
  const Process& self = process();
  if (!self.leaders_in_collectives.value_or(pay(self.any_crowded, request.bytes))) return false;
  return !request.reduction.ordered || messages.groups().in_rank_order();
}

gex_Rank_t LedCollective::leader() const noexcept {
  const Groups& groups = leaders_.messages.groups();
  const std::uint32_t own = groups.group_of(leaders_.team.rank);
  const bool is_of_root = request.kind != Kind::reduce_to_all && !request.reduction.ordered &&
                          groups.group_of(request.root) == own;
  return is_of_root ? request.root : groups.members(own)[0];
}

void LedCollective::set_up() {
  const std::size_t element = request.reduction.element;
  chunk_bytes_ = std::max<std::size_t>(max_chunk_bytes / element, 1) * element;
  count_ = static_cast<std::uint32_t>((request.bytes + chunk_bytes_ - 1) / chunk_bytes_);
  up_ = finished_ = 0;
  down_ = goes_down(request) ? 0 : count_;
}

bool LedCollective::launch_parts() {
  bool progressed = false;
  while (!is_launched()) {
    const bool up = up_ != count_ && (!goes_down(request) || up_ - down_ < lag);
    if (!up) {
      launch_down(down_++);
      progressed = true;
      continue;
    }
    if (up_ - finished_ == depth && !advance_parts()) return progressed;
    auto& chunk = chunks_[up_ % depth];
    if (chunk == nullptr) chunk = std::make_unique<Chunk>();
    const std::uint32_t number = up_++;
    launch_up(number);
    launch_between(number);
    progressed = true;
  }
  return progressed;
}

void LedCollective::launch_up(std::uint32_t number) {
  if (!goes_up(request) || leaders_.near == nullptr) return;
  Chunk& chunk = this->chunk(number);
  prepare_part(chunk.up, request);
  Request& part = chunk.up.request;
  part.kind = Kind::reduce_to_one;
  part.root = leaders_.messages.groups().position_of(leader());
  part.source += offset(number);
  part.bytes = size(number);
  if (request.kind == Kind::reduce_to_all || is_root()) {
    part.destination += offset(number);
  } else if (leads()) {
    chunk.partial.resize(round_up_to_line(part.bytes) / cache_line);
    part.destination = reinterpret_cast<std::byte*>(chunk.partial.data());
  }
  leaders_.near->launch(chunk.up);
}

void LedCollective::launch_between(std::uint32_t number) {
  if (!has_messages()) {
    leaders_.messages.skip();
    return;
  }
  Chunk& chunk = this->chunk(number);
  MessageCollective& between = chunk.between;
  prepare_part(between, request);
  between.trees = Trees::between;
  Request& part = between.request;
  part.source += offset(number);
  part.destination += offset(number);
  part.bytes = size(number);
  if (leaders_.near != nullptr && leads()) {
    if (goes_up(request)) {
      part.source = chunk.up.request.destination;
      part.after = &chunk.up.done;
    } else if (is_root()) {
      // With neighbors it keeps its own result on the way down.
      part.destination = const_cast<std::byte*>(part.source);
    }
  }
  leaders_.messages.launch(between);
}

void LedCollective::launch_down(std::uint32_t number) {
  if (leaders_.near == nullptr) return;
  Chunk& chunk = this->chunk(number);
  prepare_part(chunk.down, request);
  Request& part = chunk.down.request;
  part.kind = Kind::broadcast;
  part.reduction = {};
  part.root = leaders_.messages.groups().position_of(leader());
  part.source += offset(number);
  part.destination += offset(number);
  part.bytes = size(number);
  const bool is_source = request.kind == Kind::broadcast && is_root();
  if (leads() && !is_source) {
    part.source = part.destination;
    part.after = &chunk.between.has_result;
  }
  leaders_.near->launch(chunk.down);
}

bool LedCollective::advance_parts() {
  const std::uint32_t launched = std::min(up_, down_);
  bool progressed = false;
  for (; finished_ != launched; ++finished_, progressed = true) {
    const Chunk& chunk = this->chunk(finished_);
    if (has_messages() && !is_done(chunk.between)) break;
    if (leaders_.near == nullptr) continue;
    if (goes_up(request) && !is_done(chunk.up)) break;
    if (goes_down(request) && !is_done(chunk.down)) break;
  }
  return progressed;
}

}  // namespace gex::coll
