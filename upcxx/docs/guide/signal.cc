// A put that calls a function where it arrives: the receiver needs no barrier.
#include <upcxx/upcxx.hpp>

int arrived = 0;

int main() {
  upcxx::init();
  const upcxx::intrank_t me = upcxx::rank_me();
  const upcxx::intrank_t n = upcxx::rank_n();
  upcxx::dist_object<upcxx::global_ptr<int>> landing(upcxx::new_<int>(0));
  const upcxx::global_ptr<int> there = landing.fetch((me + 1) % n).wait();

  upcxx::rput(me, there, upcxx::remote_cx::as_rpc([] { ++arrived; }));
  while (arrived == 0) upcxx::progress();
  UPCXX_ASSERT_ALWAYS(*landing->local() == (me + n - 1) % n);
  upcxx::barrier();
  upcxx::delete_(*landing);
  upcxx::finalize();
  return 0;
}
