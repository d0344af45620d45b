// Calls without an answer. A receiver waits for as many as it expects.
#include <upcxx/upcxx.hpp>

int received = 0;

int main() {
  upcxx::init();
  for (upcxx::intrank_t rank = 0; rank < upcxx::rank_n(); ++rank) {
    upcxx::rpc_ff(
        rank, [](int value) { received += value; }, 1);
  }
  while (received < upcxx::rank_n()) upcxx::progress();
  UPCXX_ASSERT_ALWAYS(received == upcxx::rank_n());
  upcxx::finalize();
  return 0;
}
