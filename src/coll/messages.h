#pragma once
// Collective operations by messages: over any team, any number of bytes.
//
// Operations of a team are numbered alike by all members. A message names the team, the number and
// the flow (flow.h) and goes straight to its place if the receiver has begun that operation; if
// not, it is few bytes, which are kept. Operations make progress independently of each other, up to
// `max_begun` beyond the oldest that is not done. One that comes after a barrier is ready to
// receive meanwhile, because others may find the barrier done first.
//
// Nothing here waits: what finds no room to be sent is sent by a later poll.
//
//   launch          gives an operation its number; it waits until `max_begun` leaves it room
//   begin           makes its flows: `set_up_tree` (plan.h), or `set_up_pairs`
//   advance         `send_grants`; once data may move `place_own`; of a reduction `combine_blocks`,
//                   which takes operands, exchanges rounds, and hands on to the collector;
//                   `consume_results`, and `pass_results` to the receivers
//   data_arrived    puts bytes of a flow in their place (receive.cc)
//   finish          it has moved all
//
// All functions are called with the lock of the TeamCollectives held.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/cache_line.h"
#include "coll/collective.h"
#include "coll/credits.h"
#include "coll/flow.h"
#include "coll/plan.h"
#include "coll/unexpected.h"
#include "core/team.h"

namespace gex::coll {

class KnownValues;

struct MessageCollective : Collective {
  MessageCollective() noexcept : Collective(Way::messages) {}

  std::uint32_t number = 0;
  Trees trees = Trees::both;
  /// To which member the bytes of a shift go, and from which one its result comes.
  struct Shift {
    gex_Rank_t to;
    gex_Rank_t from;
  };
  Shift shift{};
  KnownValues* kept_operands = nullptr;  ///< where the own operand is kept, if it is
  Blocks blocks;
  Plan plan;  ///< empty unless it goes along a tree

  std::vector<Inflow> operands;  ///< of the contributors
  std::vector<Inflow> rounds;
  std::vector<Inflow> results;  ///< along a tree from one member at most, else from all that send
  std::vector<Outflow> round_sends;
  std::vector<Outflow> collector;  ///< one or none
  std::vector<Outflow> receivers;
  const std::byte* passes_from = nullptr;  ///< the receivers' bytes: the same ones, or in a row
  bool keeps_own = false;  ///< not along a tree: some of the own source is for the own destination
  std::vector<Line> staging;  ///< the places of operands and rounds

  // How far the current block has come: contributors combined, rounds passed.
  std::uint32_t block = 0;
  std::uint32_t combined = 0;
  std::uint32_t rounds_passed = 0;
  /// The block is combined so far here: in the client's memory or in `staging`.
  const std::byte* partial = nullptr;
  std::uint32_t made = 0;  ///< blocks of the result that were made here
  /// The result is there, if it is wanted here, though others may not have been sent theirs yet.
  std::atomic<bool> has_result{false};

  /// Returns true if what the receivers get comes from another member; else it is made here.
  bool passes_received() const noexcept { return plan.result_sender != GEX_RANK_INVALID; }
};

class Messages {
 public:
  /// At most so many operations are under way; later ones wait for the oldest.
  static constexpr std::uint32_t max_begun = 64;

  void bind(Team& team);

  /// The operation is the next of the team's.
  void launch(MessageCollective& operation);
  /// Others launch the next one, in which this member has no part.
  void skip();
  /// The number of the next one.
  std::uint32_t next_number() const noexcept { return launched_; }
  /// The member whose message an operation of one block has to have next, or GEX_RANK_INVALID.
  gex_Rank_t awaited(MessageCollective& operation) noexcept;
  /// The content of messages to an operation of one block has come another way, though they may
  /// still come: `content(phase, index, place)` puts it there. True if any was missing.
  using Content = std::function<void(Phase phase, std::uint32_t index, std::byte* place)>;
  bool replace(MessageCollective& operation, const Content& content);
  bool advance();
  const Groups& groups() const noexcept { return *groups_; }
  bool has_credits_to_send() const noexcept { return credits_.are_due(); }
  /// Returns true if messages are still to come whose content has come another way.
  bool is_owed() const noexcept { return unexpected_.is_owed(); }
  bool idle() const noexcept { return oldest_ == launched_ && !credits_.are_due(); }

  // Arrivals; the sender is checked to be a member.
  void data_arrived(const FlowName& name, std::uint64_t offset, std::span<const std::byte> bytes);
  void grant_arrived(const FlowName& name, std::uint32_t granted);
  void credit_arrived(gex_Rank_t source, std::uint32_t count);

 private:
  MessageCollective* begun(std::uint32_t number) noexcept;
  void begin(MessageCollective& operation);
  void set_up_tree(MessageCollective& operation);
  void set_up_pairs(MessageCollective& operation);
  /// Moves what goes from the own source to the own destination.
  void place_own(MessageCollective& operation);
  bool advance(MessageCollective& operation);
  bool send_grants(MessageCollective& operation);
  bool combine_blocks(MessageCollective& operation);
  bool pass_rounds(MessageCollective& operation, bool& progressed);
  bool hand_on(MessageCollective& operation, bool& progressed);
  bool consume_results(MessageCollective& operation);
  bool pass_results(MessageCollective& operation);
  /// Returns true if nothing is left to send or to receive.
  bool has_moved(const MessageCollective& operation) const noexcept;
  /// Finishes an operation that has moved all, which leaves its slot; true if it has.
  bool retire_if_moved(MessageCollective& operation);
  void finish(MessageCollective& operation);
  /// Passes the numbers below which everything is done.
  void advance_oldest() noexcept;
  /// Sends what is left of the flow's current block, if it may be sent; true once it is gone.
  bool send_block(const MessageCollective& operation, Outflow& flow, const std::byte* from,
                  bool& progressed);
  void consume(MessageCollective& operation, Inflow& flow);
  /// Returns true if the place of what comes in a phase is still in use: a result that others have
  /// made without the own operand's message takes the place of that operand.
  static bool is_early(const MessageCollective& operation, Phase phase) noexcept;
  /// Puts early messages of an operation where they belong.
  void use_early(MessageCollective& operation);

  Team* team_ = nullptr;
  std::unique_ptr<Groups> groups_;
  CollectiveQueue<MessageCollective> waiting_;  ///< launched, not begun
  std::uint32_t launched_ = 0;
  std::uint32_t begun_ = 0;   ///< operations that have begun
  std::uint32_t oldest_ = 0;  ///< everything below is done
  MessageCollective* slots_[max_begun] = {};
  Credits credits_;
  UnexpectedMessages unexpected_;
};

}  // namespace gex::coll
