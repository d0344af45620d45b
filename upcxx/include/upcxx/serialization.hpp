/// @file
/// Serialization: how values become bytes, and values again on another rank. Part of
/// upcxx/upcxx.hpp.
///
/// Bytes of trivially serializable types are copied. Classes have UPCXX_SERIALIZED_FIELDS,
/// UPCXX_SERIALIZED_VALUES or a nested upcxx_serialization; for types that cannot be changed
/// upcxx::serialization is specialised. Containers of the standard library are in containers.hpp.
#ifndef UPCXX_SERIALIZATION_HPP_
#define UPCXX_SERIALIZATION_HPP_

#include <cstring>
#include <iterator>
#include <optional>

#include <upcxx/future.hpp>

namespace upcxx {

template <class T>
using optional = std::optional<T>;
using std::bad_optional_access;
using std::in_place;
using std::in_place_t;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;

/// Specialised by programs, with the members of upcxx_serialization.
template <class T>
struct serialization;

template <class T>
struct is_trivially_serializable;
template <class T>
struct is_serializable;

namespace detail {

class Reader;

/// The members that a class lists.
template <class... T>
std::tuple<T&...> fields(T&... members) {
  return std::tuple<T&...>(members...);
}
template <class... T>
std::tuple<T...> values(T&&... expressions) {
  return std::tuple<T...>(std::forward<T>(expressions)...);
}
template <class Base, class Class>
Base& base_of(Class& object) {
  return object;
}
template <class Base, class Class>
const Base& base_of(const Class& object) {
  return object;
}

/// A friend of the classes that use the macros.
struct ClassAccess {
  template <class T, class... Arguments>
  static T* construct(void* room, Arguments&&... arguments) {
    return ::new (room) T(std::forward<Arguments>(arguments)...);
  }
};

template <class T, class = void>
inline constexpr bool has_fields = false;
template <class T>
inline constexpr bool has_fields<T, std::void_t<typename T::upcxxi_has_fields>> = true;
template <class T, class = void>
inline constexpr bool has_values = false;
template <class T>
inline constexpr bool has_values<T, std::void_t<typename T::upcxxi_has_values>> = true;
template <class T, class = void>
inline constexpr bool is_deleted = false;
template <class T>
inline constexpr bool is_deleted<T, std::void_t<typename T::upcxxi_is_deleted>> = true;
template <class T, class = void>
inline constexpr bool has_nested = false;
template <class T>
inline constexpr bool has_nested<T, std::void_t<typename T::upcxx_serialization>> = true;
template <class T, class = void>
inline constexpr bool has_special = false;
template <class T>
inline constexpr bool has_special<T, std::void_t<decltype(sizeof(serialization<T>))>> = true;

/// Specialised for types of the standard library and of this one: `type` is what arrives, `Parts`
/// are what has to be sent for it.
template <class T>
struct Serializer;

template <class T, class = void>
inline constexpr bool has_serializer = false;
template <class T>
inline constexpr bool has_serializer<T, std::void_t<typename Serializer<T>::type>> = true;

template <class T>
inline constexpr bool has_interface =
    has_fields<T> || has_values<T> || is_deleted<T> || has_nested<T> || has_special<T>;

}  // namespace detail

namespace detail {
// GCC 12 no longer has a lambda for trivially copyable once its deleted assignment was looked at.
template <class T>
inline constexpr bool is_copied_as_bytes = std::is_trivially_copyable<T>::value ||
                                           (std::is_trivially_copy_constructible<T>::value &&
                                            std::is_trivially_destructible<T>::value &&
                                            !std::is_copy_assignable<T>::value &&
                                            !std::is_move_assignable<T>::value);
}  // namespace detail

/// True if bytes are copied. Programs may specialise it, which takes precedence over all else.
template <class T>
struct is_trivially_serializable
    : std::bool_constant<detail::is_copied_as_bytes<T> && !detail::has_interface<T> &&
                         !detail::has_serializer<T>> {};
template <class T>
struct is_trivially_serializable<const T> : is_trivially_serializable<T> {};
template <class A, class B>
struct is_trivially_serializable<std::pair<A, B>>
    : std::bool_constant<is_trivially_serializable<A>::value &&
                         is_trivially_serializable<B>::value> {};
template <class... T>
struct is_trivially_serializable<std::tuple<T...>>
    : std::bool_constant<(is_trivially_serializable<T>::value && ...)> {};

namespace detail {

template <class T>
inline constexpr bool is_trivial = is_trivially_serializable<std::remove_cv_t<T>>::value;

/// Types of elements that are put, got, broadcast and reduced.
template <class T>
inline constexpr bool is_sent_as_bytes =
    is_trivial<T> || std::is_trivially_copyable<std::remove_cv_t<T>>::value;

/// Where deserialize() of a class constructs its object.
template <class T>
class Storage {
 public:
  explicit Storage(void* room) : room_(room) {}
  template <class... Arguments>
  T* construct(Arguments&&... arguments) const {
    return ClassAccess::construct<T>(room_, std::forward<Arguments>(arguments)...);
  }

