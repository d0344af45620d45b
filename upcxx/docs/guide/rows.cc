// Ranks as a grid of two columns: a team of each row, and a sum in each.
#include <upcxx/upcxx.hpp>

int main() {
  upcxx::init();
  const upcxx::intrank_t me = upcxx::rank_me();
  upcxx::team row = upcxx::world().split(me / 2, me % 2);
  UPCXX_ASSERT_ALWAYS(row.rank_me() == me % 2 && row[0] == me - me % 2);
  const int sum = upcxx::reduce_all(1, upcxx::op_fast_add, row).wait();
  UPCXX_ASSERT_ALWAYS(sum == row.rank_n());
  row.destroy();
  upcxx::finalize();
  return 0;
}
