/// @file
/// Detection of quiescence: that no counted call is under way on any member, nor will be. Needs
/// C++20.
#ifndef UPCXX_EXTRAS_QUIESCENCE_HPP_
#define UPCXX_EXTRAS_QUIESCENCE_HPP_

#include <upcxx/upcxx.hpp>

namespace upcxx::extras {

/// Calls that are counted where they are sent and where they have ended. A call may send further
/// ones. Constructing one is collective over the team, which must exist as long as it does.
class quiescence {
 public:
  explicit quiescence(const team& of = world()) : counts_(of) {}

  /// rpc_ff. A function that returns a future has ended when that is ready.
  template <class Function, class... A>
  void call(intrank_t member, Function function, const A&... arguments) {
    ++counts_->sent;
    rpc_ff(
        counts_.team(), member,
        [](Shared& there, Function run, deserialized_type_t<A>... arrived) -> future<> {
          if constexpr (std::is_void_v<decltype(run(std::move(arrived)...))>) {
            run(std::move(arrived)...);
          } else {
            co_await run(std::move(arrived)...);
          }
          ++there->ended;
        },
        counts_, function, arguments...);
  }

  /// Waits with user progress until every call has ended. Collective over the team; in it, a member
  /// sends calls in calls only.
  ///
  /// Waves add up both counters until the calls ended by wave i, E(i), are as many as those sent by
  /// wave i+1, S(i+1). That is right (Mattern's method of four counters): a reduction is complete
  /// for no member before all have given their numbers, so there is a moment t behind all readings
  /// of wave i and before all of wave i+1. Counters only grow and a call ends after it is sent, so
  /// E(i) <= E(t) <= S(t) <= S(i+1). If the ends are equal, E(t) = S(t): at t no call was under
  /// way; every member had joined wave i by then, and only calls send, so none ever is again. It
  /// ends, as two waves after the last call find all counters as they remain.
  void wait() {
    long ended_before = -1;
    for (;;) {
      const Counts mine = *counts_;
      const Counts all = reduce_all(
                             mine,
                             [](const Counts& a, const Counts& b) {
                               return Counts{a.sent + b.sent, a.ended + b.ended};
                             },
                             counts_.team())
                             .wait();
      if (all.sent == ended_before) return;
      ended_before = all.ended;
    }
  }

 private:
  // Without initializers, which Clang needs to see the end of the class for: objects begin as
  // zeros.
  struct Counts {
    long sent;
    long ended;
  };
  using Shared = dist_object<Counts>;
  Shared counts_;
};

}  // namespace upcxx::extras

#endif
