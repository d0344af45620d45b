#include "coll/messages.h"

#include <algorithm>
#include <cstring>

#include "base/cache_line.h"
#include "base/error.h"
#include "coll/known.h"
#include "coll/wire.h"
#include "core/process.h"

namespace gex::coll {

namespace {

[[noreturn, gnu::cold]] void refuse(gex_Rank_t source) noexcept {
  fatal(
      "a collective message of rank %u of the team matches no call here: the members' calls differ",
      source);
}

/// Returns true if it has a plan; else bytes go straight from each member to those that get them.
bool goes_along_tree(Kind kind) noexcept {
  return kind == Kind::broadcast || is_reduction(kind);
}

/// Returns true if the bytes of all ranks stand in a row: in the source, and in the destination.
bool in_a_row_here(Kind kind) noexcept {
  return kind == Kind::scatter || kind == Kind::exchange;
}
bool in_a_row_there(Kind kind) noexcept {
  return kind == Kind::gather || kind == Kind::gather_to_all || kind == Kind::exchange;
}

Outflow outflow(gex_Rank_t to, Phase phase, const Blocks& blocks) {
  Outflow flow;
  flow.peer = to;
  flow.phase = phase;
  flow.slots = slots_of(phase, blocks);
  return flow;
}

}  // namespace

void Messages::bind(Team& team) {
  team_ = &team;
  std::vector<std::uint32_t> neighborhood_of(team.size);
  for (gex_Rank_t rank = 0; rank < team.size; ++rank)
    neighborhood_of[rank] = process().placement.neighborhood[team.jobrank_of(rank)];
  groups_ = std::make_unique<Groups>(neighborhood_of);
}

void Messages::launch(MessageCollective& operation) {
  operation.number = launched_++;
  // Relaxed, here and where it is set: it is read with the lock held. It may be long until the
  // operation begins.
  operation.has_result.store(false, std::memory_order_relaxed);
  waiting_.push(operation);
  advance();
}

void Messages::skip() {
  ++launched_;
  advance();
}

bool Messages::advance() {
  bool progressed = false;
  for (std::uint32_t number = oldest_; number != begun_; ++number) {
    MessageCollective* const operation = slots_[number % max_begun];
    if (operation == nullptr || operation->number != number) continue;
    progressed |= advance(*operation);
    progressed |= retire_if_moved(*operation);
  }
  advance_oldest();
  while (!waiting_.empty() && waiting_.front()->number - oldest_ < max_begun) {
    MessageCollective& next = *waiting_.front();
    waiting_.pop();
    begin(next);
    advance(next);
    if (retire_if_moved(next)) advance_oldest();
    progressed = true;
  }
  if (waiting_.empty()) {
    // Beyond the last that was begun, numbers were skipped.
    begun_ = launched_;
    advance_oldest();
  }
  progressed |= credits_.send_due(
      [&](gex_Rank_t member, std::uint32_t count) { return send_credit(*team_, member, count); });
  return progressed;
}

bool Messages::retire_if_moved(MessageCollective& operation) {
  if (!has_moved(operation)) return false;
  slots_[operation.number % max_begun] = nullptr;
  finish(operation);
  return true;
}

void Messages::advance_oldest() noexcept {
  while (oldest_ != begun_ && slots_[oldest_ % max_begun] == nullptr) ++oldest_;
}

void Messages::finish(MessageCollective& operation) {
  for (const auto* flows : {&operation.operands, &operation.rounds, &operation.results})
    for (const Inflow& flow : *flows)
      if (flow.original == Inflow::Original::replaced) [[unlikely]]
        unexpected_.owe({operation.number, flow.peer, flow.phase});
  operation.finish();
}

gex_Rank_t Messages::awaited(MessageCollective& operation) noexcept {
  if (begun(operation.number) != &operation) return GEX_RANK_INVALID;
  for (auto* flows : {&operation.operands, &operation.rounds, &operation.results})
    for (Inflow& flow : *flows)
      if (flow.is_untouched()) return flow.peer;
  return GEX_RANK_INVALID;
}

bool Messages::replace(MessageCollective& operation, const Content& content) {
  if (begun(operation.number) != &operation) return false;
  bool any = false;
  for (auto* flows : {&operation.operands, &operation.rounds, &operation.results}) {
    for (std::uint32_t index = 0; index < flows->size(); ++index) {
      Inflow& flow = (*flows)[index];
      if (!flow.is_untouched() || is_early(operation, flow.phase)) continue;
      content(flow.phase, index, flow.place(0));
      flow.received(0) = operation.blocks.total;
      flow.original = Inflow::Original::replaced;
      any = true;
    }
  }
  return any;
}

MessageCollective* Messages::begun(std::uint32_t number) noexcept {
  // Below `oldest_` or past `begun_`: none.
  if (number - oldest_ >= begun_ - oldest_) return nullptr;
  MessageCollective* const there = slots_[number % max_begun];
  return there != nullptr && there->number == number ? there : nullptr;
}

void Messages::begin(MessageCollective& operation) {
  const Request& request = operation.request;
  operation.blocks = Blocks(request.bytes, request.reduction.element);
  operation.operands.clear();
  operation.rounds.clear();
  operation.results.clear();
  operation.round_sends.clear();
  operation.collector.clear();
  operation.receivers.clear();
  operation.plan.clear();
  operation.combined = operation.rounds_passed = operation.made = 0;
  operation.partial = nullptr;
  operation.block = is_reduction(request.kind) ? 0 : operation.blocks.count;
  if (goes_along_tree(request.kind))
    set_up_tree(operation);
  else
    set_up_pairs(operation);
  if (operation.blocks.eager())
    for (auto* flows : {&operation.round_sends, &operation.collector, &operation.receivers})
      for (Outflow& flow : *flows) flow.ticket = credits_.take_ticket(flow.peer);
  slots_[operation.number % max_begun] = &operation;
  begun_ = operation.number + 1;
  use_early(operation);
}

void Messages::set_up_tree(MessageCollective& operation) {
  const Request& request = operation.request;
  const Blocks& blocks = operation.blocks;
  Plan& plan = operation.plan;
  const gex_Rank_t me = team_->rank;
  const bool ordered = request.reduction.ordered;
  if (request.kind == Kind::broadcast)
    plan_broadcast(plan, *groups_, request.root, me, operation.trees);
  else if (request.kind == Kind::reduce_to_one)
    plan_reduce_to_one(plan, *groups_, request.root, me, ordered, operation.trees);
  else if (blocks.eager())
    plan_quick_reduce_to_all(plan, *groups_, me, ordered, operation.trees);
  else
    plan_reduce_to_all(plan, *groups_, me, ordered, operation.trees);

  // Places: of the contributors' blocks, of the rounds', and of a copy of the own operand.
  const std::size_t stride = round_up_to_line(blocks.each);
  const std::uint32_t slots = slots_of(Phase::operand, blocks);
  const std::size_t places =
      plan.contributors.size() * slots + (plan.rounds.empty() ? 0 : plan.rounds.size() + 1);
  const std::size_t lines = places * (stride / cache_line);
  if (operation.staging.size() < lines) operation.staging.resize(lines);
  std::byte* place = reinterpret_cast<std::byte*>(operation.staging.data());
  for (const gex_Rank_t rank : plan.contributors) {
    operation.operands.emplace_back(rank, Phase::operand, place, stride, slots);
    place += slots * stride;
  }
  for (const Plan::Round& round : plan.rounds) {
    operation.rounds.emplace_back(round.partner, Phase::round, place, stride,
                                  slots_of(Phase::round, blocks));
    operation.round_sends.push_back(outflow(round.partner, Phase::round, blocks));
    place += stride;
  }
  if (plan.collector != GEX_RANK_INVALID)
    operation.collector.push_back(outflow(
        plan.collector, plan.collector_gets_result ? Phase::result : Phase::operand, blocks));
  if (plan.result_sender != GEX_RANK_INVALID)
    operation.results.emplace_back(plan.result_sender, Phase::result, request.destination,
                                   blocks.each, slots_of(Phase::result, blocks));
  for (const gex_Rank_t rank : plan.receivers)
    operation.receivers.push_back(outflow(rank, Phase::result, blocks));
  const bool is_source = request.kind == Kind::broadcast && !operation.passes_received();
  operation.passes_from = is_source ? request.source : request.destination;
}

void Messages::set_up_pairs(MessageCollective& operation) {
  const Request& request = operation.request;
  const Blocks& blocks = operation.blocks;
  const std::uint32_t slots = slots_of(Phase::result, blocks);
  const gex_Rank_t me = team_->rank;
  operation.passes_from = request.source;
  operation.keeps_own = false;
  if (request.kind == Kind::shift) {
    operation.receivers.push_back(outflow(operation.shift.to, Phase::result, blocks));
    operation.results.emplace_back(operation.shift.from, Phase::result, request.destination,
                                   blocks.each, slots);
    return;
  }
  const bool to_all = !has_root(request.kind);
  const bool root = request.root == me;
  operation.keeps_own = to_all || root;
  const bool sends = to_all || (request.kind == Kind::gather) != root;
  const bool receives = to_all || (request.kind == Kind::gather) == root;
  const bool many_there = in_a_row_there(request.kind);
  // Each begins with its neighbor, so that not all send to the same one.
  for (gex_Rank_t i = 1; i < team_->size; ++i) {
    const auto peer = static_cast<gex_Rank_t>((std::uint64_t{me} + i) % team_->size);
    if (sends && (to_all || root || peer == request.root))
      operation.receivers.push_back(outflow(peer, Phase::result, blocks));
    if (receives && (to_all || root || peer == request.root))
      operation.results.emplace_back(peer, Phase::result,
                                     request.destination + (many_there ? peer * request.bytes : 0),
                                     blocks.each, slots);
  }
}

void Messages::place_own(MessageCollective& operation) {
  const Request& request = operation.request;
  // What operands make is made block by block.
  if (is_reduction(request.kind) || operation.passes_received()) return;
  if (request.kind == Kind::broadcast) {
    make_own_result(request, 0, request.bytes);
  } else if (operation.keeps_own) {
    const std::size_t own = team_->rank * request.bytes;
    copy_unless_there(request.destination + (in_a_row_there(request.kind) ? own : 0),
                      request.source + (in_a_row_here(request.kind) ? own : 0), request.bytes);
  }
  operation.made = operation.blocks.count;
}

bool Messages::advance(MessageCollective& operation) {
  // A grant moves no data.
  bool progressed = send_grants(operation);
  if (!operation.entered) {
    if (!operation.enter(barrier_of(*team_))) return progressed;
    place_own(operation);
    if (operation.kept_operands != nullptr)
      operation.kept_operands->keep(operation.number,
                                    {operation.request.source, operation.request.bytes});
  }
  if (operation.block != operation.blocks.count) {
    progressed |= combine_blocks(operation);
    if (is_early(operation, Phase::result)) return progressed;
    if (unexpected_.has_data()) use_early(operation);
  }
  progressed |= consume_results(operation);
  progressed |= pass_results(operation);
  return progressed;
}

bool Messages::send_grants(MessageCollective& operation) {
  bool progressed = false;
  for (auto* flows : {&operation.operands, &operation.results}) {
    for (Inflow& flow : *flows) {
      while (flow.grants_sent != flow.grants_due(operation.blocks)) {
        const std::uint32_t granted = flow.slots() + flow.grants_sent;
        if (!send_grant(*team_, flow.peer, operation.number, flow.phase, granted)) break;
        ++flow.grants_sent;
        progressed = true;
      }
    }
  }
  return progressed;
}

bool Messages::combine_blocks(MessageCollective& operation) {
  const Request& request = operation.request;
  const Blocks& blocks = operation.blocks;
  bool progressed = false;
  while (operation.block != blocks.count) {
    const std::size_t offset = blocks.offset(operation.block);
    const std::size_t bytes = blocks.size(operation.block);
    if (operation.partial == nullptr) operation.partial = request.source + offset;
    for (; operation.combined != operation.operands.size(); ++operation.combined) {
      Inflow& operand = operation.operands[operation.combined];
      if (!operand.arrived(blocks)) return progressed;
      std::byte* right = operand.place(operation.block);
      request.reduction.apply(operation.partial, right, bytes);
      operation.partial = right;
      progressed = true;
    }
    if (!pass_rounds(operation, progressed) || !hand_on(operation, progressed)) return progressed;
    for (Inflow& operand : operation.operands) consume(operation, operand);
    for (Inflow& round : operation.rounds) consume(operation, round);
    operation.partial = nullptr;
    operation.combined = 0;
    ++operation.block;
    progressed = true;
  }
  return progressed;
}

bool Messages::pass_rounds(MessageCollective& operation, bool& progressed) {
  const Reduction& reduction = operation.request.reduction;
  const std::size_t bytes = operation.blocks.total;
  for (; operation.rounds_passed != operation.rounds.size(); ++operation.rounds_passed) {
    Outflow& send = operation.round_sends[operation.rounds_passed];
    // What is sent must not change before it is gone.
    if (send.block == 0 && !send_block(operation, send, operation.partial, progressed))
      return false;
    Inflow& round = operation.rounds[operation.rounds_passed];
    if (!round.arrived(operation.blocks)) return false;
    std::byte* theirs = round.place(0);
    if (!operation.plan.rounds[operation.rounds_passed].partner_is_left) {
      reduction.apply(operation.partial, theirs, bytes);
      operation.partial = theirs;
    } else {
      // The last place of all is for a copy of what is not the library's to write.
      std::byte* own = operation.rounds.back().place(0) + round_up_to_line(operation.blocks.each);
      copy_unless_there(own, operation.partial, bytes);
      reduction.apply(theirs, own, bytes);
      operation.partial = own;
    }
    progressed = true;
  }
  return true;
}

bool Messages::hand_on(MessageCollective& operation, bool& progressed) {
  if (!operation.collector.empty() &&
      !send_block(operation, operation.collector[0], operation.partial, progressed))
    return false;
  if (operation.plan.makes_result) {
    const std::size_t offset = operation.blocks.offset(operation.block);
    copy_unless_there(operation.request.destination + offset, operation.partial,
                      operation.blocks.size(operation.block));
    ++operation.made;
  }
  return true;
}

bool Messages::consume_results(MessageCollective& operation) {
  bool progressed = false;
  for (Inflow& result : operation.results) {
    while (result.arrived(operation.blocks)) {
      consume(operation, result);
      progressed = true;
    }
  }
  return progressed;
}

bool Messages::pass_results(MessageCollective& operation) {
  const Request& request = operation.request;
  const std::uint32_t there =
      operation.passes_received() ? operation.results[0].taken : operation.made;
  if (there == operation.blocks.count) operation.has_result.store(true, std::memory_order_relaxed);
  bool progressed = false;
  for (Outflow& flow : operation.receivers) {
    const std::byte* from =
        operation.passes_from + (in_a_row_here(request.kind) ? flow.peer * request.bytes : 0);
    while (flow.block < there &&
           send_block(operation, flow, from + operation.blocks.offset(flow.block), progressed)) {
    }
  }
  return progressed;
}

bool Messages::has_moved(const MessageCollective& operation) const noexcept {
  const Blocks& blocks = operation.blocks;
  if (operation.block != blocks.count) return false;
  for (const auto* flows : {&operation.round_sends, &operation.collector, &operation.receivers})
    for (const Outflow& flow : *flows)
      if (!flow.finished(blocks)) return false;
  for (const auto* flows : {&operation.operands, &operation.results})
    for (const Inflow& flow : *flows)
      if (!flow.finished(blocks)) return false;
  return true;
}

bool Messages::send_block(const MessageCollective& operation, Outflow& flow, const std::byte* from,
                          bool& progressed) {
  const Blocks& blocks = operation.blocks;
  if (!blocks.eager()) {
    if (flow.block >= flow.granted) return false;
  } else if (!credits_.may_send(flow.peer, flow.ticket)) {
    return false;
  }
  const std::size_t size = blocks.size(flow.block);
  const std::size_t limit = max_data_bytes(*team_, flow.peer);
  while (flow.sent != size) {
    const std::size_t piece = std::min(limit, size - flow.sent);
    if (!send_data(*team_, flow.peer, operation.number, flow.phase,
                   blocks.offset(flow.block) + flow.sent, from + flow.sent, piece))
      return false;
    flow.sent += piece;
    progressed = true;
  }
  flow.sent = 0;
  ++flow.block;
  return true;
}

void Messages::consume(MessageCollective& operation, Inflow& flow) {
  flow.received(flow.taken) = 0;
  ++flow.taken;
  if (operation.blocks.eager() && flow.original == Inflow::Original::awaited)
    credits_.count_used(flow.peer);
}

bool Messages::is_early(const MessageCollective& operation, Phase phase) noexcept {
  return phase == Phase::result && operation.block != operation.blocks.count &&
         operation.blocks.eager();
}

void Messages::data_arrived(const FlowName& name, std::uint64_t offset,
                            std::span<const std::byte> bytes) {
  const std::size_t size = bytes.size();
  MessageCollective* operation = begun(name.number);
  if (operation == nullptr) {
    if (unexpected_.is_owed() && unexpected_.take_owed(name)) return credits_.count_used(name.peer);
    if (static_cast<std::int32_t>(name.number - begun_) < 0 || size > eager_bytes ||
        offset > eager_bytes - size)
      refuse(name.peer);
    return unexpected_.keep_data(name, offset, bytes);
  }
  auto& flows = name.phase == Phase::operand ? operation->operands
                : name.phase == Phase::round ? operation->rounds
                                             : operation->results;
  const auto flow = std::find_if(flows.begin(), flows.end(),
                                 [&](const Inflow& each) { return each.peer == name.peer; });
  const Blocks& blocks = operation->blocks;
  if (flow == flows.end() || offset >= blocks.total || size > blocks.total - offset)
    refuse(name.peer);
  if (flow->original == Inflow::Original::replaced) [[unlikely]] {
    flow->original = Inflow::Original::replaced_and_come;
    return credits_.count_used(name.peer);
  }
  if (is_early(*operation, name.phase)) return unexpected_.keep_data(name, offset, bytes);
  const auto block = static_cast<std::uint32_t>(offset / blocks.each);
  const std::size_t within = offset - blocks.offset(block);
  if (block - flow->taken >= flow->slots() || size > blocks.size(block) - flow->received(block) ||
      within + size > blocks.size(block))
    refuse(name.peer);
  std::memcpy(flow->place(block) + within, bytes.data(), size);
  flow->received(block) += size;
}

void Messages::grant_arrived(const FlowName& name, std::uint32_t granted) {
  MessageCollective* operation = begun(name.number);
  if (operation == nullptr) {
    if (static_cast<std::int32_t>(name.number - begun_) < 0) refuse(name.peer);
    return unexpected_.keep_grant(name, granted);
  }
  for (auto* flows : {&operation->collector, &operation->receivers}) {
    for (Outflow& flow : *flows) {
      if (flow.peer != name.peer || flow.phase != name.phase) continue;
      // The grants may overtake each other: the furthest counts.
      flow.granted = std::max(flow.granted, std::min(granted, operation->blocks.count));
      ++flow.grants_received;
      return;
    }
  }
  refuse(name.peer);
}

void Messages::credit_arrived(gex_Rank_t source, std::uint32_t count) {
  if (!credits_.acknowledge(source, count)) refuse(source);
}

void Messages::use_early(MessageCollective& operation) {
  unexpected_.take_data(
      operation.number, [&](Phase phase) { return !is_early(operation, phase); },
      [&](const FlowName& name, std::uint64_t offset, std::span<const std::byte> bytes) {
        data_arrived(name, offset, bytes);
      });
  unexpected_.take_grants(operation.number, [&](const FlowName& name, std::uint32_t granted) {
    grant_arrived(name, granted);
  });
}

}  // namespace gex::coll
