// Posts under an interleaving explorer: members that all post and all read. The shipping algorithm
// must survive; variants with one seeded bug each must not.

#include "shm/posts.h"

#include <type_traits>

#include "../interleavings.h"
#include "../relacy_atomics.h"

namespace gex::shm {
namespace {

using interleavings::explore;
using interleavings::is_the_bug;
using interleavings::NoAcquire;
using interleavings::NoRelease;
using interleavings::RelacyAtomics;

constexpr PostShape small{2, 1};
constexpr unsigned members = 2;
constexpr unsigned numbers = 5;

/// Each member posts under every number and reads what the other has posted. `careful`: a cell is
/// written only when all have read what was there.
template <class Atomics, bool careful = true>
struct Exchange : rl::test_suite<Exchange<Atomics, careful>, members> {
  struct Board {
    typename Atomics::Word read;
    typename Atomics::Ready ready[small.depth];
    rl::var<unsigned> content[small.depth];
  };
  Board boards[members];

  void before() {
    for (Board& board : boards) {
      board.read(RL_INFO).store(0, rl::mo_relaxed);
      for (auto& ready : board.ready) ready(RL_INFO).store(0, rl::mo_relaxed);
    }
  }

  void thread(unsigned me) {
    rl::linear_backoff wait;
    PostWindow<Atomics> window(small);
    PostReader<Atomics> reader(small);
    Board& own = boards[me];
    Board& other = boards[1 - me];
    const auto read_by = [&](std::uint32_t member) ->
        typename Atomics::Word& { return boards[member].read; };
    std::uint32_t posted = 0;
    for (std::uint32_t number = 0; number < numbers;) {
      // The own posts run ahead as far as there is room.
      if (posted != numbers && (!careful || window.may_write(posted, members, read_by))) {
        own.content[posted % small.depth](RL_INFO) = posted * 10 + me;
        publish_post<Atomics>(own.ready[posted % small.depth], posted, posted + 7);
        ++posted;
      }
      std::uint32_t what = 0;
      if (!post_arrived<Atomics>(other.ready[number % small.depth], number, what)) {
        wait.yield(RL_INFO);
        continue;
      }
      RL_ASSERT(what == number + 7);
      RL_ASSERT(other.content[number % small.depth](RL_INFO) == number * 10 + 1 - me);
      ++number;
      reader.advance_to(number, own.read);
    }
    while (posted != numbers) {
      if (!window.may_write(posted, members, read_by)) {
        wait.yield(RL_INFO);
        continue;
      }
      own.content[posted % small.depth](RL_INFO) = posted * 10 + me;
      publish_post<Atomics>(own.ready[posted % small.depth], posted, posted + 7);
      ++posted;
    }
  }
};

TEST(Posts, AreReadWholeAndOnce) {
  EXPECT_EQ((explore<Exchange<RelacyAtomics>>()), "");
}

TEST(Posts, NeedTheirRelease) {
  const std::string found = explore<Exchange<NoRelease>>();
  EXPECT_TRUE(is_the_bug(found)) << found;
}

TEST(Posts, NeedTheirAcquire) {
  const std::string found = explore<Exchange<NoAcquire>>();
  EXPECT_TRUE(is_the_bug(found)) << found;
}

TEST(Posts, NeedRoom) {
  const std::string found = explore<Exchange<RelacyAtomics, false>>();
  EXPECT_TRUE(is_the_bug(found)) << found;
}

}  // namespace
}  // namespace gex::shm
