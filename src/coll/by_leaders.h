#pragma once
// Collective operations of a team over several neighborhoods, some of which have several members:
// by posts inside a neighborhood (by_posts.h), by messages between them (messages.h). Each
// neighborhood has a member through which it is reached, its leader: the root in its own one,
// elsewhere the lowest. A value crosses the network once for each neighborhood, and a message of a
// neighborhood's is its leader's, however many members that has.
//
//   broadcast        root ==between==> leaders
//                     |down             |down
//                    neighbors         neighbors
//
//   reduce to one    neighbors         neighbors
//                     |up               |up
//                    root <==between== leaders
//
//   reduce to all    neighbors         neighbors
//                     |up               |up
//                    leader <=between=> leader
//                     |down             |down
//                    neighbors         neighbors
//
// Where the order of operands counts, rank 0 makes the result and sends it to the root. An
// operation is cut into chunks, of which several are under way, so that the stages of one overlap
// those of the next. All members launch parts in one order (composed.h): chunks up, and
// between, as long as fewer than `lag` are to go down, then one down.
//
// A broadcast or reduction to all of few bytes does without a leader that computes (known.h).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/cache_line.h"
#include "coll/by_posts.h"
#include "coll/composed.h"
#include "coll/known.h"
#include "coll/wire.h"
#include "core/team.h"

namespace gex::coll {

/// Parts that all operations by leaders of a team use.
struct Leaders {
  Team& team;
  Messages& messages;
  Posts* near;  ///< the neighborhood's members; null: this is the only one
  Known& known;

  /// Returns true if this is the way for such an operation; the same answer at all members.
  bool suits(const Request& request) const noexcept;

  /// Returns true if an operation of so many bytes takes less time so. Where ranks share cores
  /// (`oversubscribed`), the stages of many bytes wait longer for the turns of neighbors than they
  /// save in messages.
  static constexpr bool pay(bool oversubscribed, std::size_t bytes) noexcept {
    constexpr std::size_t max_where_oversubscribed = 16 << 10;
    return !oversubscribed || bytes <= max_where_oversubscribed;
  }
};

class LedCollective final : public ComposedCollective {
 public:
  explicit LedCollective(const Leaders& leaders)
      : ComposedCollective(Way::leaders), leaders_(leaders) {}

  void set_up() override;
  bool launch_parts() override;
  bool is_launched() const noexcept override { return launched_up_ == count_ && down_ == count_; }
  bool advance_parts() override;
  bool has_moved() const noexcept override { return finished_ == count_; }

 private:
  struct Chunk {
    PostCollective up;
    MessageCollective between;
    PostCollective down;
    std::vector<Line> partial;  ///< what a leader combines that is not the root
  };
  /// Chunks that are under way at most.
  static constexpr std::uint32_t depth = 4;
  static constexpr std::uint32_t lag = 2;

  Chunk& chunk(std::uint32_t number) noexcept { return *chunks_[number % depth]; }
  std::size_t offset(std::uint32_t number) const noexcept { return number * chunk_bytes_; }
  std::size_t size(std::uint32_t number) const noexcept {
    const std::size_t left = request.bytes - offset(number);
    return left < chunk_bytes_ ? left : chunk_bytes_;
  }
  void launch_up(std::uint32_t number);
  void launch_between(std::uint32_t number);
  void launch_down(std::uint32_t number);

  /// Returns true if members keep the result, for others that ask for it.
  bool is_known() const noexcept {
    return request.bytes <= max_known_bytes &&
           (request.kind == Kind::broadcast ||
            (request.kind == Kind::reduce_to_all &&
             leaders_.messages.groups().count() <= max_gathered));
  }
  /// Takes what has come as an answer, and asks if nothing has come for long; true if it took any.
  bool ask_if_late();
  bool take(std::span<const std::byte> result);
  void ask();
  /// The value that it asks for first.
  Wanted wanted() noexcept;
  /// Returns true if the result is all that the leader has from others.
  bool takes_result() noexcept;
  /// Another member than the leader makes the neighborhood's operand, if all have posted.
  void make_operand();
  void ask_for_operands();
  /// Makes what is missing of all neighborhoods' operands.
  bool take_operands();

  /// The member through which the own neighborhood is reached.
  gex_Rank_t leader() const noexcept;
  bool leads() const noexcept { return leader() == leaders_.team.rank; }
  bool is_root() const noexcept { return request.root == leaders_.team.rank; }
  /// Returns true if the result is there at first, where it has come from.
  bool is_source() const noexcept { return request.kind == Kind::broadcast && is_root(); }
  /// Returns true if this member sends or receives messages.
  bool has_messages() const noexcept {
    return leads() || (request.kind == Kind::reduce_to_one && is_root());
  }

  const Leaders& leaders_;
  std::unique_ptr<Chunk> chunks_[depth];
  std::size_t chunk_bytes_ = 0;
  std::uint32_t count_ = 0;                ///< of chunks
  std::uint32_t launched_up_ = 0;          ///< chunks launched up, and between
  std::uint32_t down_ = 0;                 ///< chunks launched down
  std::uint32_t finished_ = 0;             ///< chunks of which nothing is left to do here
  std::uint32_t number_ = 0;               ///< of the messages of the first chunk
  bool may_ask_ = false;                   ///< others, for what is another neighborhood's
  gex_Rank_t awaited_ = GEX_RANK_INVALID;  ///< asked in turn 0
  Asking asking_;
};

}  // namespace gex::coll
