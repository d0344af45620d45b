#pragma once
// A collective operation of this process: what was asked for, and whether it is done.

#include <gasnetex.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/cache_line.h"
#include "coll/copy_bytes.h"
#include "coll/reduction.h"
#include "observe/restricted.h"
#include "team/barrier.h"

namespace gex::coll {

class TeamCollectives;

enum class Kind : std::uint8_t {
  broadcast,
  reduce_to_one,
  reduce_to_all,
  gather,
  scatter,
  gather_to_all,
  exchange,
  shift,  ///< a part of others: each member's block to another one
};

constexpr bool is_reduction(Kind kind) noexcept {
  return kind == Kind::reduce_to_one || kind == Kind::reduce_to_all;
}
constexpr bool has_root(Kind kind) noexcept {
  return kind == Kind::broadcast || kind == Kind::reduce_to_one || kind == Kind::gather ||
         kind == Kind::scatter;
}

/// Memory for operands, aligned for types of any kind.
struct alignas(cache_line) Line {
  std::byte bytes[cache_line];
};

/// Arguments, checked.
struct Request {
  Call call = Call::broadcast;  ///< that asks for it, as reports name it
  Kind kind = Kind::broadcast;
  gex_Rank_t root = 0;  ///< rank in the team; in a part by posts, the number of its board
  std::byte* destination = nullptr;
  const std::byte* source = nullptr;
  std::size_t bytes = 0;  ///< of a broadcast, of an operand, or of one rank's block
  Reduction reduction;
  // As the call has them, for checked mode; 0 if it has none.
  gex_Flags_t flags = 0;
  gex_DT_t type = 0;
  gex_OP_t operation = 0;

  /// If any, a barrier of the team's at which the caller has arrived: nothing moves before it is
  /// done.
  std::optional<std::uint32_t> after_barrier;
  /// Complete here only once it is complete at all members.
  bool completes_together = false;
  /// If not null, true once data may move: what another operation of this process has done, or has
  /// the result of.
  const std::atomic<bool>* after = nullptr;
  /// False: another part of the operation makes the own result of a broadcast's root.
  bool makes_own_result = true;
};

/// Returns true if the member with this rank gives data; what others pass as the source is ignored.
constexpr bool reads_source(const Request& request, gex_Rank_t rank) noexcept {
  return (request.kind != Kind::broadcast && request.kind != Kind::scatter) || request.root == rank;
}
/// Returns true if that member gets a result; what others pass as the destination is ignored.
constexpr bool writes_destination(const Request& request, gex_Rank_t rank) noexcept {
  return (request.kind != Kind::reduce_to_one && request.kind != Kind::gather) ||
         request.root == rank;
}

/// At the root of a broadcast, and in a team of one, where the own result is the own data: returns
/// true if it is in its place, or another part makes it.
inline bool own_result_is_there(const Request& request) noexcept {
  return !request.makes_own_result || request.destination == request.source;
}
/// Makes bytes of that result, unless it is there.
inline void make_own_result(const Request& request, std::size_t offset,
                            std::size_t bytes) noexcept {
  if (!own_result_is_there(request))
    copy_bytes(request.destination + offset, request.source + offset, bytes);
}

/// How an operation is carried out: each way is a type.
enum class Way : std::uint8_t {
  posts,     ///< PostCollective
  messages,  ///< MessageCollective
  leaders,   ///< LedCollective
  doubling,  ///< DoublingCollective
};
inline constexpr std::size_t ways = 4;

/// Used for one operation after the other. Made and owned by a TeamCollectives, or a part of one
/// that is.
struct Collective {
  explicit Collective(Way of_type) noexcept : way(of_type) {}
  virtual ~Collective() = default;
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  Request request;
  TeamCollectives* owner = nullptr;
  Collective* behind = nullptr;  ///< in a CollectiveQueue
  const Way way;
  bool entered = false;          ///< data may move
  std::uint32_t completion = 0;  ///< completes_together: number of its barrier
  /// Nothing is left to do here.
  std::atomic<bool> done{false};

  /// Returns true if data may move; `barrier` is the team's.
  bool enter(TeamBarrier& barrier) noexcept {
    if (entered) return true;
    // Relaxed: operations are finished with the lock held under which this one is advanced.
    const bool is_after =
        request.after == nullptr || request.after->load(std::memory_order_relaxed);
    entered = is_after && (!request.after_barrier || barrier.done(*request.after_barrier));
    return entered;
  }

  void finish() noexcept {
    // Release: what the operation wrote is seen by a thread that finds it done.
    done.store(true, std::memory_order_release);
  }
};

/// Returns true if an operation is done, as the lock of its TeamCollectives shows it; a hint
/// without the lock.
inline bool is_done(const Collective& operation) noexcept {
  // Relaxed: operations are finished with the lock held.
  return operation.done.load(std::memory_order_relaxed);
}

/// Operations in the order of their calls. An operation is in one queue at a time.
template <class T>
class CollectiveQueue {
 public:
  T* front() const noexcept { return static_cast<T*>(first_); }
  bool empty() const noexcept { return first_ == nullptr; }
  bool has_one() const noexcept { return first_ == last_; }

  void push(T& operation) noexcept {
    operation.behind = nullptr;
    if (first_ == nullptr)
      first_ = &operation;
    else
      last_->behind = &operation;
    last_ = &operation;
  }
  void pop() noexcept {
    first_ = first_->behind;
    if (first_ == nullptr) last_ = nullptr;
  }

 private:
  Collective* first_ = nullptr;
  Collective* last_ = nullptr;
};

}  // namespace gex::coll
