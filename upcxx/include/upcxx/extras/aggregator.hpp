/// @file
/// Small items, sent many at a time. Needs C++20.
#ifndef UPCXX_EXTRAS_AGGREGATOR_HPP_
#define UPCXX_EXTRAS_AGGREGATOR_HPP_

#include <upcxx/extras/quiescence.hpp>

namespace upcxx::extras {

/// Collects items for each member of a team, and sends a batch when it is full. At the target the
/// function is called with each item; it is copied with each batch. Constructing one is collective
/// over the team, which must exist as long as it does.
template <class T, class Function>
class aggregator {
 public:
  explicit aggregator(Function function, std::size_t batch = 1024, const team& of = world())
      : function_(function), batch_(batch), batches_(std::size_t(of.rank_n())), calls_(of) {}

  void push(intrank_t member, const T& item) {
    std::vector<T>& items = batches_[std::size_t(member)];
    items.push_back(item);
    if (items.size() >= batch_) send(member);
  }
  /// Sends what is left, and waits with user progress until the function has been called with all
  /// items of all members. Collective.
  void flush() {
    for (std::size_t member = 0; member < batches_.size(); ++member) {
      if (!batches_[member].empty()) send(intrank_t(member));
    }
    calls_.wait();
  }

 private:
  void send(intrank_t member) {
    std::vector<T>& items = batches_[std::size_t(member)];
    calls_.call(
        member,
        [](Function run, view<T> arrived) {
          for (const T& item : arrived) run(item);
        },
        function_, make_view(items));
    items.clear();
    progress();
  }

  Function function_;
  std::size_t batch_;
  std::vector<std::vector<T>> batches_;
  quiescence calls_;
};

}  // namespace upcxx::extras

#endif
