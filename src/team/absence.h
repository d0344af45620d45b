#pragma once
// Ranks that have left the job with a collective call still to do, and others that wait for them.
//
// A rank that returns from main or calls exit(0) stays to answer until all have left, so nothing
// dies and a wait for it could last for ever. From when the guardian says that somebody has left, a
// rank asks, every half second, the other members of each team in which a call of its own is under
// way: those that have left answer how many calls they have made. Who has made fewer than the asker
// never makes the one that the asker waits in, and the guardians end the job. Nobody else answers,
// so one that is late is never taken for one that has left.

namespace gex::team {

/// Start-up only.
void start_absence();

}  // namespace gex::team
