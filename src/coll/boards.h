#pragma once
// The boards of a team's members that share memory (shm/posts.h) as collective operations use them:
// what this member posts, what it reads of the others, and the post for want of which it stopped.
//
// They number each other from 0, in the order of their ranks: where all members of the team share
// memory those numbers are the ranks.
//
// Used with the lock of the TeamCollectives held, except `may_advance`.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "coll/copy_bytes.h"
#include "core/team.h"
#include "shm/posts.h"

namespace gex::coll {

class Boards {
 public:
  /// `members`: ranks of the team, rising, this process's among them; `slots`: of each of these
  /// (shm::TeamSlots).
  Boards(Team& team, std::vector<gex_Rank_t> members, const std::vector<std::uint32_t>& slots);
  /// Leaves the own board as that of a slot which is not in use.
  ~Boards();
  Boards(const Boards&) = delete;
  Boards& operator=(const Boards&) = delete;

  /// The number of this one.
  gex_Rank_t own() const noexcept { return own_; }
  gex_Rank_t size() const noexcept { return static_cast<gex_Rank_t>(boards_.size()); }
  shm::PostBoard& of(gex_Rank_t member) const noexcept { return *boards_[member]; }
  gex_Rank_t rank_of(gex_Rank_t member) const noexcept { return members_[member]; }
  gex_Rank_t jobrank_of(gex_Rank_t member) const noexcept {
    return team_.jobrank_of(rank_of(member));
  }

  /// Returns true if the own cell of that number may be written.
  bool may_write(std::uint32_t number) noexcept {
    return window_.may_write(number, size(),
                             [this](std::uint32_t member) -> const shm::StdAtomics::Word& {
                               return boards_[member]->read;
                             });
  }
  /// Where the own post of so many bytes is written; `publish` shows it.
  std::byte* own_place(std::uint32_t number, std::size_t bytes) noexcept {
    return own_board().place(number, bytes);
  }
  /// Where an own post of up to `post_cell_bytes` is written whose place does not depend on its
  /// size.
  std::byte* own_cell(std::uint32_t number) noexcept { return own_board().cell(number); }
  /// `bytes` is passed with the post: those of the operand, of which members compare the lower 32
  /// bits.
  void publish(std::uint32_t number, std::size_t bytes) noexcept {
    shown_ = true;
    shm::publish_post<shm::StdAtomics>(own_board().ready(number), number,
                                       static_cast<std::uint32_t>(bytes));
  }

  /// Publishes that everything below `number` is read here, several numbers at a time
  /// (shm::PostReader).
  void publish_read_below(std::uint32_t number) noexcept {
    shown_ = true;
    reader_.advance_to(number, own_board().read);
  }
  /// Publishes at once that it is, and so is other memory that the posts below it name.
  void publish_read_below_now(std::uint32_t number) noexcept {
    shown_ = true;
    reader_.advance_now_to(number, own_board().read);
  }
  /// Returns true if a member has read everything below `number`, and what its posts name.
  bool has_read(gex_Rank_t member, std::uint32_t number) const noexcept {
    // Acquire: the member's reads precede what follows here.
    const std::uint32_t read = boards_[member]->read.load(std::memory_order_acquire);
    return static_cast<std::int32_t>(read - number) >= 0;
  }

  /// Returns true if a member has posted, whatever the size.
  bool is_posted(gex_Rank_t member, std::uint32_t number) const noexcept {
    std::uint32_t what = 0;
    return shm::post_arrived<shm::StdAtomics>(boards_[member]->ready(number), number, what);
  }
  /// Returns true if a member has posted, of an operation of so many bytes; ends the job if of
  /// another. False: that post is the missing one.
  bool find_post(gex_Rank_t member, std::uint32_t number, std::size_t bytes) noexcept {
    std::uint32_t there = 0;
    const shm::StdAtomics::Ready& ready = boards_[member]->ready(number);
    if (!shm::post_arrived<shm::StdAtomics>(ready, number, there)) {
      missing_ = &ready;
      missing_number_ = number;
      return false;
    }
    if (there != static_cast<std::uint32_t>(bytes)) [[unlikely]]
      refuse_size(member, there, bytes);
    return true;
  }
  /// Returns a member's post, or null if it is not there yet.
  const std::byte* post_of(gex_Rank_t member, std::uint32_t number, std::size_t bytes) noexcept {
    return post_of(member, number, bytes, bytes);
  }
  /// Returns the post of an operation of `bytes`, which takes `post_bytes`, or null.
  const std::byte* post_of(gex_Rank_t member, std::uint32_t number, std::size_t bytes,
                           std::size_t post_bytes) noexcept {
    return find_post(member, number, bytes) ? boards_[member]->place(number, post_bytes) : nullptr;
  }
  /// Where a member's post is whose place does not depend on its size.
  std::byte* cell(gex_Rank_t member, std::uint32_t number) const noexcept {
    return boards_[member]->cell(number);
  }
  [[noreturn]] void refuse_size(gex_Rank_t member, std::uint64_t there,
                                std::size_t bytes) const noexcept;

  void forget_missing() noexcept { missing_ = nullptr; }
  /// Notes for `may_advance` whether the missing post, if there is one, is all that this member
  /// waits for (`only`).
  void note_awaited(bool only) noexcept {
    awaited_number_.store(missing_number_, std::memory_order_relaxed);
    awaited_.store(only ? missing_ : nullptr, std::memory_order_relaxed);
  }
  /// False: nothing that this member would do is possible yet. One word read.
  bool may_advance() const noexcept {
    const shm::StdAtomics::Ready* ready = awaited_.load(std::memory_order_relaxed);
    return ready == nullptr || shm::seems_posted<shm::StdAtomics>(
                                   *ready, awaited_number_.load(std::memory_order_relaxed));
  }

  /// Something was stored that other members may wait for; `publish` and `publish_read_below` note
  /// it themselves.
  void note_shown() noexcept { shown_ = true; }
  /// Returns true if that was so since the last call.
  bool take_shown() noexcept { return std::exchange(shown_, false); }

 private:
  shm::PostBoard& own_board() noexcept { return *boards_[own_]; }

  Team& team_;
  std::vector<gex_Rank_t> members_;
  gex_Rank_t own_;  ///< number of this one
  std::vector<shm::PostBoard*> boards_;
  shm::PostWindow<shm::StdAtomics> window_;
  shm::PostReader<shm::StdAtomics> reader_;
  bool shown_ = false;

  /// The post for want of which the last step stopped, or null.
  const shm::StdAtomics::Ready* missing_ = nullptr;
  std::uint32_t missing_number_ = 0;
  /// That post where it is all that this member waits for: what `may_advance` reads. The two belong
  /// together only while no thread advances, so it may be wrong, but not for long.
  std::atomic<const shm::StdAtomics::Ready*> awaited_{nullptr};
  std::atomic<std::uint32_t> awaited_number_{0};
};

}  // namespace gex::coll
