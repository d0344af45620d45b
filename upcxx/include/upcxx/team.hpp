/// @file
/// Teams: ordered sets of ranks. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_TEAM_HPP_
#define UPCXX_TEAM_HPP_

#include <functional>
#include <vector>

#include <upcxx/job.hpp>
#include <upcxx/registry.hpp>

namespace upcxx {

/// The barrier with which a call begins that ends a team, by the progress that it makes.
enum class entry_barrier { none, internal, user };

class team;

/// The name of a team, the same on all its members.
class team_id {
 public:
  team_id() = default;
  /// The team, which must exist here.
  UPCXXI_EXPORT team& here() const;
  future<team&> when_here() const { return detail::when_named<team>(number_); }
  /// For the headers.
  future<> when_exists() const { return detail::when_object(number_); }

  friend bool operator==(team_id a, team_id b) { return a.number_ == b.number_; }
  friend bool operator!=(team_id a, team_id b) { return a.number_ != b.number_; }
  friend bool operator<(team_id a, team_id b) { return a.number_ < b.number_; }

 private:
  friend class team;
  friend struct std::hash<team_id>;
  explicit team_id(std::uint64_t number) : number_(number) {}
  std::uint64_t number_ = 0;
};

class UPCXXI_EXPORT team {
 public:
  /// A color for ranks that are to be in no team of a split.
  static constexpr intrank_t color_none = INT32_MIN;

  /// No team.
  team() = default;
  team(const team&) = delete;
  team& operator=(const team&) = delete;
  team(team&& other) noexcept;
  team& operator=(team&& other) noexcept;
  ~team();

  bool is_active() const { return handle_ != nullptr; }
  intrank_t rank_n() const { return rank_n_; }
  intrank_t rank_me() const { return rank_me_; }
  /// The rank of the job that a member is, and the member that a rank of the job is.
  intrank_t operator[](intrank_t member) const;
  intrank_t from_world(intrank_t rank) const;
  intrank_t from_world(intrank_t rank, intrank_t otherwise) const;
  team_id id() const { return team_id(id_); }

  /// One team for each color, its members ordered by key. Collective, with user progress.
  team split(intrank_t color, intrank_t key) const;
  /// The team of the ranks of this team that are listed, in their order. Its members give the same
  /// list, the others none, who get no team. Collective over this team, with user progress.
  template <class Container>
  team create(const Container& ranks) const {
    return create(std::begin(ranks), std::end(ranks));
  }
  template <class Iterator>
  team create(Iterator first, std::size_t count) const {
    std::vector<intrank_t> ranks;
    ranks.reserve(count);
    for (; count > 0; --count, ++first) ranks.push_back(intrank_t(*first));
    return create_of(ranks);
  }
  template <class Iterator, class = typename std::iterator_traits<Iterator>::iterator_category>
  team create(Iterator first, Iterator last) const {
    return create_of(std::vector<intrank_t>(first, last));
  }
  /// Ends the team. Collective over it.
  void destroy(entry_barrier barrier = entry_barrier::user);

  /// For the headers: libgex's handle.
  void* handle() const { return handle_; }
  /// For the headers: the name of the next object, or collective call, over the team.
  std::uint64_t next_object_id() const;

 private:
  friend struct TeamAccess;
  friend team& world();
  friend team& local_team();
  team(void* handle, std::uint64_t id);
  team create_of(const std::vector<intrank_t>& ranks) const;
  void take(team& other);
  void end();

  void* handle_ = nullptr;
  intrank_t rank_me_ = 0;
  intrank_t rank_n_ = 0;
  std::uint64_t id_ = 0;
  mutable std::uint32_t splits_ = 0;
  mutable std::uint32_t objects_ = 0;
};

/// All ranks, and those that share memory with the caller.
UPCXXI_EXPORT team& world();
UPCXXI_EXPORT team& local_team();
inline bool local_team_contains(intrank_t rank) {
  return detail::job.displacements[rank] != detail::no_displacement;
}
/// Which of the local teams of the job the caller's is, and how many there are.
UPCXXI_EXPORT std::pair<intrank_t, intrank_t> local_team_position();

/// Like barrier() without an argument, for the members of a team.
UPCXXI_EXPORT void barrier(const team& of);

}  // namespace upcxx

template <>
struct std::hash<upcxx::team_id> {
  std::size_t operator()(upcxx::team_id id) const noexcept { return id.number_; }
};

#endif
