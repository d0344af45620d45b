// A distributed hash map: each key has an owner, which keeps its value.
#include <optional>
#include <string>
#include <unordered_map>
#include <upcxx/upcxx.hpp>

class HashMap {
  using Part = std::unordered_map<std::string, int>;
  using Parts = upcxx::dist_object<Part>;

 public:
  HashMap() : parts_(Part()) {}

  upcxx::task<> insert(std::string key, int value) {
    co_await upcxx::rpc(
        owner(key), [](Parts& parts, const std::string& k, int v) { (*parts)[k] = v; }, parts_, key,
        value);
  }
  upcxx::task<std::optional<int>> find(std::string key) {
    co_return co_await upcxx::rpc(
        owner(key),
        [](Parts& parts, const std::string& k) {
          const auto found = parts->find(k);
          return found == parts->end() ? std::nullopt : std::optional<int>(found->second);
        },
        parts_, key);
  }

 private:
  static upcxx::intrank_t owner(const std::string& key) {
    return upcxx::intrank_t(std::hash<std::string>()(key) % std::size_t(upcxx::rank_n()));
  }
  Parts parts_;
};

upcxx::task<int> length_of_chain(HashMap& map, std::string key) {
  int length = 0;
  while (const std::optional<int> next = co_await map.find(key)) {
    ++length;
    key = std::to_string(*next);
  }
  co_return length;
}

int main() {
  upcxx::init();
  HashMap map;
  upcxx::future<> inserted = upcxx::make_future();
  for (int i = upcxx::rank_me(); i < 100; i += upcxx::rank_n()) {
    inserted = upcxx::when_all(inserted, map.insert(std::to_string(i), i + 1));
  }
  inserted.wait();
  upcxx::barrier();
  UPCXX_ASSERT_ALWAYS(length_of_chain(map, "0").wait() == 100);
  upcxx::barrier();  // the map is needed until all have read it
  upcxx::finalize();
  return 0;
}
