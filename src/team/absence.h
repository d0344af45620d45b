#pragma once
// Ranks that have left the job with a collective call still to make, and others that wait for them.
//
// A rank that returns from main or calls exit(0) goes on answering until all have left, so no
// process dies and a wait for it could last for ever. Once the guardian reports that a rank has
// left, each rank asks, every half second, the other members of each team in which a call of its
// own is under way: those that have left answer how many calls they have made. One that has made
// fewer than the asker never makes the call that the asker waits in, and the guardians end the job.
// A rank that has not left does not answer, so a late one is never taken for one that has left.

namespace gex::team {

/// Start-up only.
void start_absence();

}  // namespace gex::team
