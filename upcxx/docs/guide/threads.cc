// A thread computes, and hands its result to the main thread, which communicates.
#include <thread>
#include <upcxx/upcxx.hpp>

int main() {
  upcxx::init();
  int result = 0;
  upcxx::persona& main_persona = upcxx::current_persona();
  std::thread worker([&] {
    const int computed = 6 * 7;
    main_persona.lpc_ff([&result, computed] { result = computed; });
  });
  while (result == 0) upcxx::progress();
  worker.join();
  UPCXX_ASSERT_ALWAYS(upcxx::reduce_all(result, upcxx::op_fast_max).wait() == 42);
  upcxx::finalize();
  return 0;
}
