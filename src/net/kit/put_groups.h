#pragma once
// Which puts a flush waits for, where puts are made of messages that are acknowledged: those to its
// peer that were begun before it and complete nothing by themselves.
//
//   PutGroup* group = groups.add(peer);                // a put begins
//   groups.flush(peer, done, complete);
//   groups.arrived(peer, *group, complete);            // calls complete(done)
//
// Thread rules: one thread at a time.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/zeroed_table.h"
#include "net/kit/object_pool.h"

namespace gex::net {

/// Puts to a peer between two flushes.
struct PutGroup {
  PutGroup* next = nullptr;
  std::uint32_t puts = 0;  ///< that have not arrived
  bool is_closed = false;  ///< by a flush
  void* done = nullptr;    ///< the flush's
};

class PutGroups {
 public:
  explicit PutGroups(std::size_t ranks, std::size_t max_groups = ~std::size_t{0})
      : groups_(max_groups), of_(ranks) {}

  /// Counts a put; returns the group in which it is, or null: there are too many.
  PutGroup* add(std::uint32_t peer) {
    PutGroup* const group = open(of_[peer]);
    if (group != nullptr) ++group->puts;
    return group;
  }
  /// The put that was counted last is not sent.
  static void cancel(PutGroup& group) noexcept {
    // The group is open, as it was a moment ago: no flush waits for it.
    GEX_ASSERT(group.puts != 0 && !group.is_closed);
    --group.puts;
  }
  /// A put has arrived. Calls `complete(done)` for each flush that has waited for it alone.
  template <class Complete>
  void arrived(std::uint32_t peer, PutGroup& group, Complete complete) {
    GEX_ASSERT(group.puts != 0);
    --group.puts;
    settle(of_[peer], complete);
  }
  /// Calls `complete(done)` when all that were counted have arrived, which may be now. False: there
  /// are too many flushes.
  template <class Complete>
  bool flush(std::uint32_t peer, void* done, Complete complete) {
    Groups& groups = of_[peer];
    if (groups.last == nullptr) {
      complete(done);
      return true;
    }
    // Without a put since the last one it waits behind that.
    PutGroup* const group = open(groups);
    if (group == nullptr) return false;
    group->is_closed = true;
    group->done = done;
    settle(groups, complete);
    return true;
  }
  /// Returns true if a flush would find nothing to wait for.
  bool is_empty(std::uint32_t peer) const noexcept { return of_[peer].last == nullptr; }

 private:
  /// The oldest first; all but the last are closed.
  struct Groups {
    PutGroup* first;
    PutGroup* last;
  };

  PutGroup* open(Groups& groups) {
    PutGroup* const last = groups.last;
    if (last != nullptr && !last->is_closed) return last;
    PutGroup* const group = groups_.take();
    if (group == nullptr) return nullptr;
    (last == nullptr ? groups.first : last->next) = group;
    groups.last = group;
    return group;
  }
  template <class Complete>
  void settle(Groups& groups, Complete complete) {
    while (groups.first != nullptr && groups.first->puts == 0 && groups.first->is_closed) {
      PutGroup* const group = groups.first;
      groups.first = group->next;
      if (groups.first == nullptr) groups.last = nullptr;
      void* const done = group->done;
      groups_.give_back(group);
      complete(done);
    }
  }

  ObjectPool<PutGroup> groups_;
  ZeroedTable<Groups> of_;  ///< by peer
};

}  // namespace gex::net
