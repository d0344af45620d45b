// Extend-add by remote calls: a call carries what one rank packs for another, and adds it where it
// arrives. A rank waits only for what its next front still lacks.

#include "../communication.h"

#include <upcxx/upcxx.hpp>

namespace extend_add {

const char* const Communication::program = "extend-add";

Communication::Communication(int*, char***) {
  upcxx::init();
}
Communication::~Communication() {
  upcxx::finalize();
}
int Communication::rank() const {
  return upcxx::rank_me();
}
int Communication::size() const {
  return upcxx::rank_n();
}
void Communication::barrier() {
  upcxx::barrier();
}
long Communication::sum(long value) {
  return upcxx::reduce_all(value, upcxx::op_fast_add).wait();
}

namespace {

/// Fronts, and how many calls have arrived for each.
struct Arrivals {
  Fronts* fronts;
  std::vector<int> arrived;
};
using Shared = upcxx::dist_object<Arrivals>;

/// The calls that a front of this rank gets: what its children's ranks have for it.
int expected(const Fronts& fronts, int id) {
  int calls = 0;
  for (const int child : fronts.front(id).children) {
    const Front& from = fronts.front(child);
    for (int source = from.first_rank; source < from.first_rank + from.grid_size(); ++source) {
      if (fronts.packed(child, source, fronts.rank()) > 0) ++calls;
    }
  }
  return calls;
}

void send(Shared& arrivals, Fronts& fronts, int child) {
  const Front& parent = fronts.front(fronts.front(child).parent);
  std::vector<double> values;
  for (int i = 0; i < parent.grid_size(); ++i) {
    // Each rank begins with itself, so that the ranks' first targets differ.
    const int start = std::max(fronts.rank() - parent.first_rank, 0);
    const int target = parent.first_rank + (start + i) % parent.grid_size();
    values.clear();
    fronts.pack(child, target, values);
    if (values.empty()) continue;
    upcxx::rpc_ff(
        target,
        [](Shared& there, int of, int source, upcxx::view<double> packed) {
          there->fronts->add(of, source, packed.begin());
          ++there->arrived[std::size_t(there->fronts->front(of).parent)];
        },
        arrivals, child, fronts.rank(), upcxx::make_view(values));
  }
}

}  // namespace

void Communication::accumulate(Fronts& fronts) {
  Shared arrivals(Arrivals{&fronts, std::vector<int>(fronts.tree().size())});
  for (int id = 0; id < int(fronts.tree().size()); ++id) {
    if (!fronts.front(id).is_on(fronts.rank())) continue;
    const int calls = expected(fronts, id);
    while (arrivals->arrived[std::size_t(id)] < calls) upcxx::progress();
    if (fronts.front(id).parent >= 0) send(arrivals, fronts, id);
    upcxx::progress();
  }
}

}  // namespace extend_add
