// A thread computes, and hands its result to the main thread, which communicates.
#include <thread>
#include <upcxx/upcxx.hpp>

int main() {
  upcxx::init();
  int result = 0;
  upcxx::persona& main_persona = upcxx::current_persona();
  std::thread worker([&] {
    int computed = 1;
    for (int i = 2; i <= 5; ++i) computed *= i;
    main_persona.lpc_ff([&result, computed] { result = computed; });
  });
  while (result == 0) upcxx::progress();
  worker.join();
  UPCXX_ASSERT_ALWAYS(upcxx::reduce_all(result, upcxx::op_fast_max).wait() == 120);
  upcxx::finalize();
  return 0;
}
