// Atomics, puts and gets of several ranges, copies, collectives of serialized values, and the
// smaller parts, between all ranks. Prints nothing and ends with 0 if all is right.
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <upcxx/upcxx.hpp>
#include <vector>

namespace {

using upcxx::atomic_op;
using upcxx::global_ptr;
using upcxx::operation_cx;

#define REQUIRE(test) UPCXX_ASSERT_ALWAYS((test), "failed: " << #test)

/// An array on every rank, and the pointers to all of them.
template <class T>
class Arrays {
 public:
  explicit Arrays(std::size_t count) : own_(upcxx::new_array<T>(count)) {
    for (int rank = 0; rank < upcxx::rank_n(); ++rank) {
      all_.push_back(upcxx::broadcast(own_, rank).wait());
    }
    std::fill_n(own_.local(), count, T());
    upcxx::barrier();
  }
  ~Arrays() {
    upcxx::barrier();
    upcxx::delete_array(own_);
  }
  T* own() const { return own_.local(); }
  global_ptr<T> of(int rank) const { return all_[std::size_t(rank)]; }

 private:
  global_ptr<T> own_;
  std::vector<global_ptr<T>> all_;
};

template <class T>
void atomics_of_type() {
  constexpr auto relaxed = std::memory_order_relaxed;
  constexpr auto both = std::memory_order_acq_rel;
  std::vector<atomic_op> ops{atomic_op::load,
                             atomic_op::store,
                             atomic_op::add,
                             atomic_op::fetch_add,
                             atomic_op::sub,
                             atomic_op::fetch_sub,
                             atomic_op::mul,
                             atomic_op::fetch_mul,
                             atomic_op::min,
                             atomic_op::fetch_min,
                             atomic_op::max,
                             atomic_op::fetch_max,
                             atomic_op::inc,
                             atomic_op::fetch_inc,
                             atomic_op::dec,
                             atomic_op::fetch_dec,
                             atomic_op::compare_exchange};
  if constexpr (std::is_integral<T>::value) {
    for (const atomic_op op :
         {atomic_op::bit_and, atomic_op::fetch_bit_and, atomic_op::bit_or, atomic_op::fetch_bit_or,
          atomic_op::bit_xor, atomic_op::fetch_bit_xor}) {
      ops.push_back(op);
    }
  }
  upcxx::atomic_domain<T> domain(ops);
  const Arrays<T> arrays(2);
  const int n = upcxx::rank_n();
  const auto own = arrays.of((upcxx::rank_me() + 1) % n);
  // One writer for each object: every operation once.
  domain.store(own, 10, std::memory_order_release).wait();
  domain.add(own, 5, relaxed).wait();
  REQUIRE(domain.fetch_add(own, 1, relaxed).wait() == 15);
  domain.sub(own, 2, relaxed).wait();
  REQUIRE(domain.fetch_sub(own, 4, relaxed).wait() == 14);
  domain.mul(own, 3, relaxed).wait();
  REQUIRE(domain.fetch_mul(own, 2, both).wait() == 30);
  domain.min(own, 50, relaxed).wait();
  REQUIRE(domain.fetch_min(own, 100, relaxed).wait() == 50);
  domain.max(own, 60, relaxed).wait();
  REQUIRE(domain.fetch_max(own, 1, relaxed).wait() == 60);
  domain.inc(own, relaxed).wait();
  REQUIRE(domain.fetch_inc(own, relaxed).wait() == 61);
  domain.dec(own, relaxed).wait();
  REQUIRE(domain.fetch_dec(own, relaxed).wait() == 61);
  REQUIRE(domain.compare_exchange(own, 1, 2, relaxed).wait() == 60);
  REQUIRE(domain.compare_exchange(own, 60, 12, both).wait() == 60);
  T old = 0;
  domain.fetch_add(own, 1, &old, relaxed).wait();
  REQUIRE(old == 12);
  domain.fetch_inc_into(own, &old, relaxed).wait();
  REQUIRE(old == 13);
  domain.load_into(own, &old, std::memory_order_acquire).wait();
  REQUIRE(old == 14);
  domain.compare_exchange(own, 14, 12, &old, relaxed).wait();
  REQUIRE(old == 14);
  if constexpr (std::is_integral<T>::value) {
    domain.bit_and(own, 8, relaxed).wait();
    REQUIRE(domain.fetch_bit_and(own, 15, relaxed).wait() == 8);
    domain.bit_or(own, 3, relaxed).wait();
    REQUIRE(domain.fetch_bit_or(own, 4, relaxed).wait() == 11);
    domain.bit_xor(own, 1, relaxed).wait();
    REQUIRE(domain.fetch_bit_xor(own, 2, relaxed).wait() == 14);
    REQUIRE(domain.load(own, relaxed).wait() == 12);
  }
  // All ranks on one object, by every kind of completion.
  const auto shared = arrays.of(0) + 1;
  upcxx::promise<> counted;
  upcxx::promise<T> value;
  bool was_called = false;
  domain.add(shared, 1, relaxed, operation_cx::as_promise(counted));
  domain.fetch_inc(shared, relaxed, operation_cx::as_promise(value));
  domain.fetch_add(shared, 1, relaxed,
                   operation_cx::as_lpc(upcxx::current_persona(), [&](T) { was_called = true; }));
  REQUIRE(domain.fetch_add(shared, 1, relaxed, operation_cx::as_blocking()) >= 0);
  counted.finalize().wait();
  value.finalize().wait();
  while (!was_called) upcxx::progress();
  upcxx::barrier();
  REQUIRE(domain.load(shared, relaxed).wait() == T(4 * n));
  upcxx::atomic_domain<T> moved(std::move(domain));
  REQUIRE(moved.is_active() && !domain.is_active());
  moved.destroy();
}

void atomics() {
  atomics_of_type<int>();
  atomics_of_type<unsigned>();
  atomics_of_type<long>();
  atomics_of_type<unsigned long long>();
  atomics_of_type<float>();
  atomics_of_type<double>();
}

void several_ranges() {
  const Arrays<int> arrays(100);
  const int peer = (upcxx::rank_me() + 1) % upcxx::rank_n();
  const auto there = arrays.of(peer);
  std::vector<int> source(100);
  std::iota(source.begin(), source.end(), 0);

  const std::vector<std::pair<const int*, std::size_t>> from{{&source[5], 3}, {&source[50], 4}};
  const std::vector<std::pair<global_ptr<int>, std::size_t>> to{
      {there, 2}, {there + 10, 1}, {there + 20, 4}};
  static int arrived = 0;
  upcxx::rput_irregular(
      from.begin(), from.end(), to.begin(), to.end(),
      operation_cx::as_future() | upcxx::remote_cx::as_rpc([](int count) { arrived += count; }, 7))
      .wait();
  std::vector<int> back(7, -1);
  const std::tuple<int*, std::size_t> into[] = {std::make_tuple(back.data(), std::size_t(7))};
  upcxx::rget_irregular(to.begin(), to.end(), into, into + 1).wait();
  REQUIRE(back == (std::vector<int>{5, 6, 7, 50, 51, 52, 53}));
  while (arrived == 0) upcxx::progress();
  REQUIRE(arrived == 7);

  const int* const starts[] = {&source[10], &source[20], &source[30]};
  const global_ptr<int> places[] = {there + 40, there + 50};
  auto [free, done] =
      upcxx::rput_regular(starts, starts + 3, 4, places, places + 2, 6,
                          upcxx::source_cx::as_future() | operation_cx::as_future());
  upcxx::when_all(free, done).wait();
  std::vector<int> pair(12, -1);
  int* const halves[] = {&pair[0], &pair[6]};
  upcxx::rget_regular(places, places + 2, 6, halves, halves + 2, 6).wait();
  REQUIRE(pair == (std::vector<int>{10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33}));

  // Rows of 10: a block of 3 x 2, transposed.
  upcxx::rput_strided<2>(source.data(), {{40, 4}}, there, {{4, 40}}, {{3, 2}}).wait();
  int block[6] = {};
  const std::ptrdiff_t rows[] = {4, 40};
  const std::ptrdiff_t packed[] = {4, 12};
  const std::size_t extents[] = {3, 2};
  upcxx::rget_strided<2>(there, rows, block, packed, extents).wait();
  REQUIRE(block[0] == 0 && block[1] == 10 && block[2] == 20 && block[3] == 1 && block[5] == 21);
  upcxx::rput_strided<0>(&source[77], {}, there + 99, {}, {}).wait();
  REQUIRE(upcxx::rget(there + 99).wait() == 77);
  upcxx::barrier();
}

/// It declares that its bytes are enough.
class Declared {
 public:
  explicit Declared(int number) : number_(number) {}
  Declared(const Declared& other) : number_(other.number_) {}
  Declared& operator=(const Declared& other) = default;
  ~Declared() {}
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace
template <>
struct upcxx::is_trivially_serializable<Declared> : std::true_type {};
namespace {

/// Types that are not trivially copyable, but trivially serializable.
void declared_types() {
  using Pair = std::pair<int, Declared>;
  const int me = upcxx::rank_me();
  const int n = upcxx::rank_n();
  const auto own = upcxx::new_<Pair>(0, Declared(0));
  const auto there = upcxx::broadcast(own, n - 1).wait();
  if (me == 0) upcxx::rput(Pair(1, Declared(7)), there).wait();
  upcxx::barrier();
  REQUIRE(upcxx::broadcast(Pair(me, Declared(me)), n - 1).wait().second.number() == n - 1);
  const Pair got = upcxx::rget(there).wait();
  REQUIRE(got.first == 1 && got.second.number() == 7);
  const auto larger = [](const Pair& a, const Pair& b) { return a.first < b.first ? b : a; };
  REQUIRE(upcxx::reduce_all(Pair(me, Declared(2 * me)), larger).wait().second.number() ==
          2 * (n - 1));
  upcxx::barrier();
  upcxx::delete_(own);
}

void collectives_of_values() {
  const int me = upcxx::rank_me();
  const int n = upcxx::rank_n();
  for (int root = 0; root < n; ++root) {
    const std::vector<std::string> words{std::to_string(root), "word"};
    REQUIRE(upcxx::experimental::broadcast_nontrivial(
                me == root ? words : std::vector<std::string>(), root)
                .wait() == words);
    const std::string all = upcxx::experimental::reduce_one_nontrivial(
                                std::string("x"), upcxx::experimental::op_add, root)
                                .wait();
    REQUIRE(me != root || all == std::string(std::size_t(n), 'x'));
  }
  upcxx::promise<std::string> longest;
  upcxx::experimental::reduce_all_nontrivial(std::string(std::size_t(me + 1), 'y'),
                                             upcxx::experimental::op_max, upcxx::world(),
                                             operation_cx::as_promise(longest));
  REQUIRE(longest.finalize().wait() == std::string(std::size_t(n), 'y'));
  REQUIRE(upcxx::reduce_all(me > 0, upcxx::op_fast_add).wait() == (n > 1));
  REQUIRE(!upcxx::reduce_all(me > 0, upcxx::op_fast_mul).wait());
  upcxx::promise<> passed;
  upcxx::barrier_async(upcxx::world(), operation_cx::as_promise(passed));
  passed.finalize().wait();
}

void created_teams() {
  const int me = upcxx::rank_me();
  const int n = upcxx::rank_n();
  // The last rank is in no team; the others are in one, in reverse order.
  std::vector<long> ranks;
  for (int rank = n - 2; rank >= 0 && me < n - 1; --rank) ranks.push_back(rank);
  upcxx::team most = upcxx::world().create(ranks);
  REQUIRE(most.is_active() == (me < n - 1));
  if (most.is_active()) {
    REQUIRE(most.rank_n() == n - 1 && most.rank_me() == n - 2 - me && most[0] == n - 2);
    REQUIRE(upcxx::reduce_all(1, upcxx::op_fast_add, most).wait() == n - 1);
    REQUIRE(&most.id().when_here().wait() == &most);
    upcxx::rpc(
        most, 0, [](const upcxx::team& there) { REQUIRE(there.rank_me() == 0); }, most)
        .wait();
    most.destroy();
  }
  const int alone[] = {me};
  upcxx::team own = upcxx::world().create(alone, 1);
  REQUIRE(own.rank_n() == 1 && own[0] == me);
  own.destroy();
  const auto [index, count] = upcxx::local_team_position();
  REQUIRE(index >= 0 && index < count);
}

struct Layout {
  int first;
  double second[4];
  struct {
    char letter;
  } inner;
};
class Private {
 public:
  virtual ~Private() = default;
  long value = 5;
  int numbers[3] = {1, 2, 3};
};

void members() {
  const Arrays<Layout> arrays(2);
  const auto there = arrays.of((upcxx::rank_me() + 1) % upcxx::rank_n()) + 1;
  const global_ptr<double> second = upcxx_memberof(there, second);
  upcxx::rput(2.5, second + 3).wait();
  const global_ptr<char> letter = upcxx_memberof(there, inner.letter);
  upcxx::rput('z', letter).wait();
  upcxx::barrier();
  REQUIRE(arrays.own()[1].second[3] == 2.5 && arrays.own()[1].inner.letter == 'z');

  const auto own = upcxx::new_<Private>();
  const auto peers = upcxx::broadcast(own, upcxx::rank_n() - 1).wait();
  const global_ptr<long> value = upcxx_memberof_general(peers, value).wait();
  const global_ptr<int> numbers = upcxx_memberof_general(peers, numbers).wait();
  REQUIRE(upcxx::rget(value).wait() == 5 && upcxx::rget(numbers + 2).wait() == 3);
  upcxx::barrier();
  upcxx::delete_(own);
}

void lines() {
  std::ostringstream text;
  upcxx::experimental::say(text, "<%d> ") << "one " << 2;
  REQUIRE(text.str() == "<" + std::to_string(upcxx::rank_me()) + "> one 2\n");
  REQUIRE(upcxx::experimental::os_env<int>("UPCXX_NO_SUCH_VARIABLE", 3) == 3);
  REQUIRE(upcxx::experimental::os_env("UPCXX_NO_SUCH_VARIABLE", 5, 1024) == 5);
}

/// Between host memory and devices of all ranks, from a rank that has one end, both or neither.
void devices() {
  using Device = upcxx::gpu_default_device;
  if (Device::device_n() == 0) {
    auto none = upcxx::make_gpu_allocator<Device>(1 << 16);
    REQUIRE(!none.is_active() && none.device_id() == Device::invalid_device_id);
    upcxx::hip_device hip;
    REQUIRE(!hip.is_active() && upcxx::hip_device::device_n() == 0);
    return;
  }
  constexpr std::size_t count = 100;
  constexpr auto any = upcxx::memory_kind::any;
  Device device(0);
  upcxx::device_allocator<Device> allocator(device, 1 << 16);
  REQUIRE(allocator.is_active() && allocator.segment_size() == 1 << 16);
  const auto block = allocator.allocate<int>(3 * count);
  REQUIRE(!block.is_null() && !block.is_local() && block.where() == upcxx::rank_me() &&
          block.dynamic_kind() == Device::kind && allocator.segment_used() >= 1200);
  REQUIRE(allocator.to_global_ptr(allocator.local(block) + 2) == block + 2 &&
          allocator.device_id(block) == 0);
  REQUIRE(allocator.allocate<int>(1 << 20).is_null());
  const Arrays<int> host(3 * count);
  std::vector<global_ptr<int, any>> ends;
  for (int rank = 0; rank < upcxx::rank_n(); ++rank) {
    ends.push_back(host.of(rank));
    ends.push_back(upcxx::broadcast(block, rank).wait());
  }
  // One rank after the other, from every end to every other.
  for (int turn = 0; turn < upcxx::rank_n(); ++turn) {
    for (std::size_t from = 0; turn == upcxx::rank_me() && from < ends.size(); ++from) {
      for (std::size_t to = 0; to < ends.size(); ++to) {
        std::vector<int> values(count);
        std::iota(values.begin(), values.end(), int(100 * from + to));
        upcxx::copy(values.data(), ends[from], count,
                    upcxx::source_cx::as_buffered() | operation_cx::as_future())
            .wait();
        static bool arrived;
        arrived = false;
        upcxx::copy(ends[from], ends[to] + count, count,
                    operation_cx::as_future() |
                        upcxx::remote_cx::as_rpc(
                            [](int rank) { upcxx::rpc_ff(rank, [] { arrived = true; }); },
                            upcxx::rank_me()))
            .wait();
        std::vector<int> found(count);
        upcxx::copy(ends[to] + count, found.data(), count).wait();
        REQUIRE(found == values);
        while (!arrived) upcxx::progress();
      }
    }
    upcxx::barrier();
  }
  allocator.deallocate(block);
  REQUIRE(allocator.segment_used() == 0);
  upcxx::device_allocator<Device> moved(std::move(allocator));
  REQUIRE(moved.is_active() && !allocator.is_active());
  device.destroy();
  REQUIRE(!moved.is_active() && !device.is_active());
  auto next = upcxx::make_gpu_allocator(1 << 16);
  REQUIRE(next.is_active() && next.device_id() >= 0 && !next.allocate<double>(5).is_null());
  bool has_thrown = false;
  try {
    Device large(0);
    upcxx::device_allocator<Device> too_large(
        large, upcxx::rank_me() == 0 ? std::size_t(1) << 50 : std::size_t(1) << 16);
  } catch (const upcxx::bad_segment_alloc&) {
    has_thrown = true;
  }
  REQUIRE(has_thrown);
  next.destroy();
}

/// A pointer that programs take apart to keep copies of what it refers to.
struct Cached : global_ptr<const int> {
  explicit Cached(const global_ptr<int>& pointer) : global_ptr<const int>(pointer) {}
  upcxx::intrank_t rank() { return private_detail_do_not_use_rank_; }
  char*& address() { return reinterpret_cast<char*&>(private_detail_do_not_use_raw_ptr_); }
};

/// Parts of the original that are not in its specification, and that programs use.
void names_of_programs() {
  const auto number = upcxx::new_<int>(1);
  Cached cached(number);
  REQUIRE(cached.rank() == upcxx::rank_me());
  REQUIRE(cached.address() == reinterpret_cast<char*>(number.local()));
  upcxx::delete_(number);
  static_assert(
      std::is_same<std::decay_t<decltype(upcxx::op_fast_min)>,
                   upcxx::detail::op_wrap<upcxx::detail::opfn_min_not_max<true>, true>>());
  static_assert(std::is_same<std::decay_t<decltype(upcxx::op_fast_add)>,
                             upcxx::detail::op_wrap<upcxx::detail::opfn_add, true>>());
  REQUIRE(upcxx::reduce_all(1, upcxx::op_add).wait() == upcxx::rank_n());
  REQUIRE(upcxx::broadcast_nontrivial(std::string("text"), 0).wait() == "text");
  // The header brings <iostream>.
  REQUIRE(std::cerr.good());
}

}  // namespace

int main() {
  upcxx::init();
  atomics();
  several_ranges();
  declared_types();
  collectives_of_values();
  created_teams();
  members();
  lines();
  devices();
  names_of_programs();
  upcxx::finalize();
  return 0;
}
