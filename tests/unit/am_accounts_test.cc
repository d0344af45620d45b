// The accounts with peers: what messages report of credits and loans reaches the other end once.

#include "am/accounts.h"

#include <gtest/gtest.h>

namespace gex::am {
namespace {

/// Two ranks that pass each other reports.
class AccountsTest : public testing::Test {
 protected:
  // Two credits each, ten at most, and nine to be lent.
  AccountsTest() {
    for (Accounts& accounts : all) accounts.start({.share = 2, .max = 10, .bank = 9}, 3);
  }
  Accounts& of(gex_Rank_t rank) { return all[rank]; }
  Account peer(gex_Rank_t rank) { return all[rank].with(1 - rank); }

  Report report_of(gex_Rank_t sender, const Terms& terms = {}) {
    return of(sender).take_report(peer(sender), net::request_channel, terms);
  }
  const char* accept(gex_Rank_t receiver, const Report& report) {
    return of(receiver).accept(peer(receiver), report);
  }
  /// The messages that find a credit.
  unsigned send_all(gex_Rank_t sender) {
    unsigned sent = 0;
    while (peer(sender).credits.take()) ++sent;
    return sent;
  }

  Accounts all[2];
};

TEST_F(AccountsTest, WhatIsOwedGoesBackOnceWithTheNextMessage) {
  ASSERT_EQ(send_all(0), 2U);
  EXPECT_TRUE(of(1).owe(peer(1))) << "half of the share";
  const Report report = report_of(1);
  EXPECT_EQ(report.credits, 1U);
  EXPECT_EQ(report_of(1).credits, 0U);
  EXPECT_FALSE(of(1).owes_message(peer(1))) << "another message has it";
  of(1).restore(peer(1), report);
  EXPECT_TRUE(of(1).owes_message(peer(1))) << "that was not sent";
  EXPECT_EQ(accept(0, report_of(1)), nullptr);
  EXPECT_EQ(send_all(0), 1U);
}

TEST_F(AccountsTest, AReportOfMoreThanThereCanBeIsRefused) {
  EXPECT_STREQ(accept(0, {.credits = 1, .terms = {}}), "it gives back more credits than it has");
  EXPECT_STREQ(accept(0, {.credits = 0, .terms = {.returned = 1}}),
               "it returns more credits than it has borrowed");
  EXPECT_STREQ(accept(0, {.credits = 0, .terms = {.lent = 9}}),
               "it lends more credits than it has");
  Accounts lends_none;
  lends_none.start({.share = 2, .max = 2, .bank = 0}, 2);
  EXPECT_STREQ(lends_none.accept(lends_none.with(1), {.credits = 0, .terms = {.starved = true}}),
               "it lends credits in a job that lends none");
}

TEST_F(AccountsTest, AStarvedPeerGetsALoanAndReturnsItWhenAsked) {
  ASSERT_EQ(send_all(0), 2U);
  const Report starved = report_of(0);
  EXPECT_TRUE(starved.terms.starved);
  EXPECT_FALSE(report_of(0).terms.starved) << "reported already";
  ASSERT_EQ(accept(1, starved), nullptr);
  EXPECT_EQ(of(1).lend(0), Lender::no_peer) << "there are some left";
  const Report loan = report_of(1);
  EXPECT_EQ(loan.terms.lent, 2U);
  ASSERT_EQ(accept(0, loan), nullptr);

  // Rank 1 asks for what rank 0 does not use, which a poll of that answers.
  ASSERT_EQ(accept(0, report_of(1, {.asks = true})), nullptr);
  EXPECT_STREQ(accept(0, report_of(1, {.asks = true})),
               "it asks for credits again before it was answered");
  const auto update = of(0).take_update();
  ASSERT_TRUE(update.has_value());
  EXPECT_EQ(*update, (CreditUpdate{.jobrank = 1, .answers = true}));
  EXPECT_FALSE(of(0).has_updates());
  of(0).return_unused(peer(0));
  const Report answer = report_of(0, {.answers = true});
  EXPECT_EQ(answer.terms.returned, 2U);
  EXPECT_EQ(accept(1, answer), nullptr);
  EXPECT_EQ(send_all(0), 0U);
}

TEST_F(AccountsTest, AnUpdateIsDeferredOnce) {
  for (int i = 0; i < 2; ++i) of(1).owe(peer(1));
  for (int i = 0; i < 2; ++i) of(1).restore(peer(1), report_of(1));
  EXPECT_EQ(of(1).take_update(), (CreditUpdate{.jobrank = 0, .answers = false}));
  EXPECT_EQ(of(1).take_update(), std::nullopt);
}

}  // namespace
}  // namespace gex::am
