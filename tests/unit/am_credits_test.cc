// Credits of a peer: as many as there are, whatever the peer claims.

#include "am/credits.h"

#include <gtest/gtest.h>

#include "base/zeroed_table.h"

namespace gex::am {
namespace {

TEST(Credits, AreTakenUntilNoneIsLeft) {
  Credits credits;
  credits.start(2, 2);
  EXPECT_FALSE(credits.any_out());
  EXPECT_TRUE(credits.take());
  EXPECT_TRUE(credits.any_out());
  EXPECT_TRUE(credits.take());
  EXPECT_FALSE(credits.take());
  EXPECT_FALSE(credits.take()) << "a vain attempt must not leave one more, nor one less";
  credits.restore();
  EXPECT_TRUE(credits.take());
  EXPECT_FALSE(credits.take());
}

TEST(Credits, OfAPeerAreNotMoreThanItHasRequests) {
  Credits fresh;
  fresh.start(4, 4);
  EXPECT_FALSE(fresh.accept(1)) << "nothing was sent";
  Credits some_out;
  some_out.start(4, 4);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(some_out.take());
  EXPECT_TRUE(some_out.accept(2));
  EXPECT_TRUE(some_out.any_out());
  EXPECT_FALSE(some_out.accept(2)) << "one was out";
  Credits one_out;
  one_out.start(4, 4);
  EXPECT_TRUE(one_out.take());
  EXPECT_FALSE(one_out.accept(Credits::max_per_message));
  Credits deep;
  deep.start(~0U, ~0U);
  EXPECT_TRUE(deep.take()) << "a depth beyond what can be counted";
  EXPECT_FALSE(deep.accept(Credits::max_per_message));
}

TEST(Credits, OfASilentPeerAreZeroBitsUntilTheyStart) {
  ZeroedTable<Credits> table(2);
  EXPECT_FALSE(table[0].is_started());
  EXPECT_FALSE(table[0].take());
  EXPECT_FALSE(table[0].any_out());
  EXPECT_FALSE(table[0].accept(1)) << "of a peer to which nothing was sent";
  EXPECT_FALSE(table[1].is_started());
  table[1].start(4, 4);
  EXPECT_TRUE(table[1].is_started());
  EXPECT_TRUE(table[1].take());
  table[1].start(4, 4);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(table[1].take());
  EXPECT_FALSE(table[1].take()) << "another thread that starts them takes none back";
}

TEST(Credits, ThatAreOwedAllGoBack) {
  Credits credits;
  credits.start(8, 8);
  for (int i = 1; i < 4; ++i) EXPECT_FALSE(credits.owe()) << i;
  EXPECT_TRUE(credits.owe()) << "half of them";
  EXPECT_EQ(credits.take_owed(), 4u);
  EXPECT_EQ(credits.take_owed(), 0u);
  EXPECT_TRUE(credits.owe_again(4));
  EXPECT_EQ(credits.take_owed(), 4u);
}

TEST(Credits, BeyondOneMessageGoWithTheNext) {
  Credits credits;
  credits.start(1U << 20, 1U << 20);
  constexpr std::uint32_t owed = Credits::max_per_message + 5;
  std::uint32_t due = 0;
  for (std::uint32_t i = 0; i < owed; ++i) due += credits.owe() ? 1 : 0;
  EXPECT_GT(due, 0u);
  EXPECT_EQ(credits.take_owed(), Credits::max_per_message);
  EXPECT_EQ(credits.take_owed(), 5u);
}

TEST(Credits, AreAskedForWhenThereCouldBeMore) {
  Credits credits;
  credits.start(1, 4);
  EXPECT_TRUE(credits.take());
  EXPECT_FALSE(credits.take_starved()) << "no request was refused";
  EXPECT_FALSE(credits.take());
  EXPECT_TRUE(credits.take_starved());
  EXPECT_FALSE(credits.take_starved()) << "it was reported";
  EXPECT_TRUE(credits.borrow(3));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(credits.take());
  EXPECT_FALSE(credits.take());
  EXPECT_FALSE(credits.take_starved()) << "there are no more to be had";
}

TEST(Credits, AreLentNoMoreThanThereCanBe) {
  Credits credits;
  credits.start(2, 10);
  EXPECT_TRUE(credits.borrow(8));
  EXPECT_FALSE(credits.borrow(1));
}

TEST(Credits, ThatAreOwedAreTakenByOneMessageOrPutBack) {
  Credits credits;
  credits.start(4, 4);
  EXPECT_FALSE(credits.owe());
  EXPECT_FALSE(credits.owes_enough());
  EXPECT_TRUE(credits.owe());
  EXPECT_TRUE(credits.owes_enough());
  EXPECT_EQ(credits.take_owed(), 2u);
  EXPECT_FALSE(credits.owes_enough());
  EXPECT_TRUE(credits.owe_again(2));
  EXPECT_TRUE(credits.owes_enough());
}

// Another thread's request ends while a message bears the credits of those before. It finds too few
// to give back, and when that message is refused they are enough: who sent it must see to them.
TEST(Credits, OnAMessageThatIsRefusedAreWithWhoSentIt) {
  Credits credits;
  credits.start(4, 4);
  EXPECT_FALSE(credits.owe());
  EXPECT_EQ(credits.take_owed(), 1u);
  EXPECT_FALSE(credits.owe());
  EXPECT_TRUE(credits.owe_again(1));
  EXPECT_EQ(credits.take_owed(), 2u);
  EXPECT_FALSE(credits.owe_again(1));
}

TEST(Credits, ThatAreBorrowedAreGivenUpUnlessTheyAreInUse) {
  Credits credits;
  credits.start(2, 10);
  EXPECT_EQ(credits.give_up_borrowed(), 0u);
  EXPECT_TRUE(credits.borrow(5));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(credits.take());
  EXPECT_EQ(credits.give_up_borrowed(), 4u) << "of seven, three are out";
  EXPECT_FALSE(credits.take());
  EXPECT_TRUE(credits.accept(3));
  EXPECT_FALSE(credits.any_out());
  EXPECT_EQ(credits.give_up_borrowed(), 1u);
  EXPECT_EQ(credits.give_up_borrowed(), 0u) << "the share stays";
  EXPECT_FALSE(credits.accept(1)) << "nothing is out";
}

TEST(Credits, ThatGoBackAreReportedInAsManyMessagesAsThatTakes) {
  Credits credits;
  credits.start(1, 200);
  credits.return_later(100);
  EXPECT_EQ(credits.take_returned(63), 63u);
  credits.return_later(10);
  EXPECT_EQ(credits.take_returned(63), 47u);
  EXPECT_EQ(credits.take_returned(63), 0u);
}

}  // namespace
}  // namespace gex::am
