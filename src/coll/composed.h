#pragma once
// The order in which a team's operations that use messages are launched: those by messages alone
// (messages.h), and those that are made of parts, by posts (by_posts.h) and by messages. Parts are
// numbered as they are launched, so all members launch them in one order: nothing of an operation
// before the one before it is launched as a whole.
//
// Nothing here waits. All functions are called with the lock of the TeamCollectives held.

#include <vector>

#include "coll/collective.h"
#include "coll/messages.h"

namespace gex::coll {

struct ComposedCollective : Collective {
  using Collective::Collective;

  /// The operation is the next of the team's: decides of which parts it is made.
  virtual void set_up() = 0;
  /// Launches parts that have their turn; true if there was one.
  virtual bool launch_parts() = 0;
  virtual bool is_launched() const noexcept = 0;
  /// Takes what parts have done; true if there was anything.
  virtual bool advance_parts() = 0;
  /// Returns true if nothing is left to do here; LaunchOrder finishes it then.
  virtual bool has_moved() const noexcept = 0;
};

/// Makes an operation ready to be launched as a part of another one, with a request like that
/// one's.
void prepare_part(Collective& part, const Request& whole) noexcept;

class LaunchOrder {
 public:
  explicit LaunchOrder(Messages& messages) noexcept : messages_(messages) {}
  LaunchOrder(const LaunchOrder&) = delete;
  LaunchOrder& operator=(const LaunchOrder&) = delete;

  /// The operation is the next of the team's that is not by posts alone.
  void launch(ComposedCollective& operation);
  void launch(MessageCollective& operation);
  bool advance();
  bool idle() const noexcept { return pending_.empty() && under_way_.empty(); }

 private:
  bool launch_pending();

  Messages& messages_;
  CollectiveQueue<Collective> pending_;  ///< not launched as a whole
  std::vector<ComposedCollective*> under_way_;
};

}  // namespace gex::coll
