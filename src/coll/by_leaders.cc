#include "coll/by_leaders.h"

#include <algorithm>
#include <cstring>

#include "base/patience.h"
#include "base/round_up.h"
#include "coll/wire.h"
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

bool Leaders::suits(const Request& request) const noexcept {
  if (!Posts::suits(request)) return false;
  const Process& self = process();
  if (!self.leaders_in_collectives.value_or(pay(self.any_crowded, request.bytes))) return false;
  return !request.reduction.ordered || messages.groups().in_rank_order();
}

gex_Rank_t LedCollective::leader() const noexcept {
  const Groups& groups = leaders_.messages.groups();
  // Rank 0 is at the top if there is no root, or if the order of operands counts.
  const bool is_of_root = request.kind != Kind::reduce_to_all && !request.reduction.ordered;
  return leader_of(groups, groups.group_of(leaders_.team.rank), is_of_root ? request.root : 0);
}

void LedCollective::set_up() {
  const std::size_t element = request.reduction.element;
  chunk_bytes_ = std::max<std::size_t>(max_chunk_bytes / element, 1) * element;
  count_ = static_cast<std::uint32_t>(quotient_up(request.bytes, chunk_bytes_));
  launched_up_ = finished_ = 0;
  down_ = goes_down(request) ? 0 : count_;
  const Groups& groups = leaders_.messages.groups();
  may_ask_ = is_known() && (is_reduction(request.kind) ||
                            groups.group_of(request.root) != groups.group_of(leaders_.team.rank));
  awaited_ = GEX_RANK_INVALID;
  asking_ = {};
}

