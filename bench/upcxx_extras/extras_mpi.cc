// The workloads of extras_upcxx by MPI-3: windows for the table and the hash map, messages for the
// tree search.
//
//     mpirun -n RANKS extras_mpi [OPERATIONS]
#include <mpi.h>

#include <algorithm>
#include <deque>

#include "workload.h"

namespace {

using extras::random_number;

int me = 0;
int ranks = 1;

long sum(long value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

template <class Body>
double timed(Body&& body) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = extras::seconds_now();
  body();
  MPI_Barrier(MPI_COMM_WORLD);
  return extras::seconds_now() - begin;
}

/// Words on every rank, which all ranks access.
struct Window {
  explicit Window(long count) {
    MPI_Win_allocate(MPI_Aint(count) * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &words, &window);
    std::fill_n(words, count, 0);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    MPI_Win_sync(window);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Window() {
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
  }
  std::uint64_t* words = nullptr;
  MPI_Win window = MPI_WIN_NULL;
};

/// Open addressing: a place is claimed by compare-and-swap of its key, 0 before that, and then its
/// value is put.
void insert_all(const Window& map, long places, long count) {
  for (long i = 0; i < count; ++i) {
    const std::uint64_t key = random_number(me, i);
    const std::uint64_t hash = extras::mix(key);
    const int owner = int((hash >> 32) % std::uint64_t(ranks));
    const std::uint64_t none = 0;
    for (auto place = long(hash % std::uint64_t(places));; place = (place + 1) % places) {
      std::uint64_t found = 0;
      MPI_Compare_and_swap(&key, &none, &found, MPI_UINT64_T, owner, 2 * place, map.window);
      MPI_Win_flush(owner, map.window);
      if (found != 0 && found != key) continue;
      MPI_Put(&hash, 1, MPI_UINT64_T, owner, 2 * place + 1, 1, MPI_UINT64_T, map.window);
      MPI_Win_flush_local(owner, map.window);
      break;
    }
  }
  MPI_Win_flush_all(map.window);
}

/// There are four times as many places as keys.
bool insert(long count) {
  const long places = 4 * count;
  const Window first(2 * places);
  const Window map(2 * places);
  timed([&] { insert_all(first, places, count); });
  const double seconds = timed([&] { insert_all(map, places, count); });
  MPI_Win_sync(map.window);
  long entries = 0;
  long wrong = 0;
  for (long place = 0; place < places; ++place) {
    if (map.words[2 * place] == 0) continue;
    ++entries;
    wrong += map.words[2 * place + 1] != extras::mix(map.words[2 * place]);
  }
  const bool is_right = sum(wrong) == 0 && sum(entries) == count * ranks;
  return extras::report(me, "hash map, insert", double(count) * ranks, seconds, is_right);
}

bool update(long count) {
  Window table(count);
  const auto pass = [&] {
    for (long i = 0; i < count; ++i) {
      const std::uint64_t number = random_number(me, i);
      const auto index = long(number % std::uint64_t(count * ranks));
      MPI_Accumulate(&number, 1, MPI_UINT64_T, int(index / count), index % count, 1, MPI_UINT64_T,
                     MPI_BXOR, table.window);
      // The number is free again.
      MPI_Win_flush_local(int(index / count), table.window);
    }
    MPI_Win_flush_all(table.window);
  };
  const double seconds = timed(pass);
  MPI_Win_sync(table.window);
  const bool is_set = sum(std::count(table.words, table.words + count, 0u)) < count * ranks;
  timed(pass);
  MPI_Win_sync(table.window);
  const bool is_right = sum(std::count(table.words, table.words + count, 0u)) == count * ranks;
  return extras::report(me, "random updates, MPI_Accumulate", double(count) * ranks, seconds,
                        is_set && is_right);
}

/// The work queue of upcxx/extras in messages: an idle rank asks others in turn for the older half
/// of their nodes, and two waves of sums find that none are left.
class Search {
 public:
  long run() {
    if (me == 0) nodes_.push_back(extras::tree::root), ++counts_[0];
    MPI_Request wave = MPI_REQUEST_NULL;
    bool is_in_wave = false;
    long sums[2] = {};
    long mine[2] = {};
    long run_before = -1;
    for (;;) {
      for (int i = 0; i < 16 && !nodes_.empty(); ++i) visit();
      serve();
      if (!nodes_.empty()) continue;
      if (is_asked_) take_answer();
      if (!nodes_.empty()) continue;
      if (!is_asked_) ask();
      int is_done = 0;
      if (!is_in_wave) {
        std::copy(counts_, counts_ + 2, mine);
        MPI_Iallreduce(mine, sums, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &wave);
        is_in_wave = true;
      } else if (MPI_Test(&wave, &is_done, MPI_STATUS_IGNORE), is_done != 0) {
        is_in_wave = false;
        if (sums[0] == run_before) break;
        run_before = sums[1];
      }
    }
    finish();
    return counts_[1];
  }

