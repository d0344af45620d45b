/// @file
/// Puts and gets of memory that is not contiguous: irregular (ranges of any length), regular (of
/// one length) and strided. Part of upcxx/upcxx.hpp.
///
/// All remote addresses of a call are of one rank. The bytes of the source go, in its order, to
/// those of the destination.
#ifndef UPCXX_VIS_HPP_
#define UPCXX_VIS_HPP_

#include <array>
#include <vector>

#include <upcxx/rma.hpp>

namespace upcxx {
namespace detail {

/// Some contiguous memory, in the form of libgex.
struct Range {
  void* address;
  std::size_t bytes;
};

/// Memory of this rank, and of the other one: lists that are needed until the operation is over.
struct Ranges {
  std::vector<Range> here;
  std::vector<Range> there;
};
struct Shape {
  void* here;
  std::uintptr_t there;
  const std::ptrdiff_t* strides_here;
  const std::ptrdiff_t* strides_there;
  const std::size_t* extents;
  std::size_t dimensions;
  std::size_t element_bytes;
};

enum class Direction { put, get };

/// Null as `operation`: the ranks share memory, and the transfer is over when the call returns.
UPCXXI_EXPORT void start_ranges(Operation* operation, Direction direction, intrank_t rank,
                                const Ranges& ranges, bool source_is_free);
UPCXXI_EXPORT void start_strided(Operation* operation, Direction direction, intrank_t rank,
                                 const Shape& shape, bool source_is_free);

inline bool shares_memory(intrank_t rank) {
  return job.displacements[rank] != no_displacement;
}

template <class Iterator>
using Element = std::decay_t<decltype(*std::declval<Iterator&>())>;
/// The type to which a pointer, a global pointer, or the first part of a pair or tuple points.
template <class Pointer>
struct Pointee {
  using type = typename Pointer::element_type;
};
template <class T>
struct Pointee<T*> {
  using type = T;
};
template <class Iterator>
using PointeeOf = typename Pointee<std::decay_t<Element<Iterator>>>::type;
template <class Iterator>
using FirstPointeeOf =
    typename Pointee<std::decay_t<std::tuple_element_t<0, Element<Iterator>>>>::type;

template <class T>
void* here(T* pointer) {
  return const_cast<std::remove_const_t<T>*>(pointer);
}

class RemoteRanges {
 public:
  explicit RemoteRanges(std::vector<Range>& ranges) : ranges_(ranges) {}
  template <class T>
  void add(const global_ptr<T>& pointer, std::size_t count) {
    const PointerParts parts = PointerAccess::parts(pointer);
    UPCXXI_CHECK(parts.address != 0, "a put or get of several ranges: an address is null");
    UPCXXI_CHECK(rank_ < 0 || parts.rank == rank_,
                 "a put or get of several ranges: the remote addresses are of different ranks");
    rank_ = parts.rank;
    ranges_.push_back({reinterpret_cast<void*>(parts.address), count * sizeof(T)});
  }
  /// The caller's if there are no addresses.
  intrank_t rank() const { return rank_ < 0 ? rank_me() : rank_; }

