// Every rank has a part of one object. A call names the object, and finds the part of its target.
#include <map>
#include <string>
#include <upcxx/upcxx.hpp>

int main() {
  upcxx::init();
  using Map = std::map<std::string, int>;
  using Ages = upcxx::dist_object<Map>;
  Ages ages{Map()};
  const upcxx::intrank_t owner = upcxx::rank_n() - 1;
  if (upcxx::rank_me() == 0) {
    upcxx::rpc(
        owner, [](Ages& there, const std::string& name, int age) { (*there)[name] = age; }, ages,
        std::string("Ada"), 36)
        .wait();
  }
  upcxx::barrier();
  UPCXX_ASSERT_ALWAYS(ages.fetch(owner).wait().at("Ada") == 36);
  upcxx::barrier();  // the parts are needed until all have fetched
  upcxx::finalize();
  return 0;
}
