// Futures, promises and local procedure calls in a process without a job.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <upcxx/upcxx.hpp>

#include "allocations.h"

namespace {

using upcxx::future;
using upcxx::make_future;
using upcxx::promise;
using upcxx::when_all;

TEST(Future, OfValuesIsReady) {
  EXPECT_TRUE(make_future().is_ready());
  EXPECT_EQ(make_future(3).result(), 3);
  EXPECT_EQ(make_future(3, std::string("four")).result<1>(), "four");
  EXPECT_EQ(make_future(3, 4L).result(), std::make_tuple(3, 4L));
  EXPECT_EQ(make_future(std::string("x")).result_reference(), "x");
  EXPECT_EQ(make_future(1, 2).result_tuple(), std::make_tuple(1, 2));
  EXPECT_TRUE(std::is_void<decltype(make_future(1).result<1>())>::value);
  EXPECT_TRUE((std::is_same<decltype(make_future(1, 'a')), future<int, char>>::value));
  EXPECT_TRUE((std::is_same<decltype(upcxx::to_future(make_future(1))), future<int>>::value));
  EXPECT_EQ(upcxx::to_future(7).result(), 7);
}

TEST(Future, MadeWithoutValueIsNeverReady) {
  const future<int> never;
  bool called = false;
  EXPECT_FALSE(never.is_ready());
  const future<int> result = never.then([&](int value) {
    called = true;
    return value;
  });
  EXPECT_FALSE(result.is_ready());
  EXPECT_FALSE(when_all(never, 3).is_ready());
  EXPECT_FALSE(called);
}

TEST(Future, HasItsSmallValuesInItself) {
  const long before = allocations;
  future<> empty = make_future();
  future<int, double> values = when_all(empty, 1, make_future(2.5));
  future<int> sum = values.then([](int i, double d) { return i + int(d); });
  future<int> copy = sum;
  sum = make_future(9);
  EXPECT_EQ(copy.wait(), 3);
  EXPECT_EQ(sum.result(), 9);
  EXPECT_EQ(allocations, before);
}

TEST(Future, HoldsAReference) {
  int value = 1;
  promise<int&> to_value;
  future<> done = to_value.get_future().then([](int& reference) { reference = 2; });
  to_value.fulfill_result(value);
  EXPECT_TRUE(done.is_ready());
  EXPECT_EQ(&to_value.get_future().result(), &value);
  EXPECT_EQ(&to_value.get_future().result_reference(), &value);
  EXPECT_EQ(value, 2);
}

TEST(Promise, CountsDependencies) {
  promise<> count(2);
  future<> done = count.get_future();
  count.require_anonymous(3);
  const long before = allocations;
  count.fulfill_anonymous(4);
  EXPECT_FALSE(done.is_ready());
  count.fulfill_anonymous(1);
  EXPECT_TRUE(done.is_ready());
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(promise<>().finalize().is_ready());
}

TEST(Promise, RunsCallbacksInOrderWhenItIsFulfilled) {
  promise<int> source;
  std::string order;
  future<int> first = source.get_future().then([&](int value) {
    order += "a";
    return value + 1;
  });
  future<std::string> second = first.then([&](int value) {
    order += "c";
    return std::to_string(value);
  });
  source.get_future().then([&](int) { order += "b"; });
  source.fulfill_result(1);
  EXPECT_EQ(order, "abc");
  EXPECT_EQ(second.result(), "2");
}

TEST(Promise, MayBeFulfilledInACallback) {
  promise<> outer;
  promise<int> inner;
  int seen = 0;
  future<> after = inner.get_future().then([&](int value) { seen = value; });
  outer.get_future().then([&] {
    inner.fulfill_result(5);
    EXPECT_EQ(seen, 5);
  });
  outer.finalize();
  EXPECT_TRUE(after.is_ready());
}

TEST(Promise, WithoutFulfilmentFreesWhatWaitsForIt) {
  auto owned = std::make_shared<int>(1);
  future<> left;
  {
    promise<> source;
    left = source.get_future().then([owned] {});
    EXPECT_EQ(owned.use_count(), 2);
  }
  EXPECT_FALSE(left.is_ready());
  left = future<>();
  EXPECT_EQ(owned.use_count(), 1);
}

TEST(Then, UnwrapsFutures) {
  promise<int> source;
  promise<std::unique_ptr<int>> later;
  future<std::unique_ptr<int>> result =
      source.get_future().then([&](int) { return later.get_future(); });
  EXPECT_TRUE(make_future(1).then([](int i) { return make_future(i + 1); }).is_ready());
  source.fulfill_result(1);
  EXPECT_FALSE(result.is_ready());
  later.fulfill_result(std::make_unique<int>(8));
  EXPECT_EQ(*result.result_reference(), 8);
}

TEST(Then, TakesAFunctionThatOnlyMoves) {
  promise<> source;
  future<int> result =
      source.get_future().then([value = std::make_unique<int>(4)] { return *value; });
  source.finalize();
  EXPECT_EQ(result.result(), 4);
}

TEST(WhenAll, ConcatenatesWhatIsReadyLater) {
  promise<int> one;
  promise<std::string> two;
  auto all = when_all(one.get_future(), make_future(), 'c', two.get_future());
  future<int, char, std::string> same = all;
  two.fulfill_result("two");
  EXPECT_FALSE(all.is_ready());
  one.fulfill_result(1);
  EXPECT_EQ(same.result(), std::make_tuple(1, 'c', std::string("two")));
  EXPECT_TRUE(when_all().is_ready());
  promise<std::unique_ptr<int>> only;
  promise<> also;
  auto forwarded = when_all(only.get_future(), also.get_future());
  only.fulfill_result(std::make_unique<int>(6));
  also.finalize();
  EXPECT_EQ(*forwarded.result_reference(), 6);
}

TEST(Chain, OfAMillionIsServedWithoutRecursion) {
  constexpr int length = 1000000;
  promise<> source;
  future<> all = source.get_future();
  future<int> sum = all.then([] { return 0; });
  future<int> nested = make_future(0);
  for (int i = 0; i < length; ++i) {
    all = when_all(all, source.get_future());
    sum = sum.then([](int value) { return value + 1; });
  }
  source.finalize();
  EXPECT_TRUE(all.is_ready());
  EXPECT_EQ(sum.result(), length);

  // Each depends on a future that its function returns.
  promise<int> last;
  nested = last.get_future();
  for (int i = 0; i < length; ++i) {
    promise<> start;
    nested = start.get_future().then([inner = nested] { return inner; });
    start.finalize();
  }
  last.fulfill_result(3);
  EXPECT_EQ(nested.result(), 3);

  // None of these becomes ready.
  auto* const abandoned = new promise<>;
  future<> end = abandoned->get_future();
  for (int i = 0; i < length; ++i) end = end.then([] {});
  delete abandoned;
  EXPECT_FALSE(end.is_ready());
}

TEST(Persona, RunsLocalProcedureCallsInProgress) {
  upcxx::persona& own = upcxx::current_persona();
  EXPECT_EQ(&own, &upcxx::default_persona());
  EXPECT_TRUE(own.active_with_caller());
  bool ran = false;
  own.lpc_ff([&] {
    ran = true;
    EXPECT_TRUE(upcxx::in_progress());
  });
  future<std::string> text = own.lpc([] { return std::string("lpc"); });
  future<int> unwrapped = own.lpc([] { return make_future(4); });
  EXPECT_FALSE(ran);
  upcxx::progress(upcxx::progress_level::internal);
  EXPECT_FALSE(ran);
  EXPECT_EQ(text.wait(), "lpc");
  EXPECT_EQ(unwrapped.wait(), 4);
  EXPECT_TRUE(ran);
  EXPECT_FALSE(upcxx::progress_required());
  upcxx::discharge();
}

TEST(Persona, IsHeldByScopes) {
  upcxx::persona extra;
  EXPECT_FALSE(extra.active_with_caller());
  {
    const upcxx::persona_scope scope(extra);
    EXPECT_EQ(&upcxx::current_persona(), &extra);
    EXPECT_EQ(&upcxx::top_persona_scope(), &scope);
    future<int> answer = upcxx::default_persona().lpc([] { return 2; });
    EXPECT_EQ(answer.wait(), 2);
  }
  std::mutex mutex;
  {
    upcxx::persona_scope first(mutex, extra);
    upcxx::persona other;
    std::optional<upcxx::persona_scope> second(std::in_place, other);
    const upcxx::persona_scope moved(std::move(first));
    EXPECT_EQ(&upcxx::top_persona_scope(), &*second);
    second.reset();
    EXPECT_EQ(&upcxx::top_persona_scope(), &moved);
    EXPECT_TRUE(extra.active_with_caller());
    EXPECT_FALSE(mutex.try_lock());
  }
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
  EXPECT_FALSE(extra.active_with_caller());
  EXPECT_EQ(&upcxx::top_persona_scope(), &upcxx::default_persona_scope());
}

TEST(Persona, TakesCallsOfOtherThreads) {
  constexpr int calls = 10000;
  upcxx::persona& here = upcxx::current_persona();
  int sum = 0;
  std::atomic<int> answered{0};
  std::thread other([&] {
    for (int i = 0; i < calls; ++i) here.lpc_ff([&sum] { ++sum; });
    EXPECT_EQ(here.lpc([&sum] { return sum; }).wait(), calls);
    answered = 1;
  });
  while (answered == 0) upcxx::progress();
  other.join();
  EXPECT_EQ(sum, calls);
}

TEST(Waiting, ForAFutureThatNothingMakesReadyIsRefused) {
  EXPECT_DEATH(future<int>().wait(),
               "future::wait: the future was made by its default constructor");
}

TEST(RestrictedContext, IsNamed) {
  upcxx::current_persona().lpc_ff([] {
    const promise<> other;
    other.get_future().wait();
  });
  EXPECT_DEATH(upcxx::progress(), "future::wait was called in a callback of user progress");
}

}  // namespace
