/// @file
/// Values as bytes, and back: for files and other libraries.
#ifndef UPCXX_EXTRAS_BYTES_HPP_
#define UPCXX_EXTRAS_BYTES_HPP_

#include <upcxx/upcxx.hpp>

namespace upcxx {
namespace extras {

/// Returns the bytes that would be sent of a value of a type that can be sent. Another process
/// reads them with from_bytes if its types are laid out the same.
template <class T>
std::vector<unsigned char> to_bytes(const T& value) {
  upcxx::detail::Writer measure(nullptr);
  measure.write(value);
  std::vector<unsigned char> bytes(measure.size());
  upcxx::detail::Writer(bytes.data()).write(value);
  return bytes;
}

/// The value that would arrive. `bytes` are those of a T.
template <class T>
deserialized_type_t<T> from_bytes(const std::vector<unsigned char>& bytes) {
  return upcxx::detail::Reader(bytes.data()).template read<T>();
}

}  // namespace extras
}  // namespace upcxx

#endif
