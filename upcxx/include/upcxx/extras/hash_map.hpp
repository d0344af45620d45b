/// @file
/// A hash map whose entries are on all members of a team. Needs C++20.
#ifndef UPCXX_EXTRAS_HASH_MAP_HPP_
#define UPCXX_EXTRAS_HASH_MAP_HPP_

#include <optional>
#include <unordered_map>

#include <upcxx/upcxx.hpp>

namespace upcxx::extras {

/// Each key has an owner, which keeps its value and runs what is done to it. Constructing one is
/// collective over the team, which must exist as long as it does. The map is needed on every member
/// until all that use it have what they asked for.
template <class K, class V, class Hash = std::hash<K>>
class hash_map {
  using Part = std::unordered_map<K, V, Hash>;
  using Parts = dist_object<Part>;

 public:
  explicit hash_map(const team& of = world()) : parts_(of) {}

  intrank_t owner(const K& key) const {
    // The low bits choose a bucket of the part.
    const std::uint64_t mixed = std::uint64_t(Hash()(key)) * 0x9e3779b97f4a7c15;
    return intrank_t((mixed >> 32) % std::uint64_t(parts_.team().rank_n()));
  }
  /// Sets the value of a key.
  future<> insert(const K& key, const V& value) {
    return rpc(
        parts_.team(), owner(key),
        [](Parts& parts, K at, V given) {
          parts->insert_or_assign(std::move(at), std::move(given));
        },
        parts_, key, value);
  }
  future<std::optional<V>> find(const K& key) const {
    return rpc(
        parts_.team(), owner(key),
        [](Parts& parts, const K& at) {
          const auto found = parts->find(at);
          return found == parts->end() ? std::nullopt : std::optional<V>(found->second);
        },
        parts_, key);
  }
  /// True if the key was there.
  future<bool> erase(const K& key) {
    return rpc(
        parts_.team(), owner(key), [](Parts& parts, const K& at) { return parts->erase(at) > 0; },
        parts_, key);
  }
  /// Calls `function` with the value at its owner, which is V() if the key is new, and gives what
  /// that returns. Calls for one key run one after the other.
  template <class Function, class... A>
  auto update(const K& key, Function function, const A&... arguments) {
    return rpc(
        parts_.team(), owner(key),
        [](Parts& parts, K at, Function run, deserialized_type_t<A>... arrived) {
          return run((*parts)[std::move(at)], std::move(arrived)...);
        },
        parts_, key, function, arguments...);
  }
  /// The entries of the caller.
  Part& local() { return *parts_; }

 private:
  Parts parts_;
};

}  // namespace upcxx::extras

#endif