 private:
  void* room_;
};

template <class T>
void write_value(class Writer& writer, const T& value);
template <class T>
void write_field(class Writer& writer, const T& field);
template <class T>
auto read_to(Reader& reader, void* room);

}  // namespace detail

/// The type of values of a type when they arrive.
template <class T>
using deserialized_type_t =
    std::remove_pointer_t<decltype(detail::read_to<std::remove_cv_t<std::remove_reference_t<T>>>(
        std::declval<detail::Reader&>(), static_cast<void*>(nullptr)))>;

namespace detail {

/// Writes to memory that is aligned to 16 bytes, or only measures.
class Writer {
 public:
  /// nullptr: measures.
  explicit Writer(unsigned char* memory) : memory_(memory) {}

  /// A value, or an array of C.
  template <class T>
  void write(const T& value) {
    write_field(*this, value);
  }
  /// The elements, and how many there were.
  template <class Iterator>
  std::size_t write_sequence(Iterator begin, Iterator end) {
    using T = typename std::iterator_traits<Iterator>::value_type;
    std::size_t count = 0;
    if constexpr (std::is_pointer<Iterator>::value && is_trivial<T>) {
      count = std::size_t(end - begin);
      put_bytes(begin, count * sizeof(T), alignof(T));
    } else {
      for (; begin != end; ++begin, ++count) write_value<T>(*this, *begin);
    }
    return count;
  }
  template <class Iterator>
  std::size_t write_sequence(Iterator begin, Iterator end, std::size_t) {
    return write_sequence(begin, end);
  }

  template <class T>
  struct Reserved {
    std::size_t offset;
  };
  template <class T>
  Reserved<T> reserve() {
    static_assert(is_trivial<T>, "what is reserved is to be trivially serializable");
    return {place(sizeof(T), alignof(T))};
  }
  template <class T>
  void commit(Reserved<T> where, const T& value) {
    if (memory_ != nullptr) std::memcpy(memory_ + where.offset, &value, sizeof(T));
  }

  void put_bytes(const void* bytes, std::size_t size, std::size_t alignment) {
    const std::size_t offset = place(size, alignment);
    if (memory_ != nullptr && size > 0) std::memcpy(memory_ + offset, bytes, size);
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t place(std::size_t size, std::size_t alignment) {
    size_ = (size_ + alignment - 1) / alignment * alignment;
    const std::size_t offset = size_;
    size_ += size;
    return offset;
  }

  unsigned char* memory_;
  std::size_t size_ = 0;
};

template <class T>
class ReadValue;

/// Reads what a Writer has written.
class Reader {
 public:
  explicit Reader(const unsigned char* memory) : memory_(memory) {}

