#pragma once
// Handlers of the messages of collective operations: they pass each to the TeamCollectives that it
// is for.

namespace gex::coll {

/// Start-up only.
void start_receiving();

}  // namespace gex::coll
