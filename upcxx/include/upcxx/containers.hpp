/// @file
/// Serialization of types of the standard library. Part of upcxx/upcxx.hpp.
///
/// Elements arrive as their deserialized types. Comparators, hashes and allocators are constructed
/// by default at the target.
#ifndef UPCXX_CONTAINERS_HPP_
#define UPCXX_CONTAINERS_HPP_

#include <array>
#include <deque>
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

template <class Container>
void write_elements(Writer& writer, const Container& container) {
  using T = typename Container::value_type;
  writer.write(std::size_t(container.size()));
  for (const T& element : container) writer.write(element);
}
/// `insert` takes each element.
template <class T, class Insert>
void read_elements(Reader& reader, Insert&& insert) {
  for (std::size_t count = reader.read<std::size_t>(); count > 0; --count) insert(reader.read<T>());
}

template <class Container, class Result, class T>
struct SequenceSerializer {
  using type = Result;
  using Parts = std::tuple<T>;
  static void serialize(Writer& writer, const Container& container) {
    write_elements(writer, container);
  }
  static Result* deserialize(Reader& reader, void* room) {
    auto* const result = ::new (room) Result;
    read_elements<T>(reader, [&](T&& element) { result->push_back(std::move(element)); });
    return result;
  }
};
template <class Container, class Result, class T>
struct SetSerializer {
  using type = Result;
  using Parts = std::tuple<T>;
  static void serialize(Writer& writer, const Container& container) {
    write_elements(writer, container);
  }
  static Result* deserialize(Reader& reader, void* room) {
    auto* const result = ::new (room) Result;
    read_elements<T>(reader,
                     [&](T&& element) { result->insert(result->end(), std::move(element)); });
    return result;
  }
};

template <class T>
struct Serializer<std::vector<T>> {
  using type = std::vector<deserialized_type_t<T>>;
  using Parts = std::tuple<T>;
  static void serialize(Writer& writer, const std::vector<T>& vector) {
    writer.write(vector.size());
    if constexpr (std::is_same<T, bool>::value) {
      for (const bool element : vector) writer.write(element);
    } else {
      writer.write_sequence(vector.data(), vector.data() + vector.size());
    }
  }
  static type* deserialize(Reader& reader, void* room) {
    const auto count = reader.read<std::size_t>();
    if constexpr (is_trivial<T> && !std::is_same<T, bool>::value) {
      const T* const first = static_cast<const T*>(reader.take(count * sizeof(T), alignof(T)));
      return ::new (room) type(first, first + count);
    } else {
      auto* const result = ::new (room) type;
      result->reserve(count);
      for (std::size_t i = 0; i < count; ++i) result->push_back(reader.read<T>());
      return result;
    }
  }
};

template <class C, class Traits, class Allocator>
struct Serializer<std::basic_string<C, Traits, Allocator>> {
  using type = std::basic_string<C, Traits, Allocator>;
  static void serialize(Writer& writer, const type& string) {
    writer.write(string.size());
    writer.write_sequence(string.data(), string.data() + string.size());
  }
  static type* deserialize(Reader& reader, void* room) {
    const auto count = reader.read<std::size_t>();
    const C* const first = static_cast<const C*>(reader.take(count * sizeof(C), alignof(C)));
    return ::new (room) type(first, count);
  }
};

template <class T>
struct Serializer<std::deque<T>>
    : SequenceSerializer<std::deque<T>, std::deque<deserialized_type_t<T>>, T> {};
template <class T>
struct Serializer<std::list<T>>
    : SequenceSerializer<std::list<T>, std::list<deserialized_type_t<T>>, T> {};
template <class T, class Compare>
struct Serializer<std::set<T, Compare>>
    : SetSerializer<std::set<T, Compare>, std::set<deserialized_type_t<T>, Compare>, T> {};
template <class T, class Compare>
struct Serializer<std::multiset<T, Compare>>
    : SetSerializer<std::multiset<T, Compare>, std::multiset<deserialized_type_t<T>, Compare>, T> {
};
template <class T, class Hash, class Equal>
struct Serializer<std::unordered_set<T, Hash, Equal>>
    : SetSerializer<std::unordered_set<T, Hash, Equal>,
                    std::unordered_set<deserialized_type_t<T>, Hash, Equal>, T> {};
template <class T, class Hash, class Equal>
struct Serializer<std::unordered_multiset<T, Hash, Equal>>
    : SetSerializer<std::unordered_multiset<T, Hash, Equal>,
                    std::unordered_multiset<deserialized_type_t<T>, Hash, Equal>, T> {};
// The elements of a map are written with a constant key, and read without.
template <class K, class V>
using Entry = std::pair<K, V>;
template <class K, class V, class Compare>
struct Serializer<std::map<K, V, Compare>>
    : SetSerializer<std::map<K, V, Compare>,
                    std::map<deserialized_type_t<K>, deserialized_type_t<V>, Compare>,
                    Entry<K, V>> {};
template <class K, class V, class Compare>
struct Serializer<std::multimap<K, V, Compare>>
    : SetSerializer<std::multimap<K, V, Compare>,
                    std::multimap<deserialized_type_t<K>, deserialized_type_t<V>, Compare>,
                    Entry<K, V>> {};
template <class K, class V, class Hash, class Equal>
struct Serializer<std::unordered_map<K, V, Hash, Equal>>
    : SetSerializer<std::unordered_map<K, V, Hash, Equal>,
                    std::unordered_map<deserialized_type_t<K>, deserialized_type_t<V>, Hash, Equal>,
                    Entry<K, V>> {};
template <class K, class V, class Hash, class Equal>
struct Serializer<std::unordered_multimap<K, V, Hash, Equal>>
    : SetSerializer<
          std::unordered_multimap<K, V, Hash, Equal>,
          std::unordered_multimap<deserialized_type_t<K>, deserialized_type_t<V>, Hash, Equal>,
          Entry<K, V>> {};

template <class A, class B>
struct Serializer<std::pair<A, B>> {
  using type = std::pair<deserialized_type_t<A>, deserialized_type_t<B>>;
  using Parts = std::tuple<A, B>;
  static void serialize(Writer& writer, const std::pair<A, B>& pair) {
    writer.write(pair.first);
    writer.write(pair.second);
  }
  static type* deserialize(Reader& reader, void* room) {
    auto first = reader.read<std::remove_cv_t<A>>();
    return ::new (room) type(std::move(first), reader.read<std::remove_cv_t<B>>());
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
    return ::new (room) type{reader.read<std::remove_cv_t<T>>()...};
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
    auto* const result = ::new (room) type;
    for (auto& element : *result) element = reader.read<T>();
    return result;
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
    return ::new (room) type(reader.read<std::remove_const_t<T>>());
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
    if (reader.read<bool>()) result->emplace(reader.read<T>());
    return result;
  }
};

}  // namespace detail

}  // namespace upcxx

#endif
