#include "coll/team_collectives.h"

#include <map>

#include "base/immortal.h"
#include "core/active_list.h"
#include "core/initiate.h"
#include "core/process.h"
#include "core/progress.h"
#include "observe/trace.h"
#include "team/barrier.h"

namespace gex::coll {

namespace {

Immortal<ActiveList<TeamCollectives>> the_active;

/// By team and rank in it: a process may be a member more than once.
struct Registry {
  SpinLock lock;
  std::map<std::pair<TeamId, gex_Rank_t>, std::unique_ptr<TeamCollectives>> entries;
};
Immortal<Registry> the_registry;

}  // namespace

TeamCollectives::TeamCollectives() noexcept : threaded_(process().threaded) {
}

TeamCollectives& TeamCollectives::of(Team& team) {
  if (TeamCollectives* const kept = find(team)) return *kept;
  TeamCollectives& made = collectives_of(team.id(), team.rank);
  made.bind(team);
  CollectivesSlot::set(team, &made);
  return made;
}

void TeamCollectives::bind(Team& team) {
  const OptionalGuard guard(lock_, threaded_);
  team_ = &team;
  agreement_.bind(team);
  messages_.bind(team);
  // The barrier has found who shares memory. By messages: no two members do, or a process has
  // several.
  const TeamBarrier& barrier = barrier_of(team);
  if (barrier.shape() == team::BarrierShape::messages) return;
  is_whole_ = barrier.shape() == team::BarrierShape::flags;
  std::vector<gex_Rank_t> near = team::plan_of(team).near;
  if (near.size() > 1) posts_ = std::make_unique<Posts>(team, std::move(near), barrier.slots());
  if (!is_whole_) leaders_.emplace(Leaders{team, messages_, posts_.get(), known_});
}

Way TeamCollectives::way_of(const Request& request) const noexcept {
  if (is_whole_) return Posts::suits_whole(request, team_->size) ? Way::posts : Way::messages;
  if (DoublingCollective::suits(request, team_->size)) return Way::doubling;
  return leaders_ && leaders_->suits(request) ? Way::leaders : Way::messages;
}

std::unique_ptr<Collective> TeamCollectives::make(Way way) {
  switch (way) {
    case Way::posts:
      return std::make_unique<PostCollective>();
    case Way::leaders:
      return std::make_unique<LedCollective>(*leaders_);
    case Way::doubling:
      return std::make_unique<DoublingCollective>(*team_, messages_);
    case Way::messages:
      break;
  }
  return std::make_unique<MessageCollective>();
}

Collective& TeamCollectives::take(const Request& request, Way way) {
  Pool& pool = pool_of(way);
  if (pool.free.empty()) pool.free.push_back(pool.all.emplace_back(make(way)).get());
  Collective& operation = *pool.free.back();
  pool.free.pop_back();
  operation.request = request;
  operation.owner = this;
  operation.entered = false;
  if (request.reduction.is_of_client()) ++with_client_operator_;
  // Relaxed: no other thread has it.
  operation.done.store(false, std::memory_order_relaxed);
  return operation;
}

void TeamCollectives::give_back(Collective& operation) noexcept {
  team_->collectives_called.end();
  if (operation.request.reduction.is_of_client()) --with_client_operator_;
  pool_of(operation.way).free.push_back(&operation);
}

void TeamCollectives::launch(Collective& operation, Posts::AtOnce at_once) {
  switch (operation.way) {
    case Way::posts:
      posts_->launch(static_cast<PostCollective&>(operation), at_once);
      break;
    case Way::messages:
      launch_order_.launch(static_cast<MessageCollective&>(operation));
      break;
    case Way::leaders:
    case Way::doubling:
      launch_order_.launch(static_cast<ComposedCollective&>(operation));
      break;
  }
}

gex_Event_t TeamCollectives::start(const Request& request) noexcept {
  Collective* operation = nullptr;
  std::uint32_t sequence = 0;
  bool complete = false;
  bool active = false;
  {
    const OptionalGuard guard(lock_, threaded_);
    const Way way = way_of(request);
    // Others may be waiting for what this member posts: that comes first.
    const Posts::AtOnce at_once =
        way == Way::posts ? posts_->do_at_once(request) : Posts::AtOnce::nothing;
    sequence = team_->collectives_called.begin() + 1;
    trace::collective(trace::Collective::operation, team_->id(), sequence, team_->size);
    if (at_once == Posts::AtOnce::done) {
      team_->collectives_called.end();
      ring_if_shown();
      return GEX_EVENT_INVALID;
    }
    operation = &take(request, way);
    if (request.completes_together) number_completion(*operation);
    if (checked()) {
      unagreed_.emplace_back(agreement_.announce(announcement_of(request)), operation);
      advance_locked();
    } else {
      launch(*operation, at_once);
      arrive_at_completions();
    }
    complete = is_done_and_complete(*operation);
    if (complete) give_back(*operation);
    active = !idle_locked();
    ring_if_shown();
  }
  if (active) activate();
  if (complete) return GEX_EVENT_INVALID;
  static constexpr Probe probe{complete_if_done, needs_core};
  const Op op = Op::with_team(OpKind::collective, number_of(request.call), team_->id(), sequence,
                              request.bytes);
  return event_of(op, probe, operation, 0);
}

void TeamCollectives::announce(const Announcement& announcement) noexcept {
  bool active = false;
  {
    const OptionalGuard guard(lock_, threaded_);
    agreement_.announce(announcement);
    active = !idle_locked();
  }
  if (active) activate();
}

void TeamCollectives::number_completion(Collective& operation) {
  if (completions_ == nullptr)
    completions_ = std::make_unique<TeamBarrier>(*team_, barrier_of(*team_).slots(),
                                                 TeamBarrier::Kind::completions);
  operation.completion = ++completions_numbered_;
  completing_.push_back(&operation);
}

void TeamCollectives::arrive_at_completions() noexcept {
  while (!completing_.empty() && is_done(*completing_.front())) {
    completing_.pop_front();
    completions_->start();
  }
}

void TeamCollectives::ring_if_shown() noexcept {
  if (posts_ == nullptr || !posts_->take_shown()) return;
  ring_neighbors();
  // Operations of other threads may be done as well.
  ring_own_waiters();
}

bool TeamCollectives::has_completed_together(const Collective& operation) const noexcept {
  return !operation.request.completes_together || completions_->done(operation.completion);
}

bool TeamCollectives::complete_if_done(void* subject, std::uint32_t) noexcept {
  auto& operation = *static_cast<Collective*>(subject);
  TeamCollectives& owner = *operation.owner;
  // Acquire: what the operation wrote is seen after this.
  if (operation.done.load(std::memory_order_acquire)) {
    if (!owner.has_completed_together(operation)) return false;
  } else {
    // Posts are looked at here as well: seen at once, they cost no more than their line.
    const Posts* const posts = owner.posts_.get();
    if (posts == nullptr || !posts->may_advance()) return false;
  }
  return owner.conclude(operation);
}

bool TeamCollectives::needs_core(void* subject, std::uint32_t) noexcept {
  const auto& operation = *static_cast<const Collective*>(subject);
  const TeamCollectives& owner = *operation.owner;
  if (is_done(operation))
    return !operation.request.completes_together ||
           owner.completions_->needs_core(operation.completion);
  const auto& before = operation.request.after_barrier;
  TeamBarrier& barrier = barrier_of(*owner.team_);
  return !before || barrier.done(*before) || barrier.needs_core(*before);
}

bool TeamCollectives::conclude(Collective& operation) noexcept {
  // The thread that holds the lock may be finishing the operation: there is nothing to add to that.
  if (threaded_ && !lock_.try_lock()) return false;
  if (!is_done(operation)) {
    if (operation.way == Way::posts)
      posts_->advance_to(static_cast<PostCollective&>(operation));
    else
      advance_posts_and_launch_order();
    arrive_at_completions();
    ring_if_shown();
  }
  const bool complete = is_done_and_complete(operation);
  if (complete) give_back(operation);
  if (threaded_) lock_.unlock();
  return complete;
}

void TeamCollectives::answered(std::uint32_t number, gex_Rank_t source, Wanted value,
                               std::span<const std::byte> bytes) {
  const OptionalGuard guard(lock_, threaded_);
  known_.answers.note(number, source);
  if (bytes.empty()) return;
  if (value == Wanted::result) {
    known_.results.keep(number, bytes);
  } else {
    known_.gathered.keep(number, messages_.groups().group_of(source), bytes);
  }
}

void TeamCollectives::activate() noexcept {
  the_active.get().activate(*this);
}

bool TeamCollectives::advance() noexcept {
  // One thread at a time: the others' polls have nothing to add.
  if (threaded_ && !lock_.try_lock()) return false;
  const bool is_left_to_client = with_client_operator_ != 0 && in_progress_thread();
  const bool progressed = !is_left_to_client && advance_locked();
  if (threaded_) lock_.unlock();
  return progressed;
}

bool TeamCollectives::advance_locked() noexcept {
  bool progressed = false;
  if (checked()) {
    progressed |= agreement_.advance();
    for (; !unagreed_.empty() && agreement_.reached(unagreed_.front().first); progressed = true) {
      Collective& operation = *unagreed_.front().second;
      unagreed_.pop_front();
      launch(operation);
    }
  }
  progressed |= advance_posts_and_launch_order();
  progressed |= messages_.advance();
  // What messages have brought goes on to neighbors.
  if (progressed && !launch_order_.idle()) advance_posts_and_launch_order();
  arrive_at_completions();
  ring_if_shown();
  return progressed;
}

bool TeamCollectives::advance_posts_and_launch_order() noexcept {
  const bool progressed = posts_ != nullptr && posts_->advance();
  return launch_order_.advance() || progressed;
}

bool TeamCollectives::idle_locked() const noexcept {
  return messages_.idle() && launch_order_.idle() &&
         (posts_ == nullptr || !posts_->wants_polls()) && completing_.empty() &&
         (!checked() || (agreement_.idle() && unagreed_.empty()));
}

bool TeamCollectives::idle() noexcept {
  const OptionalGuard guard(lock_, threaded_);
  return idle_locked();
}

bool TeamCollectives::is_owed() noexcept {
  const OptionalGuard guard(lock_, threaded_);
  return messages_.is_owed();
}

std::size_t TeamCollectives::unsynchronised() noexcept {
  const OptionalGuard guard(lock_, threaded_);
  std::size_t taken = 0;
  for (const Pool& pool : pools_) taken += pool.all.size() - pool.free.size();
  return taken;
}

void TeamCollectives::settle() noexcept {
  wait_until(
      [this]() noexcept {
        return Op::with_team(OpKind::collective, 0, team_->id(),
                             team_->collectives_called.begun.load(std::memory_order_relaxed));
      },
      [this]() noexcept {
        advance();
        return idle() && !is_owed();
      },
      WaitCause::collective);
}

TeamCollectives& collectives_of(TeamId team, gex_Rank_t member) {
  Registry& registry = the_registry.get();
  const OptionalGuard guard(registry.lock, true);
  auto& entry = registry.entries[{team, member}];
  if (entry == nullptr) entry = std::make_unique<TeamCollectives>();
  return *entry;
}

void with_collectives(TeamId team, gex_Rank_t member,
                      const std::function<void(TeamCollectives& collectives)>& act) noexcept {
  Registry& registry = the_registry.get();
  const OptionalGuard guard(registry.lock, true);
  const auto found = registry.entries.find({team, member});
  if (found != registry.entries.end()) act(*found->second);
}

void end_collectives(Team& team) noexcept {
  TeamCollectives* const kept = TeamCollectives::find(team);
  if (kept == nullptr) return;
  kept->settle();
  the_active.get().deactivate(*kept);
  CollectivesSlot::set(team, nullptr);
  Registry& registry = the_registry.get();
  const OptionalGuard guard(registry.lock, true);
  registry.entries.erase({team.id(), team.rank});
}

void start_team_collectives() {
  register_poller([]() noexcept { return the_active.get().advance(); });
}

}  // namespace gex::coll
