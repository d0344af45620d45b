// Coroutines, and remote calls that do not wait for room, between all ranks. Prints nothing and
// ends with 0 if all is right.
#include <string>
#include <upcxx/upcxx.hpp>
#include <vector>

namespace {

using upcxx::future;
using upcxx::rpc;

#define REQUIRE(test) UPCXX_ASSERT_ALWAYS((test), "failed: " << #test)

int peer() {
  return (upcxx::rank_me() + 1) % upcxx::rank_n();
}

upcxx::task<int> twice(int value) {
  const int there = co_await rpc(
      peer(), [](int in) { return in + 1; }, value);
  co_return 2 * there;
}
upcxx::task<int, std::string> several() {
  const auto [number, text] = co_await upcxx::when_all(twice(1), std::string("text"));
  co_await upcxx::make_future();
  co_return std::tuple<int, std::string>(number, text + "!");
}
upcxx::task<> chain(int length) {
  for (int i = 0; i < length; ++i) co_await upcxx::make_future(i);
}
/// Each waits for the one before it.
upcxx::task<long> nested(future<long> before) {
  co_return 1 + co_await before;
}

void coroutines() {
  REQUIRE(twice(20).wait() == 42);
  REQUIRE(several().wait() == std::make_tuple(4, std::string("text!")));
  chain(100000).wait();
  upcxx::promise<long> first;
  future<long> last = first.get_future();
  for (int i = 0; i < 100000; ++i) last = nested(last);
  first.fulfill_result(0);
  REQUIRE(last.wait() == 100000);

  // What a coroutine lambda captured lives until its future is ready, however it is called.
  const std::string long_text(100, 'x');
  const auto body = [long_text](int in) -> future<std::string> {
    co_await rpc(peer(), [] {});
    co_return long_text + std::to_string(in);
  };
  REQUIRE(upcxx::make_future(1).then(std::move(body)).wait() == long_text + "1");
  REQUIRE(rpc(peer(), [] {})
              .then([long_text]() -> future<std::string> {
                co_await rpc(peer(), [] {});
                co_return long_text;
              })
              .wait() == long_text);
  bool has_run = false;
  upcxx::current_persona().lpc_ff([long_text, &has_run]() -> future<> {
    co_await rpc(peer(), [] {});
    has_run = long_text.size() == 100;
  });
  while (!has_run) upcxx::progress();

  // The body of a remote call awaits in a callback, where waiting is forbidden, and what it was
  // called with is there until it has returned.
  const std::vector<int> numbers{1, 2, 3};
  const int sum = rpc(
                      peer(),
                      [](upcxx::view<int> in, std::string text) -> future<int> {
                        REQUIRE(upcxx::in_progress());
                        const int caller = co_await rpc(peer(), [] { return upcxx::rank_me(); });
                        REQUIRE(caller == peer());
                        int all = int(text.size());
                        for (const int number : in) all += number;
                        co_return all;
                      },
                      upcxx::make_view(numbers), std::string("four"))
                      .wait();
  REQUIRE(sum == 10);
}

/// Sends as fast as there is room, and goes on when there is some.
upcxx::task<> flood(int target, int count, long* sent) {
  for (int i = 0; i < count; ++i) {
    co_await upcxx::experimental::rpc_room(target, 1000);
    const std::vector<char> payload(1000);
    bool is_sent = false;
    while (!is_sent) {
      try {
        upcxx::experimental::rpc_ff_immediate(
            target, [](upcxx::view<char> in) { REQUIRE(in.size() == 1000); },
            upcxx::make_view(payload));
        is_sent = true;
      } catch (const upcxx::experimental::network_busy&) {
      }
      if (!is_sent) co_await upcxx::experimental::rpc_room(target, 1000);
    }
    ++*sent;
  }
}

void room() {
  long sent = 0;
  flood(peer(), 2000, &sent).wait();
  REQUIRE(sent == 2000);
  upcxx::barrier();
  // To itself there is room until the own backlog is full; nothing has happened when there is none.
  static long calls = 0;
  long refused = 0;
  upcxx::promise<> counted;
  const std::vector<char> large(256 << 10);
  long begun = 0;
  while (refused == 0) {
    try {
      upcxx::experimental::rpc_immediate(
          upcxx::rank_me(), upcxx::operation_cx::as_promise(counted),
          [](const std::vector<char>&) { ++calls; }, large);
      ++begun;
    } catch (const upcxx::experimental::network_busy&) {
      ++refused;
    }
  }
  REQUIRE(begun > 0 && begun < 1000 && calls == 0);
  counted.finalize().wait();
  REQUIRE(calls == begun);
}

}  // namespace

int main() {
  upcxx::init();
  coroutines();
  room();
  upcxx::finalize();
  return 0;
}
