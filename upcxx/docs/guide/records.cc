// A class names the members that are sent. Containers of it can be sent then, too.
#include <string>
#include <upcxx/upcxx.hpp>
#include <vector>

struct Person {
  std::string name;
  int age = 0;
  UPCXX_SERIALIZED_FIELDS(name, age)
};

int main() {
  upcxx::init();
  const std::vector<Person> people{{"Ada", 36}, {"Emmy", 53}};
  const Person oldest = upcxx::rpc(
                            0,
                            [](const std::vector<Person>& all) {
                              Person found;
                              for (const Person& one : all) {
                                if (one.age > found.age) found = one;
                              }
                              return found;
                            },
                            people)
                            .wait();
  UPCXX_ASSERT_ALWAYS(oldest.name == "Emmy");
  upcxx::finalize();
  return 0;
}
