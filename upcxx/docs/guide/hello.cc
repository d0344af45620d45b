// Every rank prints its number.
#include <upcxx/upcxx.hpp>

int main() {
  upcxx::init();
  upcxx::experimental::say() << "rank " << upcxx::rank_me() << " of " << upcxx::rank_n();
  upcxx::finalize();
  return 0;
}