bool LedCollective::launch_parts() {
  bool progressed = false;
  while (!is_launched()) {
    const bool up = launched_up_ != count_ && (!goes_down(request) || launched_up_ - down_ < lag);
    if (!up) {
      launch_down(down_++);
      progressed = true;
      continue;
    }
    if (launched_up_ - finished_ == depth && !advance_parts()) return progressed;
    auto& chunk = chunks_[launched_up_ % depth];
    if (chunk == nullptr) chunk = std::make_unique<Chunk>();
    const std::uint32_t number = launched_up_++;
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
  chunk.up.keeps_posts = is_known() && !leads();
  leaders_.near->launch(chunk.up);
}

void LedCollective::launch_between(std::uint32_t number) {
  if (number == 0) number_ = leaders_.messages.next_number();
  if (!has_messages()) {
    leaders_.messages.skip();
    return;
  }
  Chunk& chunk = this->chunk(number);
  MessageCollective& between = chunk.between;
  prepare_part(between, request);
  between.trees = Trees::between;
  between.kept_operands =
      is_known() && is_reduction(request.kind) ? &leaders_.known.operands : nullptr;
  Request& part = between.request;
  part.source += offset(number);
  part.destination += offset(number);
  part.bytes = size(number);
  if (leaders_.near != nullptr && leads()) {
    if (goes_up(request)) {
      part.source = chunk.up.request.destination;
      part.after = &chunk.up.done;
    } else if (is_root()) {
      part.makes_own_result = false;  // on the way down it does
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
  if (leads() && !is_source()) {
    part.source = part.destination;
    part.after = &chunk.between.has_result;
  }
  leaders_.near->launch(chunk.down);
}

bool LedCollective::advance_parts() {
  const std::uint32_t launched = std::min(launched_up_, down_);
  bool progressed = false;
  for (; finished_ != launched; ++finished_, progressed = true) {
    const Chunk& chunk = this->chunk(finished_);
    if (has_messages() && !is_done(chunk.between)) break;
    if (leaders_.near == nullptr) continue;
    if (goes_up(request) && !is_done(chunk.up)) break;
    if (goes_down(request) && !is_done(chunk.down)) break;
  }
  if (!is_known()) return progressed;
  if (has_moved()) {
    leaders_.known.results.keep(
        number_, {is_source() ? request.source : request.destination, request.bytes});
    leaders_.known.gathered.end(number_);
  } else if (launched != 0 && may_ask_) {
    return ask_if_late() || progressed;
  }
  return progressed;
}

bool LedCollective::ask_if_late() {
  const std::span<const std::byte> result = leaders_.known.results.of(number_);
  if (result.size() == request.bytes && (!leads() || takes_result())) return take(result);
  if (take_operands()) return true;
  if (asking_.is_due(PatienceActions::now(), Patience::nap_ns(), PatienceActions::to_ns)) ask();
  return false;
}

bool LedCollective::take(std::span<const std::byte> result) {
  Chunk& only = chunk(0);
  if (leads()) {
    return leaders_.messages.replace(only.between, [&](Phase, std::uint32_t, std::byte* place) {
      std::memcpy(place, result.data(), result.size());
    });
  }
  leaders_.known.results.keep(number_, result);
  if (!leaders_.near->take_result(only.down, result.data())) return false;
  finished_ = count_;
  leaders_.known.gathered.end(number_);
  return true;
}

void LedCollective::ask() {
  const gex_Rank_t awaited = leads() ? leaders_.messages.awaited(chunk(0).between) : this->leader();
  if (awaited == GEX_RANK_INVALID) return;
  Answers& answers = leaders_.known.answers;
  if (awaited_ != awaited) {
    awaited_ = awaited;
    asking_ = {};
  } else if (asking_.turn() != 0 && answers.has(number_, awaited)) {
    asking_.begin_again();
  }
  // What finds no room is asked of others.
  if (asking_.turn() == 0) {
    make_operand();
    answers.forget(number_);
    send_question(leaders_.team, awaited, number_, wanted());
  } else if (request.kind == Kind::broadcast) {
    for (const gex_Rank_t member :
         asked_for_broadcast(leaders_.messages.groups(), request.root, leader(), asking_.turn()))
      send_question(leaders_.team, member, number_, wanted());
  } else {
    ask_for_operands();
  }
  asking_.pass();
}

Wanted LedCollective::wanted() noexcept {
  // Others want what a leader makes of operands before it has the result.
  return is_reduction(request.kind) && leads() && !takes_result() ? Wanted::operand
                                                                  : Wanted::result;
}

bool LedCollective::takes_result() noexcept {
  const MessageCollective& between = chunk(0).between;
  return between.operands.empty() && between.rounds.empty();
}

void LedCollective::make_operand() {
  if (leads() || !is_reduction(request.kind) || !leaders_.known.operands.of(number_).empty())
    return;
  Line made[max_known_bytes / cache_line];
  if (leaders_.near->combine_posts(chunk(0).up, made[0].bytes))
    leaders_.known.operands.keep(number_, {made[0].bytes, request.bytes});
}

void LedCollective::ask_for_operands() {
  const Groups& groups = leaders_.messages.groups();
  if (!leaders_.known.gathered.begin(number_, groups.count(), request.bytes)) return;
  const std::uint32_t own = groups.group_of(leaders_.team.rank);
  make_operand();
  for (std::uint32_t group = 0; group < groups.count(); ++group) {
    if (group == own) {
      leaders_.known.gathered.keep(number_, own, leaders_.known.operands.of(number_));
    } else if (!leaders_.known.gathered.has(group)) {
      for (const gex_Rank_t member : some_of(groups.members(group), 0, asking_.turn()))
        send_question(leaders_.team, member, number_, wanted());
    }
  }
}

bool LedCollective::take_operands() {
  const GatheredOperands& gathered = leaders_.known.gathered;
  if (!gathered.has_all(number_)) return false;
  const Groups& groups = leaders_.messages.groups();
  const QuickOrder order(groups.count());
  const auto operand = [&](std::uint32_t group) { return gathered.of(group); };
  const Reduction& reduction = request.reduction;
  if (!leads()) {
    Line made[max_known_bytes / cache_line];
    order.make_result(reduction, request.bytes, operand, made[0].bytes);
    return take({made[0].bytes, request.bytes});
  }
  MessageCollective& between = chunk(0).between;
  return leaders_.messages.replace(
      between, [&](Phase phase, std::uint32_t index, std::byte* place) {
        const auto group_of = [&](gex_Rank_t member) { return groups.group_of(member); };
        if (phase == Phase::operand)
          std::memcpy(place, operand(group_of(between.operands[index].peer)), request.bytes);
        else if (phase == Phase::round)
          order.combine(group_of(between.rounds[index].peer), index, reduction, request.bytes,
                        operand, place);
        else
          order.make_result(reduction, request.bytes, operand, place);
      });
}

}  // namespace gex::coll
