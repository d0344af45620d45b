#pragma once
// Broadcast, reductions, and the data movement of the GASNet-1 collectives, over any team.
//
// The path of a broadcast; other operations differ behind `way_of`:
//
//   gex_Coll_BroadcastNB    api/coll.cc          checks the arguments, and makes a Request
//   start_collective        coll.cc              a copy in a team of one; nothing without bytes
//   TeamCollectives::start  team_collectives.cc  `way_of` chooses a Collective, and `launch` gives
//                                                it its turn among the team's; few bytes move by
//                                                posts within the call (Posts::do_at_once); in
//                                                checked mode it is launched once all members have
//                                                announced the same call (announcement.h,
//                                                agreement.h)
//
//   PostCollective          by_posts.h     all members share memory: its table names the shape, of
//                                          which each moves bytes by posts (by_pieces.h) over
//                                          boards.h, or copies (direct_copy.h, helped_copy.h) over
//                                          direct_team.h and direct_access.h
//   LedCollective           by_leaders.h   some do: messages among leaders, posts among neighbors;
//                                          one of few bytes asks others if it is late (known.h)
//   MessageCollective       messages.h     no two do, or leaders do not pay (by_leaders.h), or a
//                                          process has several members: along a tree (plan.h), in
//                                          flows (flow.h)
//   DoublingCollective      by_doubling.h  blocks of every member for all others, in rounds
//
//   LaunchOrder             composed.h     not a Collective: the order in which those by messages,
//                                          and those that are made of others, are launched
//
// From then on:
//
//   send_data               wire.h         -> am::send_request; from there am/internal.h and
//                                          net/udp/endpoint.h
//   on_data, on_grant, ... receive.cc      in handlers of messages (wire.h): Messages puts bytes in
//                                          their place, or keeps them if they are early
//                                          (unexpected.h), and counts grants and credits
//                                          (credits.h)
//   TeamCollectives::advance               in polls: Posts, Messages and LaunchOrder `advance`
//   Collective::finish                     `done`: nothing is left to do here
//   TeamCollectives::complete_if_done      what the event that `event_of` (core/initiate.h) made in
//                                          the call asks: `conclude` does what posts allow, and
//                                          gives the Collective back
//
// An operation is *started* by its call, *launched* when it gets its place in the order of the
// team's, *done* when nothing is left to do here, and *complete* when its event is. One by
// messages *begins* when they may be sent: of those that are launched, so many may be under way.
// `source` and `destination` are the caller's memory. A broadcast's bytes are the root's *operand*
// in posts, and a *result* in messages. Which way depends on the team and on arguments that are the
// same at all members, and so does the order in which operands are combined: results are the same
// whenever the call is repeated.

#include <gasnetex.h>

#include "coll/agreement.h"
#include "coll/collective.h"
#include "core/team.h"

namespace gex::coll {

/// Starts an operation whose arguments are checked; never waits. Collective; one thread at a time
/// starts collectives on a team.
gex_Event_t start_collective(Team& team, const Request& request) noexcept;

/// Checked mode: another collective call of the team's, of which nothing else is done here.
void announce(Team& team, const Announcement& announcement) noexcept;

/// Events of this process's calls on the team that were not synchronised; barriers apart.
std::size_t unsynchronised_events(Team& team) noexcept;

/// Start-up only.
void start();

}  // namespace gex::coll