  template <class T>
  deserialized_type_t<T> read() {
    using D = deserialized_type_t<T>;
    alignas(D) unsigned char room[sizeof(D)];
    struct Guard {
      D* value;
      ~Guard() {
        // Copies of bytes were not constructed.
        if constexpr (!is_trivial<T>) value->~D();
      }
    } guard{read_to<T>(*this, room)};
    return std::move(*guard.value);
  }
  template <class T>
  deserialized_type_t<T>* read_into(void* room) {
    return read_to<T>(*this, room);
  }
  /// To an object of a type, whose end is not run.
  template <class T, class U, class = std::enable_if_t<!std::is_void<U>::value>>
  deserialized_type_t<T>* read_into(U* object) {
    require_no_destructor<U>();
    return read_into<T>(static_cast<void*>(object));
  }
  template <class T, class U>
  void read_into(std::optional<U>& room) {
    room.emplace(std::move(ReadValue<T>(*this).get()));
  }
  template <class T, class U>
  void read_overwrite(U& object) {
    object.~U();
    read_to<T>(*this, &object);
  }
  template <class T>
  deserialized_type_t<T>* read_sequence_into(void* room, std::size_t count) {
    using D = deserialized_type_t<T>;
    auto* const first = static_cast<D*>(room);
    if constexpr (is_trivial<T>) {
      if (count > 0) std::memcpy(room, take(count * sizeof(T), alignof(T)), count * sizeof(T));
    } else {
      for (std::size_t i = 0; i < count; ++i) read_to<T>(*this, first + i);
    }
    return first;
  }
  template <class T, class U, class = std::enable_if_t<!std::is_void<U>::value>>
  deserialized_type_t<T>* read_sequence_into(U* objects, std::size_t count) {
    require_no_destructor<U>();
    return read_sequence_into<T>(static_cast<void*>(objects), count);
  }
  template <class T, class U>
  void read_sequence_overwrite(U* objects, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) read_overwrite<T>(objects[i]);
  }

  const void* take(std::size_t size, std::size_t alignment) {
    offset_ = (offset_ + alignment - 1) / alignment * alignment;
    const void* const at = memory_ + offset_;
    offset_ += size;
    return at;
  }

 private:
  template <class U>
  static constexpr void require_no_destructor() {
    static_assert(std::is_trivially_destructible<U>::value,
                  "the object there would not be destroyed: read_overwrite does that, and memory "
                  "without an object is passed as void*");
  }

  const unsigned char* memory_;
  std::size_t offset_ = 0;
};

/// A value that is deserialized where it stays: it is neither copied nor moved.
template <class T>
class ReadValue {
 public:
  using type = deserialized_type_t<T>;
  explicit ReadValue(Reader& reader) { reader.read_into<T>(room_); }
  ReadValue(const ReadValue&) = delete;
  ReadValue& operator=(const ReadValue&) = delete;
  ~ReadValue() {
    if constexpr (!is_trivial<T>) get().~type();
  }
  type& get() { return *std::launder(reinterpret_cast<type*>(room_)); }

 private:
  alignas(type) unsigned char room_[sizeof(type)];
};

/// Values that were written one after the other.
template <class... T>
class ReadValues {
 public:
  explicit ReadValues(Reader&) {}
  template <class Use, class... Values>
  decltype(auto) apply(Use&& use, Values&... values) {
    return std::forward<Use>(use)(values...);
  }
};
template <class First, class... More>
class ReadValues<First, More...> {
 public:
  explicit ReadValues(Reader& reader) : first_(reader), more_(reader) {}
  /// Calls `use` with all values.
  template <class Use, class... Values>
  decltype(auto) apply(Use&& use, Values&... values) {
    return more_.apply(std::forward<Use>(use), values..., first_.get());
  }

