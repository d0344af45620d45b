/// @file
/// Distributed objects: one value on each member of a team, under one name. Part of
/// upcxx/upcxx.hpp.
#ifndef UPCXX_DIST_OBJECT_HPP_
#define UPCXX_DIST_OBJECT_HPP_

#include <functional>
#include <initializer_list>
#include <optional>

#include <upcxx/registry.hpp>
#include <upcxx/rpc.hpp>

namespace upcxx {

template <class T>
class dist_object;

namespace detail {
/// Never made: in no list but an empty one.
class Nothing {
  enum class Never {};
  explicit Nothing(Never);
};
}  // namespace detail

/// For constructors of objects that activate() names later.
struct inactive_t {};
inline constexpr inactive_t inactive{};

/// The name of a distributed object, the same on all members of its team.
template <class T>
class dist_id {
 public:
  dist_id() = default;

  /// The object of this rank, which must exist.
  dist_object<T>& here() const {
    void* const object = detail::find_object(number_);
    if (object == nullptr) fatal_error("there is no such object here", "dist_id::here");
    return *static_cast<dist_object<T>*>(object);
  }
  future<dist_object<T>&> when_here() const { return detail::when_named<dist_object<T>>(number_); }

  friend bool operator==(dist_id a, dist_id b) { return a.number_ == b.number_; }
  friend bool operator!=(dist_id a, dist_id b) { return a.number_ != b.number_; }
  friend bool operator<(dist_id a, dist_id b) { return a.number_ < b.number_; }

 private:
  friend class dist_object<T>;
  friend struct std::hash<dist_id<T>>;
  friend struct detail::Traveller<dist_object<T>>;
  explicit dist_id(std::uint64_t number) : number_(number) {}
  std::uint64_t number_ = 0;
};

template <class T>
class dist_object {
 public:
  /// No value and no name.
  dist_object() = default;
  /// Collective over the team.
  dist_object(T value, const upcxx::team& of = world()) : value_(std::move(value)) { activate(of); }
  /// The like with a default value: `dist_object<T> object({})`, which would be ambiguous
  /// otherwise.
  dist_object(std::initializer_list<detail::Nothing>, const upcxx::team& of = world())
      : dist_object(T(), of) {}
  template <class... Arguments>
  explicit dist_object(const upcxx::team& of, Arguments&&... arguments)
      : value_(std::in_place, std::forward<Arguments>(arguments)...) {
    activate(of);
  }
  template <class... Arguments>
  explicit dist_object(inactive_t, Arguments&&... arguments)
      : value_(std::in_place, std::forward<Arguments>(arguments)...) {}
  dist_object(dist_object&& other) noexcept { take(other); }
  dist_object& operator=(dist_object&& other) noexcept {
    if (this == &other) return *this;
    end();
    take(other);
    return *this;
  }
  dist_object(const dist_object&) = delete;
  dist_object& operator=(const dist_object&) = delete;
  ~dist_object() { end(); }

  bool is_active() const { return team_ != nullptr; }
  bool has_value() const { return value_.has_value(); }
  template <class... Arguments>
  T& emplace(Arguments&&... arguments) {
    return value_.emplace(std::forward<Arguments>(arguments)...);
  }
  /// Gives it a name. Collective over the team.
  void activate(const upcxx::team& of = world()) {
    UPCXXI_CHECK(!is_active(), "dist_object::activate: the object is active");
    team_ = &of;
    id_ = of.next_object_id();
    detail::set_object(id_, this);
  }

  T& operator*() const {
    UPCXXI_CHECK(has_value(), "dist_object: the object has no value; emplace() gives it one");
    return *value_;
  }
  T* operator->() const { return &**this; }
  const upcxx::team& team() const { return *team_; }
  dist_id<T> id() const {
    UPCXXI_CHECK(is_active(), "dist_object::id: the object is not active");
    return dist_id<T>(id_);
  }
  /// The value of another member.
  auto fetch(intrank_t member) const {
    return rpc(
        *team_, member, [](const dist_object& there) -> const T& { return *there; }, *this);
  }

 private:
  void take(dist_object& other) {
    value_ = std::move(other.value_);
    team_ = std::exchange(other.team_, nullptr);
    id_ = other.id_;
    if (is_active()) detail::set_object(id_, this);
  }
  void end() {
    if (is_active()) detail::remove_object(id_, this);
    team_ = nullptr;
  }

  mutable std::optional<T> value_;
  const upcxx::team* team_ = nullptr;
  std::uint64_t id_ = 0;
};

namespace detail {

/// It travels by its name, and a call with it is run when it exists.
template <class T>
struct Traveller<dist_object<T>> {
  using type = dist_id<T>;
  static constexpr bool may_be_awaited = true;
  static future<> when_here(dist_id<T> id) { return when_object(id.number_); }
  static dist_id<T> departs(const dist_object<T>& object) { return object.id(); }
  static dist_object<T>& arrives(dist_id<T> id) { return id.here(); }
};

}  // namespace detail
}  // namespace upcxx

template <class T>
struct std::hash<upcxx::dist_id<T>> {
  std::size_t operator()(upcxx::dist_id<T> id) const noexcept { return id.number_; }
};

#endif
