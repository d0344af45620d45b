// Ranks that share memory read one another's objects by plain loads.
#include <upcxx/upcxx.hpp>

int main() {
  upcxx::init();
  const upcxx::team& local = upcxx::local_team();
  upcxx::global_ptr<int> table;
  if (local.rank_me() == 0) table = upcxx::new_array<int>(std::size_t(local.rank_n()));
  table = upcxx::broadcast(table, 0, local).wait();
  UPCXX_ASSERT_ALWAYS(table.is_local());
  int* const numbers = table.local();
  numbers[local.rank_me()] = local.rank_me();
  upcxx::barrier(local);
  UPCXX_ASSERT_ALWAYS(numbers[local.rank_n() - 1] == local.rank_n() - 1);
  upcxx::barrier(local);
  if (local.rank_me() == 0) upcxx::delete_array(table);
  upcxx::finalize();
  return 0;
}
