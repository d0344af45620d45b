// Serialization and remote procedure calls between all ranks. Prints nothing and ends with 0 if all
// is right.
#include <array>
#include <atomic>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <numeric>
#include <string>
#include <thread>
#include <tuple>
#include <upcxx/upcxx.hpp>
#include <vector>

#include "allocations.h"
#include "copies.h"

namespace {

using upcxx::future;
using upcxx::make_view;
using upcxx::rpc;
using upcxx::rpc_ff;
using upcxx::view;

#define REQUIRE(test) UPCXX_ASSERT_ALWAYS((test), "failed: " << #test)

// Containers of what cannot be sent cannot be sent either.
class Polymorphic {
 public:
  virtual ~Polymorphic() = default;
};
template <class... T>
constexpr bool are_refused = (!upcxx::is_serializable<T>::value && ...);
static_assert(are_refused<Polymorphic, std::vector<Polymorphic>, std::pair<int, Polymorphic>,
                          std::tuple<Polymorphic>, std::array<Polymorphic, 2>,
                          std::map<int, Polymorphic>, std::list<std::vector<Polymorphic>>>,
              "");

class Base {
 public:
  UPCXX_SERIALIZED_FIELDS(base)
  std::string base;
};
class Fields : public Base {
 public:
  Fields(int number, std::string text) : number_(number), text_(std::move(text)) { base = "base"; }
  UPCXX_SERIALIZED_FIELDS(UPCXX_SERIALIZED_BASE(Base), number_, text_, array_)
  bool operator==(const Fields& other) const {
    return number_ == other.number_ && text_ == other.text_ && base == other.base &&
           array_[1] == other.array_[1];
  }

 private:
  Fields() = default;
  int number_ = 0;
  std::string text_;
  std::string array_[2] = {"", "one"};
};
class Values {
 public:
  explicit Values(std::string text) : text(std::move(text)) {}
  UPCXX_SERIALIZED_VALUES(text + "!")
  std::string text;
};
struct Nothing {
  Nothing() = default;
  Nothing(const Nothing&) {}
  UPCXX_SERIALIZED_FIELDS()
};
struct Custom {
  int value;
  ~Custom() {}
  struct upcxx_serialization {
    template <class Writer>
    static void serialize(Writer& writer, const Custom& custom) {
      const auto count = writer.template reserve<std::size_t>();
      const std::vector<int> numbers{custom.value, 2, 3};
      writer.commit(count, writer.write_sequence(numbers.begin(), numbers.end()));
    }
    template <class Reader, class Storage>
    static Custom* deserialize(Reader& reader, Storage storage) {
      const auto count = reader.template read<std::size_t>();
      int numbers[3] = {};
      reader.template read_sequence_into<int>(numbers, count);
      return storage.construct(Custom{numbers[0] * numbers[2]});
    }
  };
};
struct Older {
  int value;
  ~Older() {}
  struct upcxx_serialization {
    template <class Writer>
    static void serialize(Writer& writer, const Older& older) {
      writer.write(older.value);
    }
    template <class Reader>
    static std::string* deserialize(Reader& reader, void* room) {
      return ::new (room) std::string(std::to_string(reader.template read<int>()));
    }
  };
};
/// Arrives as the base, whose serialization it has.
struct Inheriting : Custom {
  std::string more;
};
bool operator<(const Older& a, const Older& b) {
  return a.value < b.value;
}
bool operator>(const Older& a, const Older& b) {
  return b < a;
}
bool operator==(const Older& a, const Older& b) {
  return a.value == b.value;
}
struct Deleted {
  UPCXX_SERIALIZED_DELETE();
};
struct DeletedToo {
  UPCXX_SERIALIZED_DELETE()
};
struct Foreign {
  explicit Foreign(int value) : value(value) {}
  Foreign(const Foreign& other) : value(other.value) {}
  int value;
};

/// Orders, hashes and compares by what it was made with.
struct Modulo {
  explicit Modulo(int by) : by(by) {}
  bool operator()(int a, int b) const { return a % by < b % by; }
  std::size_t operator()(int a) const { return std::size_t(a % by); }
  int by;
};
struct SameModulo : Modulo {
  using Modulo::Modulo;
  bool operator()(int a, int b) const { return a % by == b % by; }
};
template <class T>
struct Numbered {
  using value_type = T;
  explicit Numbered(int number) : number(number) {}
  template <class U>
  Numbered(const Numbered<U>& other) : number(other.number) {}
  T* allocate(std::size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* memory, std::size_t count) { std::allocator<T>().deallocate(memory, count); }
  friend bool operator==(Numbered a, Numbered b) { return a.number == b.number; }
  friend bool operator!=(Numbered a, Numbered b) { return a.number != b.number; }
  int number;
};

}  // namespace

