// Every rank writes an array into the memory of the next one.
#include <numeric>
#include <upcxx/upcxx.hpp>
#include <vector>

int main() {
  upcxx::init();
  constexpr std::size_t count = 1000;
  const upcxx::intrank_t me = upcxx::rank_me();
  const upcxx::intrank_t n = upcxx::rank_n();
  upcxx::dist_object<upcxx::global_ptr<int>> landing(upcxx::new_array<int>(count));
  const upcxx::global_ptr<int> next = landing.fetch((me + 1) % n).wait();

  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), me);
  upcxx::rput(values.data(), next, count).wait();
  upcxx::barrier();  // all puts have arrived

  UPCXX_ASSERT_ALWAYS(landing->local()[10] == (me + n - 1) % n + 10);
  upcxx::barrier();
  upcxx::delete_array(*landing);
  upcxx::finalize();
  return 0;
}
