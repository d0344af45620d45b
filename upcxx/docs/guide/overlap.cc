// Gets from all ranks are under way at once; what each brings is added as it arrives.
#include <upcxx/upcxx.hpp>

int main() {
  upcxx::init();
  const upcxx::intrank_t n = upcxx::rank_n();
  const upcxx::global_ptr<int> mine = upcxx::new_<int>(upcxx::rank_me());
  upcxx::dist_object<upcxx::global_ptr<int>> numbers(mine);

  int sum = 0;
  upcxx::future<> all = upcxx::make_future();
  for (upcxx::intrank_t rank = 0; rank < n; ++rank) {
    const upcxx::future<> added =
        numbers.fetch(rank)
            .then([](upcxx::global_ptr<int> there) { return upcxx::rget(there); })
            .then([&sum](int value) { sum += value; });
    all = upcxx::when_all(all, added);
  }
  all.wait();  // other work could be done before
  UPCXX_ASSERT_ALWAYS(sum == n * (n - 1) / 2);
  upcxx::barrier();
  upcxx::delete_(mine);
  upcxx::finalize();
  return 0;
}