template <>
struct std::hash<Older> {
  std::size_t operator()(const Older& older) const { return std::size_t(older.value); }
};
template <>
struct upcxx::serialization<Foreign> {
  template <class Writer>
  static void serialize(Writer& writer, const Foreign& foreign) {
    writer.write(foreign.value);
  }
  template <class Reader, class Storage>
  static Foreign* deserialize(Reader& reader, Storage storage) {
    return storage.construct(reader.template read<int>());
  }
};

namespace {

template <class T>
T round_trip(const T& value) {
  return upcxx::serialization_traits<T>::deserialized_value(value);
}

template <class T>
auto arrived(const T& value) {
  return upcxx::serialization_traits<T>::deserialized_value(value);
}
/// Elements that arrive as another type are ordered, hashed and compared as that.
void arrive_as_another_type() {
  using Texts = std::set<std::string>;
  REQUIRE(arrived(std::set<Older>{{9}, {10}}) == (Texts{"10", "9"}));
  REQUIRE(arrived(std::multiset<Older, std::greater<Older>>{{9}, {10}}).begin()->size() == 1);
  REQUIRE(arrived(std::unordered_set<Older>{{9}, {10}}).count("10") == 1);
  REQUIRE(*arrived(std::map<Older, Older>{{{9}, {1}}, {{10}, {2}}}).begin() ==
          (std::pair<const std::string, std::string>("10", "2")));
  REQUIRE(arrived(std::unordered_multimap<Older, int>{{{9}, 1}, {{9}, 2}}).count("9") == 2);
}

/// Comparators, hashes and allocators without default constructors, and with a state, arrive.
void state_of_containers() {
  const std::set<int, Modulo> set({12, 21, 33, 42}, Modulo(10));
  const auto set_there = round_trip(set);
  REQUIRE(set_there == set && set_there.key_comp().by == 10 && *set_there.begin() == 21);
  const std::unordered_map<int, std::string, Modulo, SameModulo> map({{12, "a"}, {21, "b"}}, 4,
                                                                     Modulo(10), SameModulo(10));
  REQUIRE(round_trip(map).at(91) == "b");
  const std::vector<std::string, Numbered<std::string>> texts({"a", "b"}, Numbered<std::string>(3));
  REQUIRE(round_trip(texts) == texts && round_trip(texts).get_allocator().number == 3);
  using Text = std::basic_string<char, std::char_traits<char>, Numbered<char>>;
  REQUIRE(round_trip(Text("text", Numbered<char>(4))).get_allocator().number == 4);
  using List = std::list<Older, Numbered<Older>>;
  const auto list = upcxx::serialization_traits<List>::deserialized_value(
      List({Older{1}, Older{2}}, Numbered<Older>(5)));
  REQUIRE(list.back() == "2" && list.get_allocator().number == 5);
  const std::pmr::vector<std::pmr::string> pmr{"a", "b"};
  REQUIRE(round_trip(pmr) == pmr);
  const std::forward_list<std::string> forward{"a", "b"};
  REQUIRE(round_trip(forward) == forward);
  const std::array<Values, 2> array{Values("a"), Values("b")};
  REQUIRE(round_trip(array)[1].text == "b!");
}

void serialization() {
  state_of_containers();
  arrive_as_another_type();
  REQUIRE(round_trip(Fields(3, "three")) == Fields(3, "three"));
  REQUIRE(round_trip(Values("text")).text == "text!");
  REQUIRE(round_trip(Custom{5}).value == 15);
  REQUIRE(upcxx::serialization_traits<Older>::deserialized_value(Older{7}) == "7");
  static_assert(
      std::is_same<upcxx::deserialized_type_t<std::vector<Older>>, std::vector<std::string>>::value,
      "elements arrive as their own deserialized type");
  REQUIRE(round_trip(Foreign(9)).value == 9);
  const Inheriting inheriting{{3}, "more"};
  static_assert(std::is_same<upcxx::deserialized_type_t<Inheriting>, Custom>::value, "");
  REQUIRE(upcxx::serialization_traits<Inheriting>::deserialized_value(inheriting).value == 9);
  round_trip(Nothing());
  const std::map<std::string, std::vector<std::pair<char, std::string>>> map{
      {"a", {{'b', "c"}, {'d', ""}}}, {"e", {}}};
  REQUIRE(round_trip(map) == map);
  const std::unordered_map<int, std::set<long>> sets{{1, {2, 3}}, {4, {}}};
  REQUIRE(round_trip(sets) == sets);
  const std::tuple<char, std::optional<std::string>, std::array<std::string, 2>, double> mixed{
      'x', "y", {"1", "2"}, 2.5};
  REQUIRE(round_trip(mixed) == mixed);
  const std::list<std::deque<bool>> bits{{true, false}, {}};
  REQUIRE(round_trip(bits) == bits);
  const std::vector<bool> flags{true, false, true};
  REQUIRE(round_trip(flags) == flags);
  static_assert(upcxx::is_trivially_serializable<std::tuple<int, std::pair<char, double>>>::value &&
                    !upcxx::is_trivially_serializable<std::pair<int, std::string>>::value &&
                    upcxx::is_serializable<std::vector<int>>::value &&
                    !upcxx::is_serializable<Deleted>::value &&
                    !upcxx::is_serializable<DeletedToo>::value &&
                    !upcxx::is_serializable<std::unique_ptr<int>>::value &&
                    !upcxx::is_serializable<std::vector<std::unique_ptr<int>>>::value &&
                    !upcxx::is_serializable<std::map<int, Deleted>>::value &&
                    !upcxx::is_serializable<int[3]>::value &&
                    upcxx::is_serializable<const std::string&>::value,
                "");
}

long received = 0;
int twice(int value) {
  return 2 * value;
}
int half(int value) noexcept {
  return value / 2;
}
std::string* where_text() {
  static std::string text = "reference";
  return &text;
}

void calls() {
  const int me = upcxx::rank_me();
  for (int target = 0; target < upcxx::rank_n(); ++target) {
    REQUIRE(rpc(target, [] { return upcxx::rank_me(); }).wait() == target);
    REQUIRE(rpc(target, twice, 21).wait() == 42);
    REQUIRE(rpc(target, &twice, 4).wait() == 8);
    REQUIRE(rpc(target, half, 4).wait() == 2);
    REQUIRE(rpc(
                upcxx::world(), target, [me](int x) { return x + me; }, 1)
                .wait() == me + 1);
    const std::vector<std::string> words{"one", "two"};
    REQUIRE(rpc(
                target, [](std::vector<std::string>&& in) { return in; }, words)
                .wait() == words);
    REQUIRE(rpc(
                target, [](const std::string& in) { return in + "!"; }, std::string("a"))
                .wait() == "a!");
    REQUIRE(rpc(target, []() -> std::string& { return *where_text(); }).wait() == "reference");
    rpc(
        target, [](const upcxx::team& team) { REQUIRE(&team == &upcxx::world()); }, upcxx::world())
        .wait();
    REQUIRE(rpc(
                target, [](int (*function)(int)) { return function(5); }, twice)
                .wait() == 10);

    // No file is verified before its functions are sent.
    static_assert(std::is_base_of<std::exception, upcxx::segment_verification_error>::value, "");
    upcxx::experimental::relo::verify_segment(&twice);
    upcxx::experimental::relo::verify_all();
    // A function of another file than the program, which lies elsewhere in each process.
    REQUIRE(rpc(target, static_cast<int (*)(int)>(std::abs), -4).wait() == 4);
    // What waits elsewhere, as a copy does, is returned by the function of a call.
    const auto here = upcxx::new_<int>(me);
    REQUIRE(rpc(
                target,
                [](upcxx::global_ptr<int> from) {
                  const auto own = upcxx::new_<int>(0);
                  return upcxx::copy(from, own, 1).then([own] {
                    const int value = *own.local();
                    upcxx::delete_(own);
                    return value;
                  });
                },
                here)
                .wait() == me);
    upcxx::delete_(here);

    // What a function returns is awaited at the target, and its arguments live until then.
    const std::vector<int> numbers{1, 2, 3};
    REQUIRE(rpc(
                target,
                [](view<int> in) {
                  return upcxx::current_persona().lpc([] {}).then(
                      [in] { return std::accumulate(in.begin(), in.end(), 0); });
                },
                make_view(numbers))
                .wait() == 6);
    REQUIRE(rpc(
                target,
                [](view<std::string> in) {
                  std::string all;
                  for (const std::string& word : in) all += word;
                  return all;
                },
                make_view(words))
                .wait() == "onetwo");

    // More than a message carries.
    std::vector<double> large(300000);
    std::iota(large.begin(), large.end(), 0.5);
    REQUIRE(rpc(
                target, [](std::vector<double>&& in) { return std::move(in); }, large)
                .wait() == large);
    REQUIRE(rpc(
                target, [](view<double> in) { return in.size() == 300000 && in[5] == 5.5; },
                make_view(large))
                .wait());
  }
}

void without_answer() {
  constexpr int count = 2000;
  const int n = upcxx::rank_n();
  upcxx::barrier();
  received = 0;
  upcxx::barrier();
  for (int i = 0; i < count; ++i)
    rpc_ff((upcxx::rank_me() + i) % n, [](int by) { received += by; }, 1);
  const long expected = upcxx::reduce_all(long(count), upcxx::op_fast_add).wait();
  long sum = 0;
  while (sum < expected) sum = upcxx::reduce_all(received, upcxx::op_fast_add).wait();
  REQUIRE(sum == expected);

  // A put whose arrival calls a function at the target.
  const int peer = (upcxx::rank_me() + 1) % n;
  static long arrived = 0;
  const auto mine = upcxx::new_<long>(0);
  std::vector<upcxx::global_ptr<long>> of;
  for (int rank = 0; rank < n; ++rank) of.push_back(upcxx::broadcast(mine, rank).wait());
  upcxx::dist_object<int> object(upcxx::rank_me());
  upcxx::rput(77L, of[std::size_t(peer)],
              upcxx::remote_cx::as_rpc(
                  [](upcxx::dist_object<int>& part, const upcxx::team& all,
                     upcxx::global_ptr<long> there, const std::string& text) {
                    REQUIRE(*part == upcxx::rank_me() && &all == &upcxx::world());
                    REQUIRE(*there.local() == 77 && text == "arrived");
                    ++arrived;
                  },
                  object, upcxx::world(), of[std::size_t(peer)], std::string("arrived")));
  // What it is called with is that of the call.
  std::vector<int> numbers{1, 2, 3};
  upcxx::rput(77L, of[std::size_t(peer)],
              upcxx::remote_cx::as_rpc(
                  [](const view<int>& in) {
                    REQUIRE(in[0] == 1 && in[2] == 3);
                    ++arrived;
                  },
                  make_view(numbers)));
  numbers.assign(3, 0);
  upcxx::discharge();
  REQUIRE(!upcxx::progress_required());
  while (arrived < 2) upcxx::progress();
  // In a callback, too, and what other personas have begun is theirs to wait for.
  upcxx::promise<> discharged;
  upcxx::current_persona().lpc_ff([&] {
    upcxx::rput(77L, of[std::size_t(peer)], upcxx::operation_cx::as_promise(discharged));
    upcxx::persona other;
    const upcxx::persona_scope scope(other);
    upcxx::discharge();
    REQUIRE(!upcxx::progress_required() && upcxx::in_progress());
  });
  upcxx::progress();
  discharged.finalize().wait();
  upcxx::barrier();
  upcxx::delete_(mine);
}

/// In a steady state neither end of a small call allocates.
void steady_state() {
#ifndef __SANITIZE_ADDRESS__
  static int runs;
  const auto send = [](int target, int until) {
    for (int i = 0; i < 100; ++i) rpc_ff(target, [i] { runs += i < 100; });
    while (runs < until) upcxx::progress();
    for (int i = 0; i < 100; ++i) REQUIRE(rpc(target, [i] { return i; }).wait() == i);
  };
  // More than will have arrived at once.
  for (int i = 0; i < 250; ++i) rpc_ff(upcxx::rank_me(), [i] { received += i; });
  upcxx::progress();
  for (const int target : {upcxx::rank_me(), (upcxx::rank_me() + 1) % upcxx::rank_n()}) {
    runs = 0;
    upcxx::barrier();
    send(target, 100);
    const long before = allocations;
    send(target, 200);
    const long after = allocations;
    REQUIRE(after == before);
    upcxx::barrier();
  }
#endif
}

/// Threads without the master persona call, and wait for their answers.
void threads() {
  constexpr int count = 8;
  constexpr int calls = 100;
  static int runs;
  runs = 0;
  upcxx::barrier();
  std::atomic<int> ended{0};
  std::vector<std::thread> all;
  for (int i = 0; i < count; ++i) {
    all.emplace_back([&ended, i] {
      const int target = (upcxx::rank_me() + i) % upcxx::rank_n();
      for (int j = 0; j < calls; ++j) {
        const std::string answer = rpc(
                                       target,
                                       [](int in) {
                                         REQUIRE(upcxx::master_persona().active_with_caller());
                                         ++runs;
                                         return std::string(300, char(in));
                                       },
                                       'a' + i)
                                       .wait();
        REQUIRE(answer == std::string(300, char('a' + i)));
      }
      ++ended;
    });
  }
  while (ended < count) upcxx::progress();
  for (std::thread& thread : all) thread.join();
  upcxx::barrier();
  REQUIRE(upcxx::reduce_all(runs, upcxx::op_fast_add).wait() == count * calls * upcxx::rank_n());
}

/// With UPCXX_RPC_PROGRESS=1 and UPCXX_RPC_BACKLOG=1M calls make room by themselves.
void calls_make_room() {
  constexpr int count = 200;
  const std::vector<char> large(64 << 10);
  static int runs = 0;
  for (int i = 0; i < count; ++i) {
    rpc_ff(
        upcxx::rank_me(), [](const std::vector<char>&) { ++runs; }, large);
    REQUIRE(i - runs <= 17);
  }
  while (runs < count) upcxx::progress();
}

/// More operations under way than 16 bits count, on one promise and each with a future.
void many_events() {
  constexpr int count = 70000;
  static int runs;
  runs = 0;
  upcxx::promise<> all;
  future<> each = upcxx::make_future();
  for (int i = 0; i < count; ++i) {
    const auto done = upcxx::operation_cx::as_promise(all) | upcxx::operation_cx::as_future();
    each = upcxx::when_all(each, rpc(upcxx::rank_me(), done, [] { ++runs; }));
    if (i % 1000 == 0) upcxx::progress();
  }
  upcxx::when_all(each, all.finalize()).wait();
  REQUIRE(runs == count);
}

struct Unmovable {
  explicit Unmovable(int value) : value(value) {}
  Unmovable(const Unmovable&) = delete;
  int value;
};

void distributed_objects() {
  const int me = upcxx::rank_me();
  const int n = upcxx::rank_n();
  const int peer = (me + 1) % n;
  upcxx::dist_object<std::vector<int>> object({me, 2});
  REQUIRE(object->size() == 2 && object.is_active() && &object.team() == &upcxx::world());
  REQUIRE(object.fetch(peer).wait() == (std::vector<int>{peer, 2}));
  // Made on some ranks later than the calls with it arrive.
  if (me == 0) {
    for (int i = 0; i < 100; ++i) upcxx::progress();
  }
  upcxx::dist_object<Unmovable> place(upcxx::world(), me);
  REQUIRE(rpc(
              peer, [](upcxx::dist_object<Unmovable>& there, int by) { return there->value + by; },
              place, 100)
              .wait() == peer + 100);
  rpc_ff(
      peer, [](const upcxx::dist_object<std::vector<int>>& there) { there->push_back(9); }, object);
  while (object->size() < 3) upcxx::progress();
  REQUIRE(&object.id().here() == &object && &object.id().when_here().wait() == &object);
  upcxx::barrier();
  upcxx::dist_object<std::vector<int>> moved(std::move(object));
  REQUIRE(!object.is_active() && &moved.id().here() == &moved && moved->back() == 9);
  const upcxx::dist_object<std::map<int, std::string>> empty({});
  REQUIRE(empty.is_active() && empty->empty());
  upcxx::dist_object<std::vector<int>> without{};
  REQUIRE(!without.is_active() && !without.has_value());
  without.emplace(3U, 4);
  without.activate();
  REQUIRE(without->size() == 3 && (*without)[0] == 4);
  upcxx::barrier();
}

}  // namespace

int main(int argc, char**) {
  upcxx::init();
  if (argc > 1) {
    calls_make_room();
    upcxx::finalize();
    return 0;
  }
  serialization();
  calls();
  without_answer();
  steady_state();
  threads();
  many_events();
  distributed_objects();
  count_copies();
  upcxx::finalize();
  return 0;
}
