// A coroutine reads a list whose nodes are on all ranks, and other ranks call it.
#include <upcxx/upcxx.hpp>

struct Node {
  int value;
  upcxx::global_ptr<Node> next;
};

upcxx::task<int> sum_of(upcxx::global_ptr<Node> at) {
  int sum = 0;
  while (at) {
    const Node node = co_await upcxx::rget(at);
    sum += node.value;
    at = node.next;
  }
  co_return sum;
}

int main() {
  upcxx::init();
  const upcxx::intrank_t me = upcxx::rank_me();
  const upcxx::intrank_t n = upcxx::rank_n();
  upcxx::dist_object<upcxx::global_ptr<Node>> nodes(upcxx::new_<Node>());
  upcxx::global_ptr<Node> next;
  if (me + 1 < n) next = nodes.fetch(me + 1).wait();
  *nodes->local() = {me, next};
  upcxx::barrier();

  // Waiting is forbidden in a call; awaiting is not.
  const upcxx::global_ptr<Node> first = nodes.fetch(0).wait();
  UPCXX_ASSERT_ALWAYS(sum_of(first).wait() == n * (n - 1) / 2);
  UPCXX_ASSERT_ALWAYS(upcxx::rpc((me + 1) % n, sum_of, first).wait() == n * (n - 1) / 2);
  upcxx::barrier();
  upcxx::delete_(*nodes);
  upcxx::finalize();
  return 0;
}
