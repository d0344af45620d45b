#include <upcxx/registry.hpp>

#include <unordered_map>

namespace upcxx::detail {
namespace {

/// Never destroyed: objects at namespace scope end after main.
struct Objects {
  std::unordered_map<std::uint64_t, void*> here;
  /// Fulfilled when they come.
  std::unordered_map<std::uint64_t, promise<>> awaited;
};
Objects& objects() {
  static auto* const made = new Objects;
  return *made;
}

}  // namespace

void* find_object(std::uint64_t id) {
  const auto found = objects().here.find(id);
  return found == objects().here.end() ? nullptr : found->second;
}

void remove_object(std::uint64_t id, void* object) {
  const auto found = objects().here.find(id);
  if (found != objects().here.end() && found->second == object) objects().here.erase(found);
}

void set_object(std::uint64_t id, void* object) {
  objects().here[id] = object;
  const auto awaited = objects().awaited.find(id);
  if (awaited == objects().awaited.end()) return;
  defer([arrived = awaited->second] { arrived.fulfill_anonymous(1); });
  objects().awaited.erase(awaited);
}

future<> when_object(std::uint64_t id) {
  if (find_object(id) != nullptr) return make_future();
  return objects().awaited[id].get_future();
}

}  // namespace upcxx::detail
