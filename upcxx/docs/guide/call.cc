// A function runs on another rank, and its result comes back.
#include <string>
#include <upcxx/upcxx.hpp>

std::string welcome(const std::string& name) {
  return "rank " + std::to_string(upcxx::rank_me()) + " welcomes " + name;
}

int main() {
  upcxx::init();
  const upcxx::intrank_t last = upcxx::rank_n() - 1;
  const std::string answer = upcxx::rpc(last, welcome, std::string("you")).wait();
  UPCXX_ASSERT_ALWAYS(answer == "rank " + std::to_string(last) + " welcomes you");
  upcxx::finalize();
  return 0;
}
