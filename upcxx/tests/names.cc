// Every name of the interface, with the types that calls of it have: it compiles, and that is the
// test. Sections as in the specification. No function here is called.
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <sstream>
#include <upcxx/upcxx.hpp>

namespace {

using std::declval;
using upcxx::future;
using upcxx::global_ptr;
using upcxx::intrank_t;
using upcxx::memory_kind;
using upcxx::persona;
using upcxx::promise;
using upcxx::team;

template <class A, class B>
inline constexpr bool is_same = std::is_same<A, B>::value;
#define HAS_TYPE(type, ...) static_assert(is_same<decltype(__VA_ARGS__), type>, #__VA_ARGS__)
#define IS(trait, ...) static_assert(std::trait<__VA_ARGS__>::value, #trait " " #__VA_ARGS__)
#define IS_NOT(trait, ...) static_assert(!std::trait<__VA_ARGS__>::value, #trait " " #__VA_ARGS__)

struct Base {
  int number = 0;
};
struct Derived : Base {
  double more[2] = {};
};

// The job and the header.
static_assert(UPCXX_VERSION >= 20251000L && UPCXX_SPEC_VERSION >= 20230900L, "YYYYMMPP");
static_assert(UPCXX_NETWORK_SMP + 0 != 0, "the label");
static_assert(UPCXX_MAX_VALUE_SIZE == 512 && UPCXX_MAX_RPC_ARG_SIZE == 512, "the defaults");
#if defined(UPCXX_THREADMODE) || !defined(UPCXX_BACKEND_GASNET_SEQ)
#error "without -DUPCXX_THREADMODE the mode is seq"
#endif
#if defined(UPCXX_KIND_HIP) || defined(UPCXX_KIND_ZE) || UPCXX_KIND_CUDA + 0 < 0
#error "only CUDA's kind is there, and its macro is a number"
#endif
IS(is_base_of, upcxx::gpu_device, upcxx::gpu_default_device);
HAS_TYPE(long, upcxx::release_version());
HAS_TYPE(long, upcxx::spec_version());
HAS_TYPE(void, upcxx::init());
HAS_TYPE(bool, upcxx::initialized());
HAS_TYPE(void, upcxx::finalize());
HAS_TYPE(intrank_t, upcxx::rank_me());
HAS_TYPE(intrank_t, upcxx::rank_n());
HAS_TYPE(char*, upcxx::getenv_console("A"));
IS(is_signed, intrank_t);
void assertions() {
  UPCXX_ASSERT(true);
  UPCXX_ASSERT(true, "a" << 1);
  UPCXX_ASSERT_ALWAYS(true);
  UPCXX_ASSERT_ALWAYS(true, "a" << 1);
  HAS_TYPE(void, UPCXX_ASSERT(true));
  if (upcxx::rank_me() < 0) upcxx::fatal_error("message");
}

// Global pointers.
using Int = global_ptr<int>;
using ConstInt = global_ptr<const int>;
using AnyInt = global_ptr<int, memory_kind::any>;
static_assert(memory_kind::host != memory_kind::cuda_device &&
                  memory_kind::hip_device != memory_kind::ze_device,
              "kinds");
IS(is_base_of, ConstInt, Int);
IS(is_trivially_copyable, Int);
IS(is_trivially_destructible, Int);
IS(is_default_constructible, Int);
IS(is_convertible, std::nullptr_t, Int);
IS(is_convertible, Int, AnyInt);
IS(is_convertible, Int, ConstInt);
IS_NOT(is_convertible, ConstInt, Int);
static_assert(is_same<Int::element_type, int> && is_same<ConstInt::element_type, const int>, "");
static_assert(is_same<Int::pointer_type, int*> && Int::kind == memory_kind::host, "");
static_assert(upcxx::is_trivially_serializable<Int>::value, "");
HAS_TYPE(bool, Int().is_null());
HAS_TYPE(bool, Int().is_local());
HAS_TYPE(int*, Int().local());
HAS_TYPE(const int*, ConstInt().local());
HAS_TYPE(intrank_t, Int().where());
HAS_TYPE(memory_kind, AnyInt().dynamic_kind());
HAS_TYPE(Int, Int() + 1);
HAS_TYPE(Int, Int() - 1);
HAS_TYPE(Int, 1 + Int());
HAS_TYPE(Int, declval<Int&>()++);
HAS_TYPE(Int, declval<Int&>()--);
HAS_TYPE(Int&, ++declval<Int&>());
HAS_TYPE(Int&, --declval<Int&>());
HAS_TYPE(Int&, declval<Int&>() += 1);
HAS_TYPE(Int&, declval<Int&>() -= 1);
HAS_TYPE(std::ptrdiff_t, Int() - ConstInt());
HAS_TYPE(bool, Int() == ConstInt());
HAS_TYPE(bool, Int() != ConstInt());
HAS_TYPE(bool, Int() < ConstInt());
HAS_TYPE(bool, Int() <= ConstInt());
HAS_TYPE(bool, Int() > ConstInt());
HAS_TYPE(bool, Int() >= ConstInt());
HAS_TYPE(bool, bool(Int()));
HAS_TYPE(bool, std::less<Int>()(Int(), Int()));
HAS_TYPE(bool, std::less_equal<Int>()(Int(), Int()));
HAS_TYPE(bool, std::greater<Int>()(Int(), Int()));
HAS_TYPE(bool, std::greater_equal<Int>()(Int(), Int()));
HAS_TYPE(std::size_t, std::hash<Int>()(Int()));
HAS_TYPE(std::ostream&, declval<std::ostream&>() << Int());
HAS_TYPE(Int, upcxx::to_global_ptr(declval<int*>()));
HAS_TYPE(Int, upcxx::try_global_ptr(declval<int*>()));
HAS_TYPE(ConstInt, upcxx::to_global_ptr(declval<const int*>()));
HAS_TYPE(global_ptr<Base>, upcxx::static_pointer_cast<Base>(global_ptr<Derived>()));
HAS_TYPE(global_ptr<char>, upcxx::reinterpret_pointer_cast<char>(Int()));
HAS_TYPE(Int, upcxx::const_pointer_cast<int>(ConstInt()));
HAS_TYPE(Int, upcxx::static_kind_cast<memory_kind::host>(AnyInt()));
HAS_TYPE(Int, upcxx::dynamic_kind_cast<memory_kind::host>(AnyInt()));

// The shared heap.
IS(is_base_of, std::bad_alloc, upcxx::bad_shared_alloc);
HAS_TYPE(global_ptr<Base>, upcxx::new_<Base>());
HAS_TYPE(global_ptr<std::string>, upcxx::new_<std::string>(std::nothrow, "a"));
HAS_TYPE(Int, upcxx::new_array<int>(1));
HAS_TYPE(Int, upcxx::new_array<int>(1, std::nothrow));
HAS_TYPE(void, upcxx::delete_(Int()));
HAS_TYPE(void, upcxx::delete_array(Int()));
HAS_TYPE(void*, upcxx::allocate(16));
HAS_TYPE(void*, upcxx::allocate(16, 16));
HAS_TYPE(Int, upcxx::allocate<int>());
HAS_TYPE(Int, upcxx::allocate<int>(1, 64));
HAS_TYPE(void, upcxx::deallocate(declval<void*>()));
HAS_TYPE(void, upcxx::deallocate(Int()));
HAS_TYPE(std::int64_t, upcxx::shared_segment_size());
HAS_TYPE(std::int64_t, upcxx::shared_segment_used());
void members(global_ptr<Derived> there) {
  HAS_TYPE(global_ptr<double>, upcxx_memberof(there, more));
  HAS_TYPE(future<Int>, upcxx_memberof_general(there, number));
  HAS_TYPE(Int, upcxx_experimental_memberof_unsafe(there, number));
}

// Futures and promises.
using Two = future<int, std::string>;
IS(is_default_constructible, Two);
IS(is_copy_constructible, Two);
IS(is_move_assignable, Two);
HAS_TYPE(bool, Two().is_ready());
HAS_TYPE(bool, Two().ready());
HAS_TYPE(int, Two().result<0>());
HAS_TYPE(void, Two().result<2>());
HAS_TYPE(void, future<>().result());
HAS_TYPE(int, future<int>().result());
HAS_TYPE(int&, future<int&>().result());
using TwoValues = std::tuple<int, std::string>;
HAS_TYPE(TwoValues, Two().result());
HAS_TYPE(TwoValues, Two().result_tuple());
HAS_TYPE(const int&, future<int>().result_reference());
HAS_TYPE(const std::string&, Two().result_reference<1>());
HAS_TYPE(TwoValues, Two().wait());
HAS_TYPE(std::string, Two().wait<1>());
HAS_TYPE(const int&, future<int>().wait_reference());
HAS_TYPE(TwoValues, Two().wait_tuple());
HAS_TYPE(int, future<int>().wait([] {}));
HAS_TYPE(future<>, future<int>().then([](int) {}));
HAS_TYPE(future<long>, Two().then([](int, const std::string&) { return 1L; }));
HAS_TYPE(Two, future<>().then([] { return Two(); }));
HAS_TYPE(future<int>, upcxx::make_future(1));
HAS_TYPE(future<>, upcxx::make_future());
HAS_TYPE(future<int>, upcxx::to_future(1));
HAS_TYPE(future<int>, upcxx::to_future(future<int>()));
IS(is_convertible, decltype(upcxx::when_all(future<int>(), std::string(), future<>())), Two);
IS(is_convertible, decltype(upcxx::when_all()), future<>);
IS(is_convertible, decltype(when_all(future<int>(), future<>())), future<int>);
void promises(const promise<int>& one, const promise<>& none) {
  IS(is_copy_constructible, promise<int>);
  const promise<int> several(3);
  IS(is_default_constructible, promise<int>);
  HAS_TYPE(void, none.require_anonymous(1));
  HAS_TYPE(void, none.fulfill_anonymous(1));
  HAS_TYPE(void, one.fulfill_result(1));
  HAS_TYPE(future<int>, one.get_future());
  HAS_TYPE(future<>, none.finalize());
}

// Completions, put and get.
using upcxx::operation_cx;
using upcxx::remote_cx;
using upcxx::source_cx;
void completions(const promise<>& p, Int gp, persona& to) {
  int value = 0;
  const auto source =
      source_cx::as_future() | source_cx::as_defer_future() | source_cx::as_eager_future() |
      source_cx::as_promise(p) | source_cx::as_defer_promise(p) | source_cx::as_eager_promise(p) |
      source_cx::as_lpc(to, [] {}) | source_cx::as_buffered() | source_cx::as_blocking();
  const auto operation = operation_cx::as_future() | operation_cx::as_defer_future() |
                         operation_cx::as_eager_future() | operation_cx::as_promise(p) |
                         operation_cx::as_defer_promise(p) | operation_cx::as_eager_promise(p) |
                         operation_cx::as_lpc(to, [] {});
  const auto remote = remote_cx::as_rpc([](int) {}, 1);
  using SixFutures = std::tuple<future<>, future<>, future<>, future<>, future<>, future<>>;
  HAS_TYPE(SixFutures, upcxx::rput(&value, gp, 1, source | operation | remote));
  HAS_TYPE(void, upcxx::rput(1, gp, remote));
  HAS_TYPE(future<>, upcxx::rput(1, gp));
  HAS_TYPE(future<>, upcxx::rput(&value, gp, 1));
  HAS_TYPE(future<int>, upcxx::rget(gp));
  HAS_TYPE(future<int>, upcxx::rget(ConstInt(gp)));
  HAS_TYPE(future<>, upcxx::rget(gp, &value, 1));
  HAS_TYPE(void, upcxx::rget(gp, operation_cx::as_promise(promise<int>())));
  HAS_TYPE(future<>, upcxx::copy(gp, gp, 1));
  HAS_TYPE(future<>, upcxx::copy(&value, gp, 1));
  HAS_TYPE(future<>, upcxx::copy(AnyInt(gp), &value, 1));
}
void ranges(Int gp, int* own) {
  const std::pair<int*, std::size_t> here[1] = {{own, 1}};
  const std::tuple<Int, std::size_t> there[1] = {std::make_tuple(gp, std::size_t(1))};
  int* const places[1] = {own};
  const Int remote[1] = {gp};
  const std::ptrdiff_t strides[1] = {4};
  const std::size_t extents[1] = {1};
  HAS_TYPE(future<>, upcxx::rput_irregular(here, here + 1, there, there + 1));
  HAS_TYPE(future<>, upcxx::rget_irregular(there, there + 1, here, here + 1));
  HAS_TYPE(future<>, upcxx::rput_regular(places, places + 1, 1, remote, remote + 1, 1));
  HAS_TYPE(future<>, upcxx::rget_regular(remote, remote + 1, 1, places, places + 1, 1));
  HAS_TYPE(future<>, upcxx::rput_strided<1>(own, strides, gp, strides, extents));
  HAS_TYPE(future<>, upcxx::rget_strided<1>(gp, {{4}}, own, {{4}}, {{1}}));
}

// Serialization.
struct Fields : Base {
  int values[3];
  std::string text;
  UPCXX_SERIALIZED_FIELDS(UPCXX_SERIALIZED_BASE(Base), values, text)
};
struct Values {
  explicit Values(int value) : value(value) {}
  int value;
  UPCXX_SERIALIZED_VALUES(value)
};
struct Deleted {
  UPCXX_SERIALIZED_DELETE()
};
struct Nested {
  struct upcxx_serialization {
    template <class Writer>
    static void serialize(Writer& writer, const Nested&) {
      const auto reserved = writer.template reserve<std::size_t>();
      writer.write(1);
      const std::list<int> some;
      writer.write_sequence(some.begin(), some.end(), 0);
      const std::size_t count = writer.write_sequence(some.begin(), some.end());
      writer.commit(reserved, count);
    }
    template <class Reader, class Storage>
    static Nested* deserialize(Reader& reader, Storage storage) {
      int value;
      std::string text;
      upcxx::optional<int> maybe;
      HAS_TYPE(std::size_t, reader.template read<std::size_t>());
      reader.template read_into<int>(&value);
      reader.template read_into<int>(maybe);
      reader.template read_overwrite<std::string>(text);
      reader.template read_sequence_into<int>(&value, 1);
      reader.template read_sequence_overwrite<std::string>(&text, 1);
      return storage.construct();
    }
  };
};
struct Foreign {};
}  // namespace
template <>
struct upcxx::serialization<Foreign> {
  template <class Writer>
  static void serialize(Writer& writer, const Foreign&) {
    writer.write(1);
  }
  template <class Reader>
  static int* deserialize(Reader& reader, void* storage) {
    return ::new (storage) int(reader.template read<int>());
  }
};
namespace {
static_assert(upcxx::is_serializable<Fields>::value && upcxx::is_serializable<Values>::value, "");
static_assert(upcxx::is_serializable<Nested>::value && !upcxx::is_serializable<Deleted>::value, "");
static_assert(upcxx::is_trivially_serializable<Base>::value, "");
static_assert(is_same<upcxx::deserialized_type_t<Foreign>, int>, "");
static_assert(is_same<upcxx::serialization_traits<Foreign>::deserialized_type, int>, "");
HAS_TYPE(int, upcxx::serialization_traits<Foreign>::deserialized_value(Foreign()));
static_assert(upcxx::is_serializable<std::reference_wrapper<int>>::value, "");
static_assert(upcxx::is_serializable<upcxx::optional<std::string>>::value, "");
using Numbers = std::vector<int>;
using View = upcxx::view<int>;
using Texts = upcxx::view<std::string>;
using NumbersView = upcxx::view<int, Numbers::const_iterator>;
HAS_TYPE(NumbersView, upcxx::make_view(declval<const Numbers&>()));
HAS_TYPE(upcxx::nullopt_t, (upcxx::nullopt_t(upcxx::nullopt)));
void optionals() {
  const upcxx::optional<int> one(upcxx::in_place, 1);
  static_cast<void>(upcxx::make_optional(2));
  try {
    static_cast<void>(one.value());
  } catch (const upcxx::bad_optional_access&) {
  }
}
void views(const View& numbers, const Texts& texts, std::string& text) {
  HAS_TYPE(int*, upcxx::view_default_iterator_t<int>());
  HAS_TYPE(int&, numbers[0]);
  HAS_TYPE(int&, numbers.at(0));
  HAS_TYPE(int&, numbers.front());
  HAS_TYPE(int&, numbers.back());
  HAS_TYPE(std::size_t, numbers.size());
  HAS_TYPE(bool, numbers.empty());
  HAS_TYPE(int*, numbers.data());
  for (const int number : numbers) static_cast<void>(number);
  static_cast<void>(numbers.cbegin() != numbers.cend());
  static_cast<void>(numbers.rbegin() != numbers.rend());
  static_cast<void>(numbers.crbegin() != numbers.crend());
  HAS_TYPE(std::string, *texts.begin());
  upcxx::deserializing_iterator<std::string> at = texts.begin();
  upcxx::optional<std::string> maybe;
  alignas(std::string) unsigned char room[sizeof(std::string)];
  at.deserialize_into(room);
  at.deserialize_into(maybe);
  at.deserialize_overwrite(text);
  static_cast<void>(upcxx::make_view(text.begin(), text.end(), text.size()));
  static_cast<void>(upcxx::make_view(text.begin(), text.end()));
}

// Remote calls.
void calls(const team& of, upcxx::dist_object<int>& object) {
  const auto source = source_cx::as_future();
  const auto operation = operation_cx::as_future();
  const auto promised = operation_cx::as_promise(promise<int>());
  const auto one = [](int x) { return x; };
  HAS_TYPE(future<int>, upcxx::rpc(0, one, 1));
  HAS_TYPE(void, upcxx::rpc(0, promised, one, 1));
  HAS_TYPE(future<int>, upcxx::rpc(of, 0, one, 1));
  HAS_TYPE(future<int>, upcxx::rpc(of, 0, operation, one, 1));
  HAS_TYPE(void, upcxx::rpc_ff(0, one, 1));
  HAS_TYPE(future<>, upcxx::rpc_ff(0, source, one, 1));
  HAS_TYPE(void, upcxx::rpc_ff(of, 0, one, 1));
  HAS_TYPE(future<>, upcxx::rpc_ff(of, 0, source, one, 1));
  HAS_TYPE(future<>, upcxx::rpc(
                         0, [](upcxx::dist_object<int>&, const team&) {}, object, of));
  namespace experimental = upcxx::experimental;
  IS(is_base_of, std::exception, experimental::network_busy);
  HAS_TYPE(future<int>, experimental::rpc_immediate(0, one, 1));
  HAS_TYPE(future<int>, experimental::rpc_immediate(of, 0, operation, one, 1));
  HAS_TYPE(void, experimental::rpc_ff_immediate(0, one, 1));
  HAS_TYPE(future<>, experimental::rpc_ff_immediate(of, 0, source, one, 1));
}

// Progress and personas.
IS(is_default_constructible, persona);
IS_NOT(is_move_constructible, persona);
HAS_TYPE(void, upcxx::progress());
HAS_TYPE(void, upcxx::progress(upcxx::progress_level::internal));
HAS_TYPE(void, upcxx::progress(upcxx::progress_level::user));
HAS_TYPE(bool, upcxx::in_progress());
HAS_TYPE(bool, upcxx::progress_required());
HAS_TYPE(void, upcxx::discharge());
HAS_TYPE(persona&, upcxx::master_persona());
HAS_TYPE(persona&, upcxx::current_persona());
HAS_TYPE(persona&, upcxx::default_persona());
HAS_TYPE(void, upcxx::liberate_master_persona());
HAS_TYPE(upcxx::persona_scope&, upcxx::top_persona_scope());
HAS_TYPE(upcxx::persona_scope&, upcxx::default_persona_scope());
void personas(persona& one, std::mutex& mutex) {
  upcxx::persona_scope scope(one);
  upcxx::persona_scope locked(mutex, one);
  HAS_TYPE(bool, upcxx::progress_required(scope));
  HAS_TYPE(void, upcxx::discharge(scope));
  HAS_TYPE(void, one.lpc_ff([] {}));
  HAS_TYPE(future<int>, one.lpc([] { return 1; }));
  HAS_TYPE(future<int>, one.lpc([] { return future<int>(); }));
  HAS_TYPE(future<int&>, one.lpc([]() -> int& { return *new int(1); }));
  HAS_TYPE(bool, one.active_with_caller());
}

// Teams and collectives.
IS(is_default_constructible, team);
IS(is_move_constructible, team);
IS(is_move_assignable, team);
IS_NOT(is_copy_constructible, team);
static_assert(team::color_none < 0, "");
HAS_TYPE(team&, upcxx::world());
HAS_TYPE(team&, upcxx::local_team());
HAS_TYPE(bool, upcxx::local_team_contains(0));
using Position = std::pair<intrank_t, intrank_t>;
HAS_TYPE(Position, upcxx::local_team_position());
IS(is_trivially_copyable, upcxx::team_id);
IS(is_standard_layout, upcxx::team_id);
static_assert(upcxx::is_trivially_serializable<upcxx::team_id>::value, "");
void teams(team& of, const std::list<long>& members) {
  HAS_TYPE(intrank_t, of.rank_n());
  HAS_TYPE(intrank_t, of.rank_me());
  HAS_TYPE(intrank_t, of[0]);
  HAS_TYPE(intrank_t, of.from_world(0));
  HAS_TYPE(intrank_t, of.from_world(0, -1));
  HAS_TYPE(team, of.split(0, 0));
  HAS_TYPE(team, of.create(members));
  HAS_TYPE(team, of.create(members.begin(), members.size()));
  HAS_TYPE(void, of.destroy());
  HAS_TYPE(void, of.destroy(upcxx::entry_barrier::internal));
  HAS_TYPE(bool, of.is_active());
  HAS_TYPE(upcxx::team_id, of.id());
  HAS_TYPE(team&, of.id().here());
  HAS_TYPE(future<team&>, of.id().when_here());
  HAS_TYPE(bool, of.id() == upcxx::team_id());
  HAS_TYPE(bool, of.id() < upcxx::team_id());
  HAS_TYPE(std::size_t, std::hash<upcxx::team_id>()(of.id()));
  static_cast<void>(upcxx::entry_barrier::none);
}
void collectives(const team& of, int* data) {
  namespace experimental = upcxx::experimental;
  const auto as_promise = operation_cx::as_promise(promise<>());
  HAS_TYPE(void, upcxx::barrier());
  HAS_TYPE(void, upcxx::barrier(of));
  HAS_TYPE(future<>, upcxx::barrier_async());
  HAS_TYPE(void, upcxx::barrier_async(of, as_promise));
  HAS_TYPE(future<int>, upcxx::broadcast(1, 0));
  HAS_TYPE(void, upcxx::broadcast(data, 1, 0, of, as_promise));
  HAS_TYPE(future<int>, upcxx::reduce_one(1, upcxx::op_fast_add, 0));
  HAS_TYPE(future<>, upcxx::reduce_one(data, data, 1, upcxx::op_fast_mul, 0, of));
  HAS_TYPE(future<int>, upcxx::reduce_all(1, upcxx::op_fast_min));
  HAS_TYPE(void, upcxx::reduce_all(data, data, 1, upcxx::op_fast_max, of, as_promise));
  HAS_TYPE(future<unsigned>, upcxx::reduce_all(1U, upcxx::op_fast_bit_and, of));
  HAS_TYPE(future<unsigned>, upcxx::reduce_all(1U, upcxx::op_fast_bit_or));
  HAS_TYPE(future<bool>, upcxx::reduce_all(true, upcxx::op_fast_bit_xor));
  HAS_TYPE(future<std::string>, experimental::broadcast_nontrivial(std::string(), 0));
  HAS_TYPE(future<std::string>,
           experimental::reduce_one_nontrivial(std::string(), experimental::op_add, 0, of));
  HAS_TYPE(future<std::string>,
           experimental::reduce_all_nontrivial(std::string(), experimental::op_max));
  HAS_TYPE(int, experimental::op_mul(1, 2));
  HAS_TYPE(int, experimental::op_min(1, 2));
  HAS_TYPE(int, experimental::op_bit_and(1, 2));
  HAS_TYPE(int, experimental::op_bit_or(1, 2));
  HAS_TYPE(int, experimental::op_bit_xor(1, 2));
}

// Atomics.
using Domain = upcxx::atomic_domain<int>;
using Op = upcxx::atomic_op;
IS(is_default_constructible, Domain);
IS(is_move_constructible, Domain);
IS(is_move_assignable, Domain);
IS(is_constructible, Domain, const std::vector<Op>&, const team&);
IS(is_constructible, upcxx::atomic_domain<double>, const std::vector<Op>&);
IS(is_constructible, upcxx::atomic_domain<std::uint64_t>, const std::vector<Op>&);
#define BINARY(name)                                             \
  static_cast<void>(Op::name);                                   \
  static_cast<void>(Op::fetch_##name);                           \
  HAS_TYPE(future<>, domain.name(gp, 1, order));                 \
  HAS_TYPE(future<int>, domain.fetch_##name(gp, 1, order));      \
  HAS_TYPE(future<>, domain.fetch_##name(gp, 1, result, order)); \
  HAS_TYPE(future<>, domain.fetch_##name##_into(gp, 1, result, order))
#define UNARY(name)                                           \
  static_cast<void>(Op::name);                                \
  static_cast<void>(Op::fetch_##name);                        \
  HAS_TYPE(future<>, domain.name(gp, order));                 \
  HAS_TYPE(future<int>, domain.fetch_##name(gp, order));      \
  HAS_TYPE(future<>, domain.fetch_##name(gp, result, order)); \
  HAS_TYPE(future<>, domain.fetch_##name##_into(gp, result, order))
void atomics(Domain& domain, Int gp, int* result) {
  const auto order = std::memory_order_relaxed;
  HAS_TYPE(bool, domain.is_active());
  HAS_TYPE(void, domain.destroy());
  HAS_TYPE(void, domain.destroy(upcxx::entry_barrier::none));
  static_cast<void>(Op::load);
  static_cast<void>(Op::store);
  static_cast<void>(Op::compare_exchange);
  HAS_TYPE(future<int>, domain.load(gp, order));
  HAS_TYPE(future<>, domain.load(gp, result, order));
  HAS_TYPE(future<>, domain.load_into(gp, result, order));
  HAS_TYPE(future<>, domain.store(gp, 1, order));
  HAS_TYPE(void, domain.store(gp, 1, order, operation_cx::as_promise(promise<>())));
  HAS_TYPE(future<int>, domain.compare_exchange(gp, 1, 2, order));
  HAS_TYPE(future<>, domain.compare_exchange(gp, 1, 2, result, order));
  HAS_TYPE(future<>, domain.compare_exchange_into(gp, 1, 2, result, order));
  BINARY(add);
  BINARY(sub);
  BINARY(mul);
  BINARY(min);
  BINARY(max);
  BINARY(bit_and);
  BINARY(bit_or);
  BINARY(bit_xor);
  UNARY(inc);
  UNARY(dec);
}

// Distributed objects.
using Object = upcxx::dist_object<std::string>;
IS(is_default_constructible, Object);
IS(is_move_constructible, Object);
IS(is_move_assignable, Object);
IS_NOT(is_copy_constructible, Object);
IS(is_trivially_copyable, upcxx::dist_id<int>);
void objects(Object& object, const team& of) {
  const Object a("text");
  const Object b(std::string("text"), of);
  const Object c(of, std::size_t(3), 'x');
  const Object d(upcxx::inactive, "text");
  const Object e({});
  const Object f({}, of);
  const Object g{{}};
  const Object h{};
  const upcxx::dist_object<int> number({});
  const upcxx::dist_object<std::vector<int>> filled({1, 2, 3});
  HAS_TYPE(bool, object.is_active());
  HAS_TYPE(bool, object.has_value());
  HAS_TYPE(std::string&, object.emplace("text"));
  HAS_TYPE(void, object.activate());
  HAS_TYPE(void, object.activate(of));
  HAS_TYPE(std::string&, *a);
  HAS_TYPE(std::size_t, a->size());
  HAS_TYPE(const team&, object.team());
  HAS_TYPE(upcxx::dist_id<std::string>, object.id());
  HAS_TYPE(future<std::string>, object.fetch(0));
  HAS_TYPE(Object&, object.id().here());
  HAS_TYPE(future<Object&>, object.id().when_here());
  HAS_TYPE(bool, object.id() == object.id());
  HAS_TYPE(bool, object.id() < object.id());
  HAS_TYPE(std::size_t, std::hash<upcxx::dist_id<std::string>>()(object.id()));
}

// Devices.
template <class Device>
void devices(const upcxx::device_allocator<Device>& allocator) {
  using Allocator = upcxx::device_allocator<Device>;
  using Pointer = typename Device::template pointer<int>;
  using There = global_ptr<int, Device::kind>;
  IS(is_base_of, upcxx::gpu_device, Device);
  IS(is_base_of, upcxx::heap_allocator, Allocator);
  IS(is_default_constructible, Device);
  IS(is_constructible, Device, typename Device::id_type);
  IS(is_move_constructible, Device);
  IS(is_constructible, Allocator, Device&, std::size_t);
  IS(is_constructible, Allocator, Device&, std::size_t, typename Device::template pointer<void>);
  IS(is_move_assignable, Allocator);
  static_assert(Device::invalid_device_id != 0 && Device::auto_device_id != 0, "");
  HAS_TYPE(Pointer, Device::template null_pointer<int>());
  HAS_TYPE(std::size_t, Device::template default_alignment<int>());
  HAS_TYPE(typename Device::id_type, Device::device_n());
  HAS_TYPE(std::string, Device::kind_info());
  HAS_TYPE(std::string, Device::uuid(0));
  HAS_TYPE(memory_kind, declval<const upcxx::gpu_device&>().kind());
  HAS_TYPE(typename Device::id_type, declval<const Device&>().device_id());
  HAS_TYPE(bool, declval<const Device&>().is_active());
  HAS_TYPE(void, declval<Device&>().destroy());
  HAS_TYPE(There, declval<Allocator&>().template allocate<int>());
  HAS_TYPE(There, declval<Allocator&>().template allocate<int>(1, 64));
  HAS_TYPE(void, declval<Allocator&>().deallocate(There()));
  HAS_TYPE(void, declval<Allocator&>().deallocate(AnyInt()));
  HAS_TYPE(There, allocator.to_global_ptr(Pointer()));
  HAS_TYPE(Pointer, Allocator::local(There()));
  HAS_TYPE(typename Device::id_type, Allocator::device_id(There()));
  HAS_TYPE(typename Device::id_type, allocator.device_id());
  HAS_TYPE(std::int64_t, allocator.segment_size());
  HAS_TYPE(std::int64_t, allocator.segment_used());
  HAS_TYPE(Allocator, upcxx::make_gpu_allocator<Device>(1));
  HAS_TYPE(Allocator, upcxx::make_gpu_allocator<Device>(1, Device::auto_device_id, nullptr));
  HAS_TYPE(AnyInt, declval<upcxx::heap_allocator&>().template allocate<int>(1));
  HAS_TYPE(future<>, upcxx::copy(There(), There(), 1));
}
IS(is_base_of, std::bad_alloc, upcxx::bad_segment_alloc);
HAS_TYPE(upcxx::gpu_heap_allocator, upcxx::make_gpu_allocator(1));

// Utilities.
void utilities(std::ostream& stream) {
  upcxx::experimental::say() << "a" << 1 << std::endl;
  upcxx::experimental::say("<%d> ") << "a";
  upcxx::experimental::say(stream, "<%d> ") << "a";
  HAS_TYPE(int, upcxx::experimental::os_env<int>("A"));
  HAS_TYPE(std::string, upcxx::experimental::os_env<std::string>("A", "b"));
  HAS_TYPE(std::int64_t, upcxx::experimental::os_env("A", 1, 1024));
}

}  // namespace

/// Uses the functions above: otherwise a compiler warns of them.
void use_names() {
  static_cast<void>(&assertions);
  static_cast<void>(&members);
  static_cast<void>(&promises);
  static_cast<void>(&completions);
  static_cast<void>(&ranges);
  static_cast<void>(&optionals);
  static_cast<void>(&views);
  static_cast<void>(&calls);
  static_cast<void>(&personas);
  static_cast<void>(&teams);
  static_cast<void>(&collectives);
  static_cast<void>(&atomics);
  static_cast<void>(&objects);
  static_cast<void>(&devices<upcxx::cuda_device>);
  static_cast<void>(&devices<upcxx::hip_device>);
  static_cast<void>(&devices<upcxx::ze_device>);
  static_cast<void>(&utilities);
}
