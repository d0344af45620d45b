/// @file
/// Objects that have one name on all ranks: teams and distributed objects. Part of upcxx/upcxx.hpp.
#ifndef UPCXX_REGISTRY_HPP_
#define UPCXX_REGISTRY_HPP_

#include <upcxx/persona.hpp>

namespace upcxx {
namespace detail {

// The objects of this rank by name: of the thread with the master persona.

/// nullptr: there is none here yet.
UPCXXI_EXPORT void* find_object(std::uint64_t id);
/// Names it. Another object of that name is forgotten.
UPCXXI_EXPORT void set_object(std::uint64_t id, void* object);
/// Unless the name is another object's by now.
UPCXXI_EXPORT void remove_object(std::uint64_t id, void* object);
/// Ready in the user progress after set_object.
UPCXXI_EXPORT future<> when_object(std::uint64_t id);

/// A future of an object that will have the name.
template <class Object>
future<Object&> when_named(std::uint64_t id) {
  return when_object(id).then([id] {
    return future<Object&>(typename future<Object&>::Now(), *static_cast<Object*>(find_object(id)));
  });
}

}  // namespace detail
}  // namespace upcxx

#endif