 private:
  static constexpr int kQuestion = 1;
  static constexpr int kAnswer = 2;

  void visit() {
    const std::uint64_t node = nodes_.back();
    nodes_.pop_back();
    for (int i = 0; i < extras::tree::children(node); ++i) {
      nodes_.push_back(extras::tree::child(node, i));
      ++counts_[0];
    }
    ++counts_[1];
  }
  /// Answers a question, if there is one.
  void serve() {
    int is_there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kQuestion, MPI_COMM_WORLD, &is_there, &status);
    if (is_there == 0) return;
    MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, kQuestion, MPI_COMM_WORLD, &status);
    const auto middle = nodes_.begin() + std::ptrdiff_t((nodes_.size() + 1) / 2);
    answers_.emplace_back(nodes_.begin(), middle);
    nodes_.erase(nodes_.begin(), middle);
    MPI_Request sent = MPI_REQUEST_NULL;
    MPI_Isend(answers_.back().data(), int(answers_.back().size()), MPI_UINT64_T, status.MPI_SOURCE,
              kAnswer, MPI_COMM_WORLD, &sent);
    sends_.push_back(sent);
    int is_done = 1;
    while (!sends_.empty() && (MPI_Test(&sends_.front(), &is_done, MPI_STATUS_IGNORE), is_done)) {
      sends_.pop_front();
      answers_.pop_front();
    }
  }
  void ask() {
    if (ranks == 1) return;
    next_ = next_ % (ranks - 1) + 1;
    MPI_Send(nullptr, 0, MPI_BYTE, (me + next_) % ranks, kQuestion, MPI_COMM_WORLD);
    is_asked_ = true;
  }
  void take_answer() {
    int is_there = 0;
    MPI_Status status;
    MPI_Iprobe((me + next_) % ranks, kAnswer, MPI_COMM_WORLD, &is_there, &status);
    if (is_there == 0) return;
    int count = 0;
    MPI_Get_count(&status, MPI_UINT64_T, &count);
    std::vector<std::uint64_t> arrived(std::size_t(count), 0);
    MPI_Recv(arrived.data(), count, MPI_UINT64_T, status.MPI_SOURCE, kAnswer, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    nodes_.insert(nodes_.end(), arrived.begin(), arrived.end());
    is_asked_ = false;
  }
  /// Serves until all ranks have their answers.
  void finish() {
    while (is_asked_) {
      serve();
      take_answer();
    }
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    for (int is_done = 0; is_done == 0; MPI_Test(&all, &is_done, MPI_STATUS_IGNORE)) serve();
    for (MPI_Request& sent : sends_) MPI_Wait(&sent, MPI_STATUS_IGNORE);
  }

  std::deque<std::uint64_t> nodes_;
  long counts_[2] = {};  ///< Nodes that were added here, and visited.
  std::deque<MPI_Request> sends_;
  std::deque<std::vector<std::uint64_t>> answers_;  ///< Buffers of `sends_`.
  bool is_asked_ = false;
  int next_ = 0;
};

bool search() {
  Search search;
  long here = 0;
  const double seconds = timed([&] { here = search.run(); });
  const long all = sum(here);
  return extras::report(me, "tree search, messages", double(all), seconds,
                        all == extras::tree::nodes());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const long count = extras::operations(argc, argv);
  bool is_right = insert(count);
  is_right &= update(count);
  is_right &= search();
  MPI_Finalize();
  return is_right ? 0 : 1;
}
