/// @file
/// Serialization of types of the standard library. Part of upcxx/upcxx.hpp.
///
/// Elements arrive as their deserialized types, each moved once into its container. Comparators,
/// hashes and allocators are sent, too: those without members take no bytes.
#ifndef UPCXX_CONTAINERS_HPP_
#define UPCXX_CONTAINERS_HPP_

#include <array>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <upcxx/serialization.hpp>

namespace upcxx {

template <class T, std::size_t N>
struct is_trivially_serializable<std::array<T, N>> : is_trivially_serializable<T> {};

/// Nothing is sent.
template <class T>
struct is_trivially_serializable<std::allocator<T>> : std::true_type {};

namespace detail {

/// The allocator of a container of these elements instead.
template <class Allocator, class T>
using AllocatorOf = typename std::allocator_traits<Allocator>::template rebind_alloc<T>;

// An allocator of std::pmr refers to memory of its process: values arrive in that of the default
// resource.
template <class Allocator, class = void>
inline constexpr bool has_resource = false;
template <class Allocator>
inline constexpr bool
    has_resource<Allocator, std::void_t<decltype(std::declval<Allocator>().resource())>> = true;
template <class Allocator>
using AllocatorPart = std::conditional_t<has_resource<Allocator>, char, Allocator>;
template <class Allocator>
void write_allocator(Writer& writer, const Allocator& allocator) {
  if constexpr (!has_resource<Allocator>) writer.write(allocator);
}
/// An allocator of type `Other`, for deserialized elements.
template <class Allocator, class Other>
Other read_allocator(Reader& reader) {
  if constexpr (has_resource<Allocator>) {
    return Other();
  } else {
    return Other(reader.read<Allocator>());
  }
}

// The order, hash and equality of the standard library for T are those for what T arrives as;
// others are called with that.
template <class Function, class T>
struct ForArrived {
  using type = Function;
};
#define UPCXXI_FOR_ARRIVED(name)                    \
  template <class T>                                \
  struct ForArrived<std::name<T>, T> {              \
    using type = std::name<deserialized_type_t<T>>; \
  };
UPCXXI_FOR_ARRIVED(less)
UPCXXI_FOR_ARRIVED(greater)
UPCXXI_FOR_ARRIVED(hash)
UPCXXI_FOR_ARRIVED(equal_to)
#undef UPCXXI_FOR_ARRIVED
template <class Sent, class Arrived>
decltype(auto) as_arrived(const Sent& function) {
  if constexpr (std::is_same<Sent, Arrived>::value) {
    return function;
  } else {
    return Arrived();
  }
}

template <class Container>
void write_elements(Writer& writer, const Container& container) {
  using T = typename Container::value_type;
  writer.write(std::size_t(std::distance(container.begin(), container.end())));
  for (const T& element : container) writer.write(element);
}
/// `insert` takes each element, which is moved.
template <class T, class Insert>
void read_elements(Reader& reader, std::size_t count, Insert&& insert) {
  for (; count > 0; --count) insert(std::move(ReadValue<T>(reader).get()));
}

template <class Container, class Result, class T>
struct SequenceSerializer {
  using type = Result;
  using Allocator = typename Container::allocator_type;
  using Parts = std::tuple<T, AllocatorPart<Allocator>>;
  static void serialize(Writer& writer, const Container& container) {
    write_allocator(writer, container.get_allocator());
    write_elements(writer, container);
  }
  static Result* deserialize(Reader& reader, void* room) {
    auto* const result =
        ::new (room) Result(read_allocator<Allocator, typename Result::allocator_type>(reader));
    read_elements<T>(reader, reader.read<std::size_t>(), [&](auto&& element) {
      result->push_back(std::forward<decltype(element)>(element));
    });
    return result;
  }
};
/// In an order.
template <class Container, class Result, class T>
struct SetSerializer {
  using type = Result;
  using Compare = typename Container::key_compare;
  using Allocator = typename Container::allocator_type;
  using Parts = std::tuple<T, Compare, AllocatorPart<Allocator>>;
  static void serialize(Writer& writer, const Container& container) {
    writer.write(container.key_comp());
    write_allocator(writer, container.get_allocator());
    write_elements(writer, container);
  }
  static Result* deserialize(Reader& reader, void* room) {
    ReadValue<Compare> compare(reader);
    auto* const result =
        ::new (room) Result(as_arrived<Compare, typename Result::key_compare>(compare.get()),
                            read_allocator<Allocator, typename Result::allocator_type>(reader));
    read_elements<T>(reader, reader.read<std::size_t>(), [&](auto&& element) {
      result->insert(result->end(), std::forward<decltype(element)>(element));
    });
    return result;
  }
};
template <class Container, class Result, class T>
struct HashSerializer {
  using type = Result;
  using Hash = typename Container::hasher;
  using Equal = typename Container::key_equal;
  using Allocator = typename Container::allocator_type;
  using Parts = std::tuple<T, Hash, Equal, AllocatorPart<Allocator>>;
  static void serialize(Writer& writer, const Container& container) {
    writer.write(container.hash_function());
    writer.write(container.key_eq());
    write_allocator(writer, container.get_allocator());
    write_elements(writer, container);
  }
  static Result* deserialize(Reader& reader, void* room) {
    ReadValue<Hash> hash(reader);
    ReadValue<Equal> equal(reader);
    const auto allocator = read_allocator<Allocator, typename Result::allocator_type>(reader);
    const auto count = reader.read<std::size_t>();
    auto* const result =
        ::new (room) Result(count, as_arrived<Hash, typename Result::hasher>(hash.get()),
                            as_arrived<Equal, typename Result::key_equal>(equal.get()), allocator);
    read_elements<T>(reader, count, [&](auto&& element) {
      result->insert(std::forward<decltype(element)>(element));
    });
    return result;
  }
};

template <class T, class Allocator>
struct Serializer<std::vector<T, Allocator>> {
  using type = std::vector<deserialized_type_t<T>, AllocatorOf<Allocator, deserialized_type_t<T>>>;
  using Parts = std::tuple<T, AllocatorPart<Allocator>>;
  // The elements of vector<bool> are no objects.
  static constexpr bool has_bytes = is_trivial<T> && !std::is_same<T, bool>::value;
  static void serialize(Writer& writer, const std::vector<T, Allocator>& vector) {
    write_allocator(writer, vector.get_allocator());
    if constexpr (has_bytes) {
      writer.write(vector.size());
      writer.write_sequence(vector.data(), vector.data() + vector.size());
    } else {
      write_elements(writer, vector);
    }
  }
  static type* deserialize(Reader& reader, void* room) {
    const auto allocator = read_allocator<Allocator, typename type::allocator_type>(reader);
    const auto count = reader.read<std::size_t>();
    if constexpr (has_bytes && std::is_trivially_copy_constructible<T>::value) {
      const T* const first = static_cast<const T*>(reader.take(count * sizeof(T), alignof(T)));
      return ::new (room) type(first, first + count, allocator);
    } else {
      auto* const result = ::new (room) type(allocator);
      result->reserve(count);
      read_elements<T>(reader, count, [&](auto&& element) {
        result->push_back(std::forward<decltype(element)>(element));
      });
      return result;
    }
  }
};

template <class C, class Traits, class Allocator>
struct Serializer<std::basic_string<C, Traits, Allocator>> {
  using type = std::basic_string<C, Traits, Allocator>;
  using Parts = std::tuple<AllocatorPart<Allocator>>;
  static void serialize(Writer& writer, const type& string) {
    write_allocator(writer, string.get_allocator());
    writer.write(string.size());
    writer.write_sequence(string.data(), string.data() + string.size());
  }
  static type* deserialize(Reader& reader, void* room) {
    const auto allocator = read_allocator<Allocator, Allocator>(reader);
    const auto count = reader.read<std::size_t>();
    const C* const first = static_cast<const C*>(reader.take(count * sizeof(C), alignof(C)));
    return ::new (room) type(first, count, allocator);
  }
};

template <template <class, class> class Sequence, class T, class Allocator>
using SequenceOf = Sequence<deserialized_type_t<T>, AllocatorOf<Allocator, deserialized_type_t<T>>>;
template <class T, class Allocator>
struct Serializer<std::deque<T, Allocator>>
    : SequenceSerializer<std::deque<T, Allocator>, SequenceOf<std::deque, T, Allocator>, T> {};
template <class T, class Allocator>
struct Serializer<std::list<T, Allocator>>
    : SequenceSerializer<std::list<T, Allocator>, SequenceOf<std::list, T, Allocator>, T> {};
template <class T, class Allocator>
struct Serializer<std::forward_list<T, Allocator>> {
  using type = SequenceOf<std::forward_list, T, Allocator>;
  using Parts = std::tuple<T, AllocatorPart<Allocator>>;
  static void serialize(Writer& writer, const std::forward_list<T, Allocator>& list) {
    write_allocator(writer, list.get_allocator());
    write_elements(writer, list);
  }
  static type* deserialize(Reader& reader, void* room) {
    auto* const result =
        ::new (room) type(read_allocator<Allocator, typename type::allocator_type>(reader));
    auto last = result->before_begin();
    read_elements<T>(reader, reader.read<std::size_t>(), [&](auto&& element) {
      last = result->insert_after(last, std::forward<decltype(element)>(element));
    });
    return result;
  }
};

template <template <class...> class Set, class T, class Allocator, class... Functions>
using SetOf = Set<deserialized_type_t<T>, typename ForArrived<Functions, T>::type...,
                  AllocatorOf<Allocator, deserialized_type_t<T>>>;
template <class T, class Compare, class Allocator>
struct Serializer<std::set<T, Compare, Allocator>>
    : SetSerializer<std::set<T, Compare, Allocator>, SetOf<std::set, T, Allocator, Compare>, T> {};
template <class T, class Compare, class Allocator>
struct Serializer<std::multiset<T, Compare, Allocator>>
    : SetSerializer<std::multiset<T, Compare, Allocator>,
                    SetOf<std::multiset, T, Allocator, Compare>, T> {};
template <class T, class Hash, class Equal, class Allocator>
struct Serializer<std::unordered_set<T, Hash, Equal, Allocator>>
    : HashSerializer<std::unordered_set<T, Hash, Equal, Allocator>,
                     SetOf<std::unordered_set, T, Allocator, Hash, Equal>, T> {};
template <class T, class Hash, class Equal, class Allocator>
struct Serializer<std::unordered_multiset<T, Hash, Equal, Allocator>>
    : HashSerializer<std::unordered_multiset<T, Hash, Equal, Allocator>,
                     SetOf<std::unordered_multiset, T, Allocator, Hash, Equal>, T> {};

// The elements of a map are written with a constant key, and read without.
template <class K, class V>
using Entry = std::pair<K, V>;
template <template <class...> class Map, class K, class V, class Allocator, class... Functions>
using MapOf =
    Map<deserialized_type_t<K>, deserialized_type_t<V>, typename ForArrived<Functions, K>::type...,
        AllocatorOf<Allocator, std::pair<const deserialized_type_t<K>, deserialized_type_t<V>>>>;
template <class K, class V, class Compare, class Allocator>
struct Serializer<std::map<K, V, Compare, Allocator>>
    : SetSerializer<std::map<K, V, Compare, Allocator>, MapOf<std::map, K, V, Allocator, Compare>,
                    Entry<K, V>> {};
template <class K, class V, class Compare, class Allocator>
struct Serializer<std::multimap<K, V, Compare, Allocator>>
    : SetSerializer<std::multimap<K, V, Compare, Allocator>,
                    MapOf<std::multimap, K, V, Allocator, Compare>, Entry<K, V>> {};
template <class K, class V, class Hash, class Equal, class Allocator>
struct Serializer<std::unordered_map<K, V, Hash, Equal, Allocator>>
    : HashSerializer<std::unordered_map<K, V, Hash, Equal, Allocator>,
                     MapOf<std::unordered_map, K, V, Allocator, Hash, Equal>, Entry<K, V>> {};
template <class K, class V, class Hash, class Equal, class Allocator>
struct Serializer<std::unordered_multimap<K, V, Hash, Equal, Allocator>>
    : HashSerializer<std::unordered_multimap<K, V, Hash, Equal, Allocator>,
                     MapOf<std::unordered_multimap, K, V, Allocator, Hash, Equal>, Entry<K, V>> {};

template <class A, class B>
struct Serializer<std::pair<A, B>> {
  using type = std::pair<deserialized_type_t<A>, deserialized_type_t<B>>;
  using Parts = std::tuple<A, B>;
  static void serialize(Writer& writer, const std::pair<A, B>& pair) {
    writer.write(pair.first);
    writer.write(pair.second);
  }
  static type* deserialize(Reader& reader, void* room) {
    return ReadValues<std::remove_cv_t<A>, std::remove_cv_t<B>>(reader).apply(
        [&](auto& first, auto& second) {
          return ::new (room) type(std::move(first), std::move(second));
        });
  }
};
template <class... T>
struct Serializer<std::tuple<T...>> {
  using type = std::tuple<deserialized_type_t<T>...>;
  using Parts = std::tuple<T...>;
  static void serialize(Writer& writer, const std::tuple<T...>& tuple) {
    std::apply([&](const auto&... part) { (writer.write(part), ...); }, tuple);
  }
  static type* deserialize(Reader& reader, void* room) {
    return ReadValues<std::remove_cv_t<T>...>(reader).apply(
        [&](auto&... part) { return ::new (room) type{std::move(part)...}; });
  }
};
template <class T, std::size_t N>
struct Serializer<std::array<T, N>> {
  using type = std::array<deserialized_type_t<T>, N>;
  using Parts = std::tuple<T>;
  static void serialize(Writer& writer, const std::array<T, N>& array) {
    for (const T& element : array) writer.write(element);
  }
  static type* deserialize(Reader& reader, void* room) {
    // An array is its elements, which need no default constructor.
    reader.read_sequence_into<T>(room, N);
    return std::launder(static_cast<type*>(room));
  }
};
/// As a reference: what it refers to.
template <class T>
struct Serializer<std::reference_wrapper<T>> {
  using type = deserialized_type_t<T>;
  using Parts = std::tuple<T>;
  static void serialize(Writer& writer, const std::reference_wrapper<T>& value) {
    writer.write(value.get());
  }
  static type* deserialize(Reader& reader, void* room) {
    return reader.read_into<std::remove_const_t<T>>(room);
  }
};
template <class T>
struct Serializer<std::optional<T>> {
  using type = std::optional<deserialized_type_t<T>>;
  using Parts = std::tuple<T>;
  static void serialize(Writer& writer, const std::optional<T>& value) {
    writer.write(value.has_value());
    if (value.has_value()) writer.write(*value);
  }
  static type* deserialize(Reader& reader, void* room) {
    auto* const result = ::new (room) type;
    if (reader.read<bool>()) result->emplace(std::move(ReadValue<T>(reader).get()));
    return result;
  }
};

}  // namespace detail

}  // namespace upcxx

#endif
