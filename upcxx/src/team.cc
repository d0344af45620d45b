#include <upcxx/team.hpp>

#include <algorithm>
#include <unordered_map>
#include <upcxx/operation.hpp>

#include "process.h"

namespace upcxx {
namespace {

using detail::process;

gex_TM_t handle_of(const team& of, const char* call) {
  if (!of.is_active()) fatal_error("the team is not active", call);
  return static_cast<gex_TM_t>(of.handle());
}

/// Never destroyed: teams at namespace scope end after main.
std::unordered_map<std::uint64_t, team*>& teams() {
  static auto* const made = new std::unordered_map<std::uint64_t, team*>;
  return *made;
}

std::uint64_t mix(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
  return number ^ (number >> 31);
}

void wait_for_barrier(const team& of, const char* call) {
  gex_Event_t event = gex_Coll_BarrierNB(handle_of(of, call), 0);
  unsigned idle_steps = 0;
  while (event != GEX_EVENT_INVALID && gex_Event_Test(event) != GASNET_OK) {
    detail::wait_step(call, idle_steps);
  }
}

}  // namespace

team& team_id::here() const {
  const auto found = teams().find(number_);
  if (found == teams().end()) fatal_error("there is no such team here", "team_id::here");
  return *found->second;
}

team::team(void* handle, std::uint64_t id) : handle_(handle), id_(id) {
  rank_me_ = intrank_t(gex_TM_QueryRank(static_cast<gex_TM_t>(handle)));
  rank_n_ = intrank_t(gex_TM_QuerySize(static_cast<gex_TM_t>(handle)));
  teams()[id_] = this;
}

void team::take(team& other) {
  handle_ = std::exchange(other.handle_, nullptr);
  rank_me_ = other.rank_me_;
  rank_n_ = other.rank_n_;
  id_ = other.id_;
  splits_ = other.splits_;
  objects_ = other.objects_;
  if (handle_ != nullptr) teams()[id_] = this;
}

team::team(team&& other) noexcept {
  take(other);
}

team& team::operator=(team&& other) noexcept {
  if (this == &other) return *this;
  if (is_active() && initialized()) {
    fatal_error("the team that is assigned to is active; destroy() ends it", "team::operator=");
  }
  end();
  take(other);
  return *this;
}

team::~team() {
  if (is_active() && initialized() && this != &world() && this != &local_team()) {
    fatal_error("destroy() was not called for the team", "team::~team");
  }
  end();
}

void team::end() {
  const auto found = teams().find(id_);
  if (found != teams().end() && found->second == this) teams().erase(found);
  handle_ = nullptr;
}

intrank_t team::operator[](intrank_t member) const {
  return intrank_t(
      gex_TM_TranslateRankToJobrank(handle_of(*this, "team::operator[]"), gex_Rank_t(member)));
}

intrank_t team::from_world(intrank_t rank, intrank_t otherwise) const {
  const gex_Rank_t member =
      gex_TM_TranslateJobrankToRank(handle_of(*this, "team::from_world"), gex_Rank_t(rank));
  return member == GEX_RANK_INVALID ? otherwise : intrank_t(member);
}

intrank_t team::from_world(intrank_t rank) const {
  const intrank_t member = from_world(rank, -1);
  if (member < 0) fatal_error("the rank is no member of the team", "team::from_world");
  return member;
}

team team::split(intrank_t color, intrank_t key) const {
  detail::require_unrestricted("team::split");
  const std::uint64_t id = mix(mix(id_ + ++splits_) + std::uint64_t(color));
  gex_TM_t made = nullptr;
  const bool is_member = color != color_none;
  gex_TM_Split(is_member ? &made : nullptr, handle_of(*this, "team::split"),
               is_member ? color & INT32_MAX : 0, key, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  return is_member ? team(made, id) : team();
}

std::uint64_t team::next_object_id() const {
  handle_of(*this, "dist_object");
  return mix(mix(id_) + ++objects_);
}

void team::destroy(entry_barrier how) {
  const gex_TM_t handle = handle_of(*this, "team::destroy");
  if (how == entry_barrier::user) {
    wait_for_barrier(*this, "team::destroy");
  } else if (how == entry_barrier::internal) {
    gex_Event_Wait(gex_Coll_BarrierNB(handle, 0));
  }
  gex_TM_Destroy(handle, nullptr, 0);
  end();
}

team& world() {
  static team* const made = new team(process().world, 1);
  return *made;
}

team& local_team() {
  static team* made = nullptr;
  if (made == nullptr) {
    // A team of its own for each neighborhood, named by the lowest rank.
    intrank_t first = detail::job.rank_me;
    for (const detail::Neighbor& neighbor : process().neighbors) {
      first = std::min(first, neighbor.rank);
    }
    gex_TM_t handle = nullptr;
    gex_TM_Split(&handle, process().world, first, detail::job.rank_me, nullptr, 0,
                 GEX_FLAG_TM_NO_SCRATCH);
    made = new team(handle, mix(std::uint64_t(first) + 2));
  }
  return *made;
}

void barrier(const team& of) {
  detail::require_unrestricted("upcxx::barrier");
  wait_for_barrier(of, "upcxx::barrier");
}

void barrier() {
  barrier(world());
}

future<> barrier_async(const team& of) {
  class Barrier final : public detail::Operation {
   public:
    void completed() override { detail::PersonaAccess::own(current_persona()).push(this); }
    void run() override {
      done.fulfill_anonymous(1);
      delete this;
    }
    promise<> done;
  };
  auto* const operation = new Barrier;
  operation->event = gex_Coll_BarrierNB(handle_of(of, "upcxx::barrier_async"), 0);
  future<> result = operation->done.get_future();
  detail::watch(operation);
  return result;
}

future<> barrier_async() {
  return barrier_async(world());
}

}  // namespace upcxx
