/// @file
/// Views: sequences that are sent from where they are, and read where they arrive. Part of
/// upcxx/upcxx.hpp.
///
/// A view that has arrived is valid until the function that was called with it returns, or until
/// the future that this returns is ready.
#ifndef UPCXX_VIEW_HPP_
#define UPCXX_VIEW_HPP_

#include <iterator>

#include <upcxx/serialization.hpp>

namespace upcxx {
namespace detail {
[[noreturn]] UPCXXI_EXPORT void throw_out_of_range(const char* call);
}

/// Deserializes an element each time it is read.
template <class T>
class deserializing_iterator {
 public:
  using value_type = deserialized_type_t<T>;
  using reference = value_type;
  using pointer = const value_type*;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;

  deserializing_iterator() : reader_(nullptr), left_(0) {}
  deserializing_iterator(detail::Reader at, std::size_t left) : reader_(at), left_(left) {}

  value_type operator*() const { return behind().template read<T>(); }
  value_type* deserialize_into(void* room) const { return behind().template read_into<T>(room); }
  template <class U>
  void deserialize_into(std::optional<U>& room) const {
    behind().template read_into<T>(room);
  }
  template <class U>
  void deserialize_overwrite(U& object) const {
    behind().template read_overwrite<T>(object);
  }
  deserializing_iterator& operator++() {
    if (!is_read_) detail::ReadValue<T> skipped(behind());
    reader_ = behind_;
    is_read_ = false;
    --left_;
    return *this;
  }
  deserializing_iterator operator++(int) {
    const deserializing_iterator old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const deserializing_iterator& a, const deserializing_iterator& b) {
    return a.left_ == b.left_;
  }
  friend bool operator!=(const deserializing_iterator& a, const deserializing_iterator& b) {
    return a.left_ != b.left_;
  }

 private:
  /// For reading the element: it is behind it then.
  detail::Reader& behind() const {
    is_read_ = true;
    return behind_ = reader_;
  }

  detail::Reader reader_;
  std::size_t left_;
  // Once the element has been read, its end is known.
  mutable detail::Reader behind_{nullptr};
  mutable bool is_read_ = false;
};

template <class T>
using view_default_iterator_t =
    std::conditional_t<detail::is_trivial<T>, T*, deserializing_iterator<T>>;

template <class T, class Iterator = view_default_iterator_t<T>>
class view {
 public:
  using iterator = Iterator;
  using const_iterator = Iterator;
  using value_type = typename std::iterator_traits<Iterator>::value_type;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = typename std::iterator_traits<Iterator>::reference;

  view() : begin_(), end_(), size_(0) {}
  view(Iterator begin, Iterator end, std::size_t size) : begin_(begin), end_(end), size_(size) {}

  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }
  Iterator cbegin() const { return begin_; }
  Iterator cend() const { return end_; }
  auto rbegin() const { return std::make_reverse_iterator(end_); }
  auto rend() const { return std::make_reverse_iterator(begin_); }
  auto crbegin() const { return rbegin(); }
  auto crend() const { return rend(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  reference operator[](std::size_t index) const { return begin_[difference_type(index)]; }
  reference at(std::size_t index) const {
    if (index >= size_) detail::throw_out_of_range("upcxx::view::at");
    return (*this)[index];
  }
  reference front() const { return *begin_; }
  reference back() const { return begin_[difference_type(size_) - 1]; }
  auto data() const { return &*begin_; }

 private:
  Iterator begin_;
  Iterator end_;
  std::size_t size_;
};

template <class Iterator>
auto make_view(Iterator begin, Iterator end, std::size_t size) {
  return view<typename std::iterator_traits<Iterator>::value_type, Iterator>(begin, end, size);
}
template <class Iterator>
auto make_view(Iterator begin, Iterator end) {
  return make_view(begin, end, std::size_t(std::distance(begin, end)));
}
template <class Container>
auto make_view(const Container& container) {
  return make_view(container.cbegin(), container.cend(), container.size());
}

namespace detail {

template <class T, class Iterator>
struct Serializer<view<T, Iterator>> {
  using type = view<T>;
  using Parts = std::tuple<T>;
  static void serialize(Writer& writer, const view<T, Iterator>& elements) {
    writer.write(elements.size());
    const auto bytes = writer.reserve<std::size_t>();
    // The elements begin where the reader, which has no more than their bytes, begins them.
    writer.put_bytes(nullptr, 0, 16);
    const std::size_t begin = writer.size();
    writer.write_sequence(elements.begin(), elements.end());
    writer.commit(bytes, writer.size() - begin);
  }
  static type* deserialize(Reader& reader, void* room) {
    const auto count = reader.read<std::size_t>();
    const auto bytes = reader.read<std::size_t>();
    const auto* const memory = static_cast<const unsigned char*>(reader.take(0, 16));
    reader.take(bytes, 1);
    if constexpr (is_trivial<T>) {
      T* const first = const_cast<T*>(reinterpret_cast<const T*>(memory));
      return ::new (room) type(first, first + count, count);
    } else {
      return ::new (room) type(deserializing_iterator<T>(Reader(memory), count),
                               deserializing_iterator<T>(), count);
    }
  }
};

}  // namespace detail
}  // namespace upcxx

#endif
