// How often values are copied and moved on their way. Calls are to the caller's own rank, so that
// both ends are counted.
#include "copies.h"

#include <memory>
#include <upcxx/upcxx.hpp>
#include <utility>
#include <vector>

namespace {

using upcxx::future;
using upcxx::make_future;
using upcxx::operation_cx;
using upcxx::rpc;
using upcxx::when_all;

struct Counts {
  int made = 0;
  int copied = 0;
  int moved = 0;
  int destroyed = 0;
};
Counts counts;

/// Counts what becomes of its objects.
class Tracked {
 public:
  explicit Tracked(int value = 0) : value(value) { ++counts.made; }
  Tracked(const Tracked& other) : value(other.value) { ++counts.copied; }
  Tracked(Tracked&& other) noexcept : value(std::exchange(other.value, -1)) { ++counts.moved; }
  Tracked& operator=(const Tracked& other) {
    value = other.value;
    ++counts.copied;
    return *this;
  }
  Tracked& operator=(Tracked&& other) noexcept {
    value = std::exchange(other.value, -1);
    ++counts.moved;
    return *this;
  }
  ~Tracked() { ++counts.destroyed; }
  int value;
};

struct Fields : Tracked {
  using Tracked::Tracked;
  UPCXX_SERIALIZED_FIELDS(value)
};
struct Values : Tracked {
  using Tracked::Tracked;
  UPCXX_SERIALIZED_VALUES(value)
};
struct Custom : Tracked {
  using Tracked::Tracked;
  struct upcxx_serialization {
    template <class Writer>
    static void serialize(Writer& writer, const Custom& custom) {
      writer.write(custom.value);
    }
    template <class Reader, class Storage>
    static Custom* deserialize(Reader& reader, Storage storage) {
      return storage.construct(reader.template read<int>());
    }
  };
};
struct Bytes : Tracked {
  using Tracked::Tracked;
};

}  // namespace

template <>
struct upcxx::is_trivially_serializable<Bytes> : std::true_type {};

