/// @file
/// A queue of tasks on every member of a team, from which idle members take. Needs C++20.
#ifndef UPCXX_EXTRAS_WORK_QUEUE_HPP_
#define UPCXX_EXTRAS_WORK_QUEUE_HPP_

#include <algorithm>
#include <deque>

#include <upcxx/upcxx.hpp>

namespace upcxx::extras {

/// Constructing one is collective over the team, which must exist as long as it does.
template <class T>
class work_queue {
 public:
  explicit work_queue(const team& of = world()) : queue_(of) {}

  void push(T task) {
    queue_->tasks.push_back(std::move(task));
    ++queue_->counts.pushed;
  }

  /// Calls `function` with each task, the newest first, until none is left on any member. The
  /// function may push more, and calls no collective. An idle member asks others in turn for the
  /// older half of what they have. Collective, with user progress.
  ///
  /// Tasks that are left are detected as in quiescence::wait(), by the numbers of tasks that
  /// were pushed and that have been run: a task that is being passed on has been pushed only. A
  /// member joins a wave when it is idle, and goes on asking until the wave is over.
  template <class Function>
  void run(Function function) {
    Queue& mine = *queue_;
    future<Counts> wave;
    bool is_in_wave = false;
    long run_before = -1;
    future<std::vector<T>> asked = make_future(std::vector<T>());
    for (;;) {
      for (int i = 0; i < tasks_between_progress && !mine.tasks.empty(); ++i) {
        T task = std::move(mine.tasks.back());
        mine.tasks.pop_back();
        function(std::move(task));
        ++mine.counts.run;
      }
      progress();
      if (!mine.tasks.empty()) continue;
      if (asked.is_ready()) {
        for (const T& task : asked.result_reference()) mine.tasks.push_back(task);
        asked = mine.tasks.empty() ? ask() : make_future(std::vector<T>());
        if (!mine.tasks.empty()) continue;
      }
      if (!is_in_wave) {
        wave = reduce_all(mine.counts, add, queue_.team());
        is_in_wave = true;
      } else if (wave.is_ready()) {
        const Counts all = wave.result();
        is_in_wave = false;
        if (all.pushed == run_before) break;
        run_before = all.run;
      }
    }
    asked.wait();
  }

 private:
  // Without initializers, which Clang needs to see the end of the class for: objects begin as
  // zeros.
  struct Counts {
    long pushed;
    long run;
  };
  struct Queue {
    std::deque<T> tasks;
    Counts counts;
  };
  using Shared = dist_object<Queue>;
  static constexpr int tasks_between_progress = 16;

  static Counts add(const Counts& a, const Counts& b) {
    return {a.pushed + b.pushed, a.run + b.run};
  }
  future<std::vector<T>> ask() {
    const intrank_t n = queue_.team().rank_n();
    if (n == 1) return make_future(std::vector<T>());
    next_ = next_ % (n - 1) + 1;
    return rpc(
        queue_.team(), (queue_.team().rank_me() + next_) % n,
        [](Shared& there) {
          std::deque<T>& tasks = there->tasks;
          const auto middle = tasks.begin() + std::ptrdiff_t((tasks.size() + 1) / 2);
          std::vector<T> taken(tasks.begin(), middle);
          tasks.erase(tasks.begin(), middle);
          return taken;
        },
        queue_);
  }

  Shared queue_;
  intrank_t next_ = 0;
};

}  // namespace upcxx::extras

#endif
