// Rank 0 makes an object in its shared heap, and all read it.
#include <upcxx/upcxx.hpp>

int main() {
  upcxx::init();
  upcxx::global_ptr<double> pi;
  if (upcxx::rank_me() == 0) pi = upcxx::new_<double>(3.14159);
  pi = upcxx::broadcast(pi, 0).wait();
  UPCXX_ASSERT_ALWAYS(pi.where() == 0);
  UPCXX_ASSERT_ALWAYS(upcxx::rget(pi).wait() == 3.14159);
  upcxx::barrier();  // all have read it
  if (upcxx::rank_me() == 0) upcxx::delete_(pi);
  upcxx::finalize();
  return 0;
}
