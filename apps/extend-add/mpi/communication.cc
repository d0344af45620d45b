// Extend-add by collectives: for each front, its ranks exchange what all its children have for it.

#include "../communication.h"

#include <mpi.h>

#include <map>
#include <numeric>
#include <utility>

namespace extend_add {

const char* const Communication::program = "extend-add-mpi";

Communication::Communication(int* argc, char*** argv) {
  MPI_Init(argc, argv);
}
Communication::~Communication() {
  MPI_Finalize();
}
int Communication::rank() const {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int Communication::size() const {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}
void Communication::barrier() {
  MPI_Barrier(MPI_COMM_WORLD);
}
long Communication::sum(long value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

namespace {

/// A communicator for each range of ranks that shares a front.
class Ranges {
 public:
  ~Ranges() {
    for (auto& [range, communicator] : communicators_) MPI_Comm_free(&communicator);
  }
  /// Collective over the range.
  MPI_Comm of(const Front& front) {
    const auto [found, is_new] =
        communicators_.try_emplace({front.first_rank, front.rank_count}, MPI_COMM_NULL);
    if (is_new) {
      MPI_Group world = MPI_GROUP_NULL;
      MPI_Group group = MPI_GROUP_NULL;
      int range[1][3] = {{front.first_rank, front.first_rank + front.rank_count - 1, 1}};
      MPI_Comm_group(MPI_COMM_WORLD, &world);
      MPI_Group_range_incl(world, 1, range, &group);
      MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &found->second);
      MPI_Group_free(&group);
      MPI_Group_free(&world);
    }
    return found->second;
  }

 private:
  std::map<std::pair<int, int>, MPI_Comm> communicators_;
};

/// One side of an MPI_Alltoallv.
struct Side {
  explicit Side(int ranks) : counts(std::size_t(ranks)), begins(std::size_t(ranks)) {}
  std::vector<int> counts;
  std::vector<int> begins;
  std::vector<double> values;

  void place() { std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0); }
};

/// Adds the children of a front to it; this rank shares the front.
void add_children(Fronts& fronts, const Front& parent, MPI_Comm communicator) {
  Side sent(parent.rank_count);
  Side received(parent.rank_count);
  for (int i = 0; i < parent.rank_count; ++i) {
    const int other = parent.first_rank + i;
    const std::size_t before = sent.values.size();
    for (const int child : parent.children) {
      const Front& from = fronts.front(child);
      if (from.is_on(fronts.rank()) && parent.is_on(other)) fronts.pack(child, other, sent.values);
      if (from.is_on(other) && parent.is_on(fronts.rank())) {
        received.counts[std::size_t(i)] += int(fronts.packed(child, other, fronts.rank()));
      }
    }
    sent.counts[std::size_t(i)] = int(sent.values.size() - before);
  }
  sent.place();
  received.place();
  received.values.resize(std::size_t(received.begins.back()) + std::size_t(received.counts.back()));
  MPI_Alltoallv(sent.values.data(), sent.counts.data(), sent.begins.data(), MPI_DOUBLE,
                received.values.data(), received.counts.data(), received.begins.data(), MPI_DOUBLE,
                communicator);
  if (!parent.is_on(fronts.rank())) return;
  const double* next = received.values.data();
  for (int other = parent.first_rank; other < parent.first_rank + parent.rank_count; ++other) {
    for (const int child : parent.children) {
      if (!fronts.front(child).is_on(other)) continue;
      fronts.add(child, other, next);
      next += fronts.packed(child, other, fronts.rank());
    }
  }
}

}  // namespace

void Communication::accumulate(Fronts& fronts) {
  Ranges ranges;
  for (const Front& front : fronts.tree()) {
    const int place = fronts.rank() - front.first_rank;
    if (place < 0 || place >= front.rank_count || front.children.empty()) continue;
    add_children(fronts, front, ranges.of(front));
  }
}

}  // namespace extend_add
