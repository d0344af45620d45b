#include "net/kit/loss_detector.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace gex::net {
namespace {

constexpr std::uint64_t second = LossDetector::shortest_interval_ns;

/// Rank 0, which asks, and rank 1.
class LossDetectorTest : public testing::Test {
 protected:
  void send(int messages) {
    for (int i = 0; i < messages; ++i) asker_.sent(1);
  }
  void come(int messages) {
    for (int i = 0; i < messages; ++i) answerer_.received(0);
  }
  /// Returns the question that is asked a second later.
  std::optional<Tally> asked() {
    std::optional<Tally> question;
    now_ += second;
    asker_.ask_when_due(now_, [&](std::uint32_t peer, const Tally& tally) {
      EXPECT_EQ(peer, 1u);
      question = tally;
      return true;
    });
    return question;
  }
  std::uint64_t answered(const Tally& question) {
    return asker_.handle_answer(1, answerer_.answer_to(0, question));
  }
  /// A question and its answer; how many are lost.
  std::uint64_t round() {
    const auto question = asked();
    EXPECT_TRUE(question);
    return question ? answered(*question) : 0;
  }

  std::uint64_t now_ = 100 * second;
  LossDetector asker_{2, /*threaded=*/true};
  LossDetector answerer_{2, /*threaded=*/false};
};

TEST_F(LossDetectorTest, AsksNoRankWithoutMessages) {
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(asked());
}

TEST(LossDetectorOfMany, LooksAtThoseAloneToWhichSomethingWasSent) {
  constexpr std::uint32_t ranks = 1'000'000;
  LossDetector many(ranks, /*threaded=*/true);
  for (const std::uint32_t peer : {999'999U, 3U, 999'999U, 70'000U, 3U}) many.sent(peer);
  ASSERT_EQ(many.sent_to().size(), 3U);
  std::vector<std::uint32_t> asked;
  many.ask_when_due(second, [&](std::uint32_t peer, const Tally&) {
    asked.push_back(peer);
    return true;
  });
  EXPECT_EQ(asked, (std::vector{999'999U, 3U, 70'000U}));
}

TEST_F(LossDetectorTest, AsksOnceForWhatHasCome) {
  send(3);
  come(3);
  EXPECT_EQ(round(), 0u);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(asked());
  send(1);
  come(1);
  EXPECT_EQ(round(), 0u);
  EXPECT_FALSE(asked());
}

TEST_F(LossDetectorTest, FindsWhatNeverComesInTheThirdRound) {
  send(10);
  come(7);
  EXPECT_EQ(round(), 0u);
  EXPECT_EQ(round(), 0u);
  EXPECT_EQ(round(), 3u);
}

TEST_F(LossDetectorTest, FindsItAlsoWhileOthersComeAndGo) {
  send(10);
  come(9);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(round(), 0u);
    send(5);
    come(3);
  }
  // 10 were sent before the first question, and 15 have come: some of them later ones.
  std::uint64_t lost = 0;
  for (int i = 0; i < 10 && lost == 0; ++i) {
    lost = round();
    send(1);
  }
  EXPECT_GT(lost, 0u);
}

TEST_F(LossDetectorTest, FindsWhatComesTwice) {
  send(3);
  come(4);
  const auto first = asked();
  ASSERT_TRUE(first);
  // Its sender may not have counted it yet.
  EXPECT_FALSE(asker_.has_surplus(1, answerer_.answer_to(0, *first)));
  EXPECT_TRUE(asker_.has_surplus(1, answerer_.answer_to(0, *first)));
  send(1);
  EXPECT_FALSE(asker_.has_surplus(1, answerer_.answer_to(0, *first)));
}

TEST_F(LossDetectorTest, WhatIsUnderWayIsNotLost) {
  // Always some on their way, each for less than two rounds.
  int sent = 0;
  int came = 0;
  for (int i = 0; i < 50; ++i) {
    send(100);
    sent += 100;
    EXPECT_EQ(round(), 0u) << i;
    come(sent - 100 - came > 0 ? sent - 100 - came : 0);
    came = sent - 100 > came ? sent - 100 : came;
  }
}

TEST_F(LossDetectorTest, WhoDoesNotAnswerIsNotSuspectedAndAskedEverMoreRarely) {
  send(10);
  come(4);
  int questions = 0;
  for (int i = 0; i < 1000; ++i) questions += asked() ? 1 : 0;
  EXPECT_GT(questions, 5);
  EXPECT_LT(questions, 30);
  come(6);
  std::optional<Tally> question;
  for (int i = 0; i < 100 && !question; ++i) question = asked();
  ASSERT_TRUE(question);
  EXPECT_EQ(answered(*question), 0u);
  EXPECT_FALSE(asked());
}

TEST_F(LossDetectorTest, AnAnswerThatIsLateOrComesTwiceCountsOnce) {
  send(2);
  come(1);
  const auto first = asked();
  ASSERT_TRUE(first);
  EXPECT_EQ(answered(*first), 0u);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(answered(*first), 0u);
  EXPECT_EQ(round(), 0u);
  EXPECT_EQ(answered(*first), 0u);
  EXPECT_EQ(round(), 1u);
}

TEST_F(LossDetectorTest, AQuestionThatCannotBeSentIsAskedAgain) {
  send(1);
  come(1);
  now_ += second;
  asker_.ask_when_due(now_, [](std::uint32_t, const Tally&) { return false; });
  EXPECT_EQ(round(), 0u);
  EXPECT_FALSE(asked());
}

TEST_F(LossDetectorTest, IsPatientWithNetworksThatKeepNoOrder) {
  LossDetector asker(2, /*threaded=*/false, /*patience=*/4);
  asker.sent(1);
  int rounds = 0;
  std::uint64_t lost = 0;
  for (std::uint64_t now = 100 * second; rounds < 20 && lost == 0; now += 100 * second) {
    Tally question{};
    asker.ask_when_due(now, [&](std::uint32_t, const Tally& asked) {
      question = asked;
      return true;
    });
    ++rounds;
    lost = asker.handle_answer(1, answerer_.answer_to(0, question));
  }
  EXPECT_EQ(lost, 1u);
  EXPECT_EQ(rounds, 3 + 4);
}

}  // namespace
}  // namespace gex::net
