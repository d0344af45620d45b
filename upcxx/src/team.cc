#include <upcxx/team.hpp>

#include <algorithm>
#include <upcxx/operation.hpp>

#include "process.h"
#include "waiting.h"

namespace upcxx {
namespace {

using detail::process;

gex_TM_t handle_of(const team& of, const char* call) {
  if (!of.is_active()) fatal_error("the team is not active", call);
  return static_cast<gex_TM_t>(of.handle());
}

std::uint64_t mix(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
  return number ^ (number >> 31);
}

void wait_for_barrier(const team& of, const char* call) {
  gex_Event_t event = gex_Coll_BarrierNB(handle_of(of, call), 0);
  if (event == GEX_EVENT_INVALID) return;
  detail::wait_for([&] { return gex_Event_Test(event) == GASNET_OK; }, call, nullptr, 0, event);
}

}  // namespace

namespace detail {
void enter(const team& of, entry_barrier how, const char* call) {
  require_unrestricted(call);
  if (how == entry_barrier::user) {
    wait_for_barrier(of, call);
  } else if (how == entry_barrier::internal) {
    gex_Event_Wait(gex_Coll_BarrierNB(handle_of(of, call), 0));
  }
}
}  // namespace detail

team& team_id::here() const {
  void* const found = detail::find_object(number_);
  if (found == nullptr) fatal_error("there is no such team here", "team_id::here");
  return *static_cast<team*>(found);
}

team::team(void* handle, std::uint64_t id) : handle_(handle), id_(id) {
  rank_me_ = intrank_t(gex_TM_QueryRank(static_cast<gex_TM_t>(handle)));
  rank_n_ = intrank_t(gex_TM_QuerySize(static_cast<gex_TM_t>(handle)));
  detail::set_object(id_, this);
}

void team::take(team& other) {
  handle_ = std::exchange(other.handle_, nullptr);
  rank_me_ = other.rank_me_;
  rank_n_ = other.rank_n_;
  id_ = other.id_;
  splits_ = other.splits_;
  objects_ = other.objects_;
  if (handle_ != nullptr) detail::set_object(id_, this);
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
  if (is_active()) detail::remove_object(id_, this);
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
  detail::enter(*this, entry_barrier::user, "team::split");
  const std::uint64_t id = mix(mix(id_ + ++splits_) + std::uint64_t(color));
  gex_TM_t made = nullptr;
  const bool is_member = color != color_none;
  gex_TM_Split(is_member ? &made : nullptr, handle_of(*this, "team::split"),
               is_member ? color & INT32_MAX : 0, key, nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  return is_member ? team(made, id) : team();
}

team team::create_of(const std::vector<intrank_t>& ranks) const {
  detail::enter(*this, entry_barrier::user, "team::create");
  ++splits_;
  std::vector<gex_EP_Location_t> members;
  std::uint64_t id = mix(id_ + splits_);
  bool is_member = false;
  for (const intrank_t rank : ranks) {
    if (rank < 0 || rank >= rank_n_) fatal_error("a rank is not of this team", "team::create");
    is_member |= rank == rank_me_;
    members.push_back({gex_Rank_t(rank), 0});
    id = mix(id + std::uint64_t(rank));
  }
  if (!ranks.empty() && !is_member) {
    fatal_error("a rank gives a list that it is not in; ranks of no team give an empty one",
                "team::create");
  }
  gex_TM_t made = nullptr;
  gex_TM_Create(&made, is_member ? 1 : 0, static_cast<gex_TM_t>(handle_), members.data(),
                members.size(), nullptr, 0, GEX_FLAG_TM_NO_SCRATCH);
  return is_member ? team(made, id) : team();
}

std::uint64_t team::next_object_id() const {
  handle_of(*this, "dist_object");
  return mix(mix(id_) + ++objects_);
}

void team::destroy(entry_barrier how) {
  const gex_TM_t handle = handle_of(*this, "team::destroy");
  detail::enter(*this, how, "team::destroy");
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

std::pair<intrank_t, intrank_t> local_team_position() {
  gex_Rank_t count = 0;
  gex_Rank_t index = 0;
  gex_System_QueryMyPosition(&count, &index, nullptr, nullptr);
  return {intrank_t(index), intrank_t(count)};
}

void barrier(const team& of) {
  detail::require_unrestricted("upcxx::barrier");
  wait_for_barrier(of, "upcxx::barrier");
}

void barrier() {
  barrier(world());
}

}  // namespace upcxx