 private:
  std::vector<Range>& ranges_;
  intrank_t rank_ = -1;
};

inline std::size_t total_bytes(const std::vector<Range>& ranges) {
  std::size_t total = 0;
  for (const Range& range : ranges) total += range.bytes;
  return total;
}

template <class... Action>
auto move_ranges(Direction direction, intrank_t rank, Ranges ranges,
                 const completions<Action...>& how) {
  require_events<Action...>();
  UPCXXI_CHECK(total_bytes(ranges.here) == total_bytes(ranges.there),
               "a put or get of several ranges: source and destination have different sizes");
  if (shares_memory(rank)) {
    start_ranges(nullptr, direction, rank, ranges, true);
    return completed_now(rank, how);
  }
  auto* const operation =
      new Transfer<std::tuple<Action...>, void, Ranges>(how.actions, rank, std::move(ranges));
  return start(operation, [&] {
    start_ranges(operation, direction, rank, operation->kept, (is_blocking<Action> || ...));
  });
}

template <class... Action>
auto move_shape(Direction direction, intrank_t rank, const Shape& shape,
                const completions<Action...>& how) {
  require_events<Action...>();
  if (shares_memory(rank)) {
    start_strided(nullptr, direction, rank, shape, true);
    return completed_now(rank, how);
  }
  auto* const operation = new Transfer<std::tuple<Action...>, void>(how.actions, rank);
  return start(operation, [&] {
    start_strided(operation, direction, rank, shape, (is_blocking<Action> || ...));
  });
}

template <class T, class Local, class Remote, class Cx>
auto move_irregular(Direction direction, Local local, Local local_end, Remote remote,
                    Remote remote_end, const Cx& how) {
  require_bytes<T>();
  Ranges ranges;
  RemoteRanges there(ranges.there);
  for (; local != local_end; ++local) {
    ranges.here.push_back(
        {here(std::get<0>(*local)), std::size_t(std::get<1>(*local)) * sizeof(T)});
  }
  for (; remote != remote_end; ++remote) {
    there.add(std::get<0>(*remote), std::size_t(std::get<1>(*remote)));
  }
  return move_ranges(direction, there.rank(), std::move(ranges), how);
}

template <class T, class Local, class Remote, class Cx>
auto move_regular(Direction direction, Local local, Local local_end, std::size_t local_count,
                  Remote remote, Remote remote_end, std::size_t remote_count, const Cx& how) {
  require_bytes<T>();
  Ranges ranges;
  RemoteRanges there(ranges.there);
  for (; local != local_end; ++local) {
    ranges.here.push_back({here(*local), local_count * sizeof(T)});
  }
  for (; remote != remote_end; ++remote) there.add(*remote, remote_count);
  return move_ranges(direction, there.rank(), std::move(ranges), how);
}

}  // namespace detail

/// Moves ranges, each a pair or tuple of an address and a number of elements.
template <class SourceIterator, class DestinationIterator, class Cx = detail::DefaultCompletions>
auto rput_irregular(SourceIterator source, SourceIterator source_end,
                    DestinationIterator destination, DestinationIterator destination_end,
                    const Cx& how = {}) {
  return detail::move_irregular<detail::FirstPointeeOf<DestinationIterator>>(
      detail::Direction::put, source, source_end, destination, destination_end, how);
}
template <class SourceIterator, class DestinationIterator, class Cx = detail::DefaultCompletions>
auto rget_irregular(SourceIterator source, SourceIterator source_end,
                    DestinationIterator destination, DestinationIterator destination_end,
                    const Cx& how = {}) {
  return detail::move_irregular<detail::FirstPointeeOf<DestinationIterator>>(
      detail::Direction::get, destination, destination_end, source, source_end, how);
}

/// Moves ranges of one size, each an address; the counts are in elements.
template <class SourceIterator, class DestinationIterator, class Cx = detail::DefaultCompletions>
auto rput_regular(SourceIterator source, SourceIterator source_end, std::size_t source_count,
                  DestinationIterator destination, DestinationIterator destination_end,
                  std::size_t destination_count, const Cx& how = {}) {
  return detail::move_regular<detail::PointeeOf<DestinationIterator>>(
      detail::Direction::put, source, source_end, source_count, destination, destination_end,
      destination_count, how);
}
template <class SourceIterator, class DestinationIterator, class Cx = detail::DefaultCompletions>
auto rget_regular(SourceIterator source, SourceIterator source_end, std::size_t source_count,
                  DestinationIterator destination, DestinationIterator destination_end,
                  std::size_t destination_count, const Cx& how = {}) {
  return detail::move_regular<detail::PointeeOf<DestinationIterator>>(
      detail::Direction::get, destination, destination_end, destination_count, source, source_end,
      source_count, how);
}

/// Moves a part of an array of `Dim` dimensions. Strides are in bytes, extents in elements.
template <std::size_t Dim, class T, class Cx = detail::DefaultCompletions>
auto rput_strided(const T* source, const std::ptrdiff_t* source_strides, global_ptr<T> destination,
                  const std::ptrdiff_t* destination_strides, const std::size_t* extents,
                  const Cx& how = {}) {
  detail::require_bytes<T>();
  const detail::PointerParts there = detail::PointerAccess::parts(destination);
  UPCXXI_CHECK(source != nullptr && there.address != 0, "upcxx::rput_strided: an address is null");
  return detail::move_shape(detail::Direction::put, there.rank,
                            {detail::here(source), there.address, source_strides,
                             destination_strides, extents, Dim, sizeof(T)},
                            how);
}
template <std::size_t Dim, class T, class Cx = detail::DefaultCompletions>
auto rput_strided(const T* source, const std::array<std::ptrdiff_t, Dim>& source_strides,
                  global_ptr<T> destination,
                  const std::array<std::ptrdiff_t, Dim>& destination_strides,
                  const std::array<std::size_t, Dim>& extents, const Cx& how = {}) {
  return rput_strided<Dim>(source, source_strides.data(), destination, destination_strides.data(),
                           extents.data(), how);
}
template <std::size_t Dim, class T, class Cx = detail::DefaultCompletions>
auto rget_strided(global_ptr<const T> source, const std::ptrdiff_t* source_strides, T* destination,
                  const std::ptrdiff_t* destination_strides, const std::size_t* extents,
                  const Cx& how = {}) {
  detail::require_bytes<T>();
  const detail::PointerParts there = detail::PointerAccess::parts(source);
  UPCXXI_CHECK(destination != nullptr && there.address != 0,
               "upcxx::rget_strided: an address is null");
  return detail::move_shape(
      detail::Direction::get, there.rank,
      {destination, there.address, destination_strides, source_strides, extents, Dim, sizeof(T)},
      how);
}
template <std::size_t Dim, class T, class Cx = detail::DefaultCompletions>
auto rget_strided(global_ptr<const T> source, const std::array<std::ptrdiff_t, Dim>& source_strides,
                  T* destination, const std::array<std::ptrdiff_t, Dim>& destination_strides,
                  const std::array<std::size_t, Dim>& extents, const Cx& how = {}) {
  return rget_strided<Dim>(source, source_strides.data(), destination, destination_strides.data(),
                           extents.data(), how);
}

}  // namespace upcxx

#endif
