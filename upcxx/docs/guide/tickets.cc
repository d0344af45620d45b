// All ranks draw numbers from one counter, and no two get the same.
#include <upcxx/upcxx.hpp>

int main() {
  upcxx::init();
  upcxx::atomic_domain<long> counter({upcxx::atomic_op::fetch_inc, upcxx::atomic_op::load});
  upcxx::global_ptr<long> next;
  if (upcxx::rank_me() == 0) next = upcxx::new_<long>(0);
  next = upcxx::broadcast(next, 0).wait();

  long sum = 0;
  for (int i = 0; i < 10; ++i) sum += counter.fetch_inc(next, std::memory_order_relaxed).wait();
  const long all = upcxx::reduce_all(sum, upcxx::op_fast_add).wait();
  const long drawn = 10 * upcxx::rank_n();
  UPCXX_ASSERT_ALWAYS(all == drawn * (drawn - 1) / 2);
  counter.destroy();
  if (upcxx::rank_me() == 0) upcxx::delete_(next);
  upcxx::finalize();
  return 0;
}
