// Part of an array is sent from where it is, and read where it arrives: no container is made.
#include <upcxx/upcxx.hpp>
#include <vector>

double sum_of(upcxx::view<double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

int main() {
  upcxx::init();
  const std::vector<double> values(1000, 0.5);
  const upcxx::intrank_t next = (upcxx::rank_me() + 1) % upcxx::rank_n();
  const auto half = upcxx::make_view(values.begin(), values.begin() + 500);
  UPCXX_ASSERT_ALWAYS(upcxx::rpc(next, sum_of, half).wait() == 250);
  upcxx::finalize();
  return 0;
}