 private:
  // Constructed in this order.
  ReadValue<First> first_;
  ReadValues<More...> more_;
};

template <class Class, class T, class = void>
inline constexpr bool takes_storage = false;
template <class Class, class T>
inline constexpr bool takes_storage<Class, T,
                                    std::void_t<decltype(Class::deserialize(
                                        std::declval<Reader&>(), std::declval<Storage<T>>()))>> =
    true;

/// By the class that has serialize and deserialize for T.
template <class Class, class T>
auto read_by(Reader& reader, void* room) {
  if constexpr (takes_storage<Class, T>) {
    // What it constructs is another type than T, or the base that T has it from.
    using Made = std::remove_pointer_t<decltype(Class::deserialize(std::declval<Reader&>(),
                                                                   std::declval<Storage<T>>()))>;
    return Class::deserialize(reader, Storage<Made>(room));
  } else {
    return Class::deserialize(reader, room);
  }
}

template <class T>
void write_field(Writer& writer, const T& field) {
  if constexpr (std::is_array<T>::value) {
    for (const auto& element : field) write_field(writer, element);
  } else {
    write_value(writer, field);
  }
}
template <class T>
void read_field(Reader& reader, T& field) {
  if constexpr (std::is_array<T>::value) {
    for (auto& element : field) read_field(reader, element);
  } else {
    static_assert(std::is_same<deserialized_type_t<T>, T>::value,
                  "a field of UPCXX_SERIALIZED_FIELDS is to arrive as its own type");
    reader.read_overwrite<T>(field);
  }
}

template <class T, class... V>
T* construct_of_values(Reader& reader, void* room, const std::tuple<V...>*) {
  return ReadValues<std::decay_t<V>...>(reader).apply(
      [&](auto&... value) { return ClassAccess::construct<T>(room, std::move(value)...); });
}

// A container can be sent if its elements can.
template <class Parts>
inline constexpr bool are_sendable_parts = false;
template <class... T>
inline constexpr bool are_sendable_parts<std::tuple<T...>> =
    (is_serializable<std::remove_cv_t<T>>::value && ...);
template <class T, class = void>
inline constexpr bool has_sendable_parts = has_serializer<T>;
template <class T>
inline constexpr bool has_sendable_parts<T, std::void_t<typename Serializer<T>::Parts>> =
    are_sendable_parts<typename Serializer<T>::Parts>;

template <class T>
inline constexpr bool is_serializable_type =
    is_trivial<T> || has_sendable_parts<T> || has_special<T> || has_fields<T> || has_values<T> ||
    has_nested<T>;

template <class T>
void write_value(Writer& writer, const T& value) {
  static_assert(!is_deleted<T> && is_serializable_type<T>,
                "a value of this type cannot be sent: it is not trivially copyable, and has no "
                "UPCXX_SERIALIZED_FIELDS, UPCXX_SERIALIZED_VALUES or upcxx_serialization");
  if constexpr (is_trivial<T>) {
    if constexpr (!std::is_empty<T>::value) writer.put_bytes(&value, sizeof(T), alignof(T));
  } else if constexpr (has_special<T>) {
    serialization<T>::serialize(writer, value);
  } else if constexpr (has_serializer<T>) {
    Serializer<T>::serialize(writer, value);
  } else if constexpr (has_fields<T>) {
    std::apply([&](const auto&... field) { (write_field(writer, field), ...); },
               value.upcxxi_fields());
  } else if constexpr (has_values<T>) {
    std::apply([&](const auto&... part) { (write_value(writer, part), ...); },
               value.upcxxi_values());
  } else if constexpr (has_nested<T>) {
    T::upcxx_serialization::serialize(writer, value);
  }
}

template <class T>
auto read_to(Reader& reader, void* room) {
  if constexpr (is_trivial<T>) {
    if constexpr (!std::is_empty<T>::value) {
      std::memcpy(room, reader.take(sizeof(T), alignof(T)), sizeof(T));
    }
    return std::launder(static_cast<T*>(room));
  } else if constexpr (has_special<T>) {
    return read_by<serialization<T>, T>(reader, room);
  } else if constexpr (has_serializer<T>) {
    return Serializer<T>::deserialize(reader, room);
  } else if constexpr (has_fields<T>) {
    T* const object = ClassAccess::construct<T>(room);
    std::apply([&](auto&... field) { (read_field(reader, field), ...); }, object->upcxxi_fields());
    return object;
  } else if constexpr (has_values<T>) {
    using Values = decltype(std::declval<const T&>().upcxxi_values());
    return construct_of_values<T>(reader, room, static_cast<const Values*>(nullptr));
  } else if constexpr (has_nested<T>) {
    return read_by<typename T::upcxx_serialization, T>(reader, room);
  } else {
    return static_cast<T*>(nullptr);
  }
}

/// Functions: where they are in their executable or library, wherever that is loaded.
UPCXXI_EXPORT std::uint64_t code_token(void (*function)());
UPCXXI_EXPORT void (*code_address(std::uint64_t token))();

template <class Function>
struct FunctionSerializer {
  using type = Function;
  static void serialize(Writer& writer, type function) {
    writer.write(code_token(reinterpret_cast<void (*)()>(function)));
  }
  static type* deserialize(Reader& reader, void* room) {
    return ::new (room) type(reinterpret_cast<type>(code_address(reader.read<std::uint64_t>())));
  }
};
template <class R, class... A>
struct Serializer<R (*)(A...)> : FunctionSerializer<R (*)(A...)> {};
template <class R, class... A>
struct Serializer<R (*)(A...) noexcept> : FunctionSerializer<R (*)(A...) noexcept> {};

}  // namespace detail

/// True if values of the type can be sent. Of references, what they refer to is sent.
template <class T>
struct is_serializable : std::bool_constant<!std::is_array<T>::value && !detail::is_deleted<T> &&
                                            detail::is_serializable_type<T>> {};
template <class T>
struct is_serializable<const T> : is_serializable<T> {};
template <class T>
struct is_serializable<T&> : is_serializable<T> {};
template <class T>
struct is_serializable<T&&> : is_serializable<T> {};

template <class T>
struct serialization_traits {
  using deserialized_type = deserialized_type_t<T>;
  /// Returns what would arrive for the value.
  static deserialized_type deserialized_value(const T& value) {
    detail::Writer measure(nullptr);
    measure.write(value);
    struct alignas(16) Unit {
      unsigned char bytes[16];
    };
    Unit* const memory = new Unit[measure.size() / sizeof(Unit) + 1];
    struct Guard {
      Unit* memory;
      ~Guard() { delete[] memory; }
    } guard{memory};
    detail::Writer(memory->bytes).write(value);
    return detail::Reader(memory->bytes).template read<T>();
  }
};

}  // namespace upcxx

/// In the public part of a class: the members that are sent. At the target the object is
/// constructed by default, and then has these.
#define UPCXX_SERIALIZED_FIELDS(...)             \
  friend struct ::upcxx::detail::ClassAccess;    \
  using upcxxi_has_fields = void;                \
  auto upcxxi_fields() {                         \
    return ::upcxx::detail::fields(__VA_ARGS__); \
  }                                              \
  auto upcxxi_fields() const {                   \
    return ::upcxx::detail::fields(__VA_ARGS__); \
  }
/// The values that are sent, from which the object is constructed at the target.
#define UPCXX_SERIALIZED_VALUES(...)             \
  friend struct ::upcxx::detail::ClassAccess;    \
  using upcxxi_has_values = void;                \
  auto upcxxi_values() const {                   \
    return ::upcxx::detail::values(__VA_ARGS__); \
  }
// A function is last: a semicolon may stand behind it, and need not.
#define UPCXX_SERIALIZED_DELETE()    \
  using upcxxi_is_deleted = void;    \
  static void upcxxi_is_not_sent() { \
  }
#define UPCXX_SERIALIZED_BASE(...) ::upcxx::detail::base_of<__VA_ARGS__>(*this)

#endif
