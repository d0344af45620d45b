// One promise counts a thousand puts, without a future for each.
#include <upcxx/upcxx.hpp>

int main() {
  upcxx::init();
  constexpr int count = 1000;
  const upcxx::intrank_t next = (upcxx::rank_me() + 1) % upcxx::rank_n();
  upcxx::dist_object<upcxx::global_ptr<int>> landing(upcxx::new_array<int>(count));
  const upcxx::global_ptr<int> there = landing.fetch(next).wait();

  upcxx::promise<> done;
  for (int i = 0; i < count; ++i) {
    upcxx::rput(i, there + i, upcxx::operation_cx::as_promise(done));
  }
  done.finalize().wait();
  upcxx::barrier();
  UPCXX_ASSERT_ALWAYS(landing->local()[count - 1] == count - 1);
  upcxx::barrier();
  upcxx::delete_array(*landing);
  upcxx::finalize();
  return 0;
}
