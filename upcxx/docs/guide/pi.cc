// Each rank throws darts; a reduction adds the hits.
#include <random>
#include <upcxx/upcxx.hpp>

int main() {
  upcxx::init();
  constexpr long throws = 20000;
  std::mt19937 random(unsigned(upcxx::rank_me()) + 1);
  std::uniform_real_distribution<double> side(0, 1);
  long hits = 0;
  for (long i = 0; i < throws; ++i) {
    const double x = side(random);
    const double y = side(random);
    if (x * x + y * y < 1) ++hits;
  }
  const long all = upcxx::reduce_all(hits, upcxx::op_fast_add).wait();
  const double pi = 4.0 * double(all) / double(throws * upcxx::rank_n());
  UPCXX_ASSERT_ALWAYS(pi > 3 && pi < 3.3, "pi is " << pi);
  if (upcxx::rank_me() == 0) upcxx::experimental::say("") << "pi is about " << pi;
  upcxx::finalize();
  return 0;
}