namespace {

template <class Run>
void expect(const char* what, int copied, int moved, Run&& run) {
  const Counts before = counts;
  run();
  const int copies = counts.copied - before.copied;
  const int moves = counts.moved - before.moved;
  UPCXX_ASSERT_ALWAYS(copies == copied && moves == moved,
                      what << ": " << copies << " copies and " << moves << " moves");
}

/// Runs what has arrived.
template <class Ready>
void until(Ready&& ready) {
  while (!ready()) upcxx::progress();
}

template <class T>
void arguments() {
  const int me = upcxx::rank_me();
  T value(7);
  const int made = counts.made;
  expect("an lvalue", 0, 0, [&] {
    rpc(
        me, [](const T& in) { UPCXX_ASSERT_ALWAYS(in.value == 7); }, value)
        .wait();
  });
  expect("an rvalue", 0, 0, [&] {
    rpc(
        me, [](T&&) {}, std::move(value))
        .wait();
  });
  expect("a parameter that is a value", 0, 1, [&] {
    rpc(
        me, [](T) {}, value)
        .wait();
  });
  static bool ran;
  ran = false;
  expect("rpc_ff", 0, 0, [&] {
    upcxx::rpc_ff(
        me, [](const T&) { ran = true; }, value);
    until([] { return ran; });
  });
  expect("arguments that are kept for a future", 0, 0, [&] {
    rpc(
        me,
        [](const T& in) {
          return upcxx::current_persona().lpc([] {}).then(
              [&in] { UPCXX_ASSERT_ALWAYS(in.value == 7); });
        },
        value)
        .wait();
  });
  // Copies of bytes were not constructed, and are not destroyed.
  const int arrived = upcxx::is_trivially_serializable<T>::value ? 0 : 5;
  UPCXX_ASSERT_ALWAYS(counts.made - made == arrived);
  expect("elements", 0, 3, [&] {
    std::vector<T> all(3);
    rpc(
        me, [](const std::vector<T>& in) { UPCXX_ASSERT_ALWAYS(in.size() == 3); }, all)
        .wait();
  });
}

template <class T>
void results() {
  const int me = upcxx::rank_me();
  static T there(5);
  // One to the future, one from it.
  expect("a result", 0, 2,
         [&] { UPCXX_ASSERT_ALWAYS(rpc(me, [] { return T(6); }).wait().value == 6); });
  expect("a result by reference", 0, 2,
         [&] { rpc(me, []() -> const T& { return there; }).wait(); });
  expect("a result that is used in its future", 0, 1,
         [&] { rpc(me, []() -> const T& { return there; }).then([](const T&) {}).wait(); });
  expect("a result for a promise", 0, 1, [&] {
    upcxx::promise<T> answer;
    rpc(me, operation_cx::as_promise(answer), []() -> const T& { return there; });
    answer.finalize().wait_reference();
  });
  expect("a result that several futures have", 1, 1, [&] {
    const future<T> first = rpc(me, []() -> const T& { return there; });
    const future<T> second = first;
    UPCXX_ASSERT_ALWAYS(future<T>(second).wait().value == 5 && first.is_ready());
  });
}

void elements_of_views() {
  const std::vector<Custom> all(3);
  const int made = counts.made;
  expect("elements of a view", 0, 3, [&] {
    rpc(
        upcxx::rank_me(),
        [](upcxx::view<Custom> in) {
          for (const Custom& element : in) UPCXX_ASSERT_ALWAYS(element.value == 0);
        },
        upcxx::make_view(all))
        .wait();
  });
  UPCXX_ASSERT_ALWAYS(counts.made - made == 3);
}

void futures() {
  Custom value(1);
  expect("make_future", 1, 1, [&] {
    make_future(value);
    make_future(Custom());
  });
  expect("then", 0, 2, [&] {
    upcxx::promise<> start;
    const auto late = start.get_future().then([] { return Custom(); });
    start.finalize();
    make_future().then([] { return Custom(); });
  });
  const future<Custom> one = make_future(value);
  expect("when_all with one value", 0, 0, [&] { when_all(one, make_future()); });
  expect("when_all of futures that others have", 2, 0, [&] { when_all(one, one); });
  expect("when_all of futures that no others have", 0, 4,
         [&] { when_all(make_future(Custom()), Custom()); });
  expect("when_all that is ready later", 0, 4, [&] {
    upcxx::promise<> start;
    const auto both = when_all(start.get_future().then([] { return Custom(); }), Custom());
    start.finalize();
    UPCXX_ASSERT_ALWAYS(both.is_ready());
  });
  expect("results of a future that is not needed any more", 1, 3, [&] {
    make_future(Custom()).wait();
    when_all(make_future(std::make_unique<int>(1)), std::make_unique<int>(2)).wait();
    future<Custom> last = make_future(value);
    std::move(last).result();
  });
  expect("an lpc", 0, 3, [&] { upcxx::current_persona().lpc([] { return Custom(); }).wait(); });
}

void completions() {
  const auto number = upcxx::new_<int>(0);
  const upcxx::dist_object<upcxx::global_ptr<int>> numbers(number);
  const auto there = numbers.fetch((upcxx::rank_me() + 1) % upcxx::rank_n()).wait();
  static int arrived;
  const auto count = [](const Custom& in) { arrived += in.value; };
  Custom value(1);
  arrived = 0;
  upcxx::barrier();
  // Counted here is this rank's end, and what has arrived from another. Completions are tuples,
  // into which they are moved.
  expect("as_rpc", 1, 3, [&] {
    upcxx::rput(1, there, upcxx::remote_cx::as_rpc(count, value));
    upcxx::rput(1, there, upcxx::remote_cx::as_rpc(count, Custom(1)));
    until([] { return arrived == 2; });
  });
  const auto how = operation_cx::as_lpc(upcxx::current_persona(), [value](int) { ++arrived; });
  expect("as_lpc", 1, there.is_local() ? 1 : 3, [&] {
    upcxx::rget(there, how);
    until([] { return arrived == 3; });
  });
  upcxx::barrier();
  upcxx::delete_(number);
}

void collectives() {
  const upcxx::dist_object<Custom> object(upcxx::world(), 3);
  expect("dist_object", 0, 1, [] { const upcxx::dist_object<Custom> other(Custom(3)); });
  expect("fetch", 0, 2, [&] { object.fetch(upcxx::rank_me()).wait(); });
  upcxx::barrier();
  namespace experimental = upcxx::experimental;
  const int copied = counts.copied;
  experimental::broadcast_nontrivial(Custom(2), 0).wait();
  const auto add = [](const Custom& a, const Custom& b) { return Custom(a.value + b.value); };
  const Custom sum = experimental::reduce_all_nontrivial(Custom(1), add).wait();
  UPCXX_ASSERT_ALWAYS(sum.value == upcxx::rank_n() && counts.copied == copied);
  upcxx::barrier();
}

}  // namespace

void count_copies() {
  arguments<Fields>();
  arguments<Values>();
  arguments<Custom>();
  arguments<Bytes>();
  results<Fields>();
  results<Custom>();
  elements_of_views();
  futures();
  completions();
  collectives();
  // All but the two that functions keep.
  UPCXX_ASSERT_ALWAYS(
      counts.made + counts.copied + counts.moved - counts.destroyed == 2,
      counts.made << " " << counts.copied << " " << counts.moved << " " << counts.destroyed);
}
