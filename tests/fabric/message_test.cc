// Messages and one-sided operations: each knob shows what a client without care meets.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "client.h"

namespace gexsim::test {
namespace {

const Ask with_many = [](fi_info& hints) { hints.caps |= FI_MULTI_RECV; };

/// Texts in the order in which they arrive in receive buffers of their own.
std::vector<std::string> arrivals(Pair& pair, int count) {
  std::vector<std::string> memory(static_cast<std::size_t>(count), std::string(64, '\0'));
  for (std::string& one : memory) EXPECT_EQ(pair.b.receive(one.data(), one.size()), 0);
  for (int i = 0; i < count; ++i) EXPECT_EQ(pair.a.send(pair.to_b, std::to_string(i)), 0) << i;
  std::vector<std::string> found;
  for (const Entry& entry : pair.b.wait_for(static_cast<std::size_t>(count), {&pair.a}))
    found.emplace_back(static_cast<const char*>(entry.data.buf), entry.data.len);
  return found;
}

/// Calls of `post` until it is not refused; the target polls in between. -1: never.
int refusals(Client* target, const std::function<ssize_t()>& post) {
  for (int i = 0; i < 100; ++i) {
    const ssize_t result = post();
    if (result == 0) return i;
    EXPECT_EQ(result, -FI_EAGAIN);
    if (target != nullptr) target->poll();
  }
  return -1;
}

TEST(Messages, ArriveInTheirOrderOnlyIfThatWasAsked) {
  const auto sorted = [](std::vector<std::string> texts) {
    return std::is_sorted(texts.begin(), texts.end());
  };
  run({"reorder=8,orders=sas"}, [&] {
    Pair pair;
    EXPECT_FALSE(sorted(arrivals(pair, 9)));
  });
  run({"reorder=8,orders=sas"}, [&] {
    Pair pair([](fi_info& hints) { hints.tx_attr->msg_order = FI_ORDER_SAS; });
    EXPECT_TRUE(sorted(arrivals(pair, 9)));
  });
}

TEST(Messages, ArriveAcrossProcesses) {
  run({"fragment=100,inbox=1K"}, [] {
    int there[2], back[2];
    ASSERT_EQ(pipe(there) + pipe(back), 0);
    const std::string text(5000, 'x');
    const pid_t child = fork();
    Client own;
    char name[16], other_name[16];
    std::size_t size = sizeof name;
    ASSERT_EQ(fi_getname(&own.endpoint->fid, name, &size), 0);
    ASSERT_EQ(write(child == 0 ? back[1] : there[1], name, size), 16);
    ASSERT_EQ(read(child == 0 ? there[0] : back[0], other_name, size), 16);
    fi_addr_t other = FI_ADDR_NOTAVAIL;
    fi_av_insert(own.addresses, other_name, 1, &other, 0, nullptr);
    if (child == 0) {
      own.send(other, text);
      while (own.poll().empty()) std::this_thread::yield();
      char done = 0;
      _exit(read(there[0], &done, 1) == 1 ? 0 : 1);
    }
    std::string into(6000, '\0');
    own.receive(into.data(), into.size());
    std::vector<Entry> found;
    for (; found.empty(); std::this_thread::yield()) found = own.poll();
    EXPECT_EQ(into.substr(0, found[0].data.len), text);
    ASSERT_EQ(write(there[1], "x", 1), 1);
    waitpid(child, nullptr, 0);
  });
}

TEST(Messages, WaitForReceiveBuffers) {
  run({"rnr_polls=5"}, [] {
    Pair pair;
    pair.a.send(pair.to_b, "early");
    pair.b.poll();
    char into[16];
    pair.b.receive(into, sizeof into);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(pair.b.poll().empty()) << i;
    EXPECT_EQ(pair.b.wait_for(1).size(), 1U);
  });
}

TEST(Messages, MayComeTwice) {
  run({"duplicate_after=1"}, [] {
    Pair pair;
    char into[2][16];
    for (auto& one : into) pair.b.receive(one, sizeof one);
    pair.a.send(pair.to_b, "once");
    EXPECT_EQ(pair.b.wait_for(2).size(), 2U);
  });
}

TEST(Messages, AreLostWhenTheirSenderCloses) {
  for (const bool loses : {false, true})
    run({loses ? "close_loses=1" : "close_loses=0"}, [loses] {
      Client receiver;
      char into[16];
      receiver.receive(into, sizeof into);
      {
        Client sender;
        const fi_addr_t to = sender.meet(receiver);
        sender.send(to, "last");
        EXPECT_EQ(sender.wait_for(1)[0].error, 0);
      }
      std::size_t arrived = 0;
      for (int i = 0; i < 10; ++i) arrived += receiver.poll().size();
      EXPECT_EQ(arrived, loses ? 0U : 1U);
    });
}

TEST(Messages, OfMoreThanTheWindowAreAnError) {
  run({"reorder_limit=3"}, [] {
    Pair pair;
    for (int i = 0; i < 4; ++i) pair.a.send(pair.to_b, "unreceived");
    const std::vector<Entry> found = pair.b.wait_for(1);
    EXPECT_EQ(found[0].error, FI_EOVERFLOW);
    EXPECT_EQ(found[0].data.op_context, nullptr);
  });
}

TEST(Messages, ToAnotherFabricOrProtocolDoNotArrive) {
  const auto body = [] {
    const Info all = look_up();
    Client first{Info(fi_dupinfo(all.get()))}, second{Info(fi_dupinfo(all->next))};
    const fi_addr_t to = first.meet(second);
    first.send(to, "across");
    std::vector<Entry> found;
    for (int i = 0; i < 2000 && found.empty(); ++i) found = first.poll();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].error, FI_EHOSTUNREACH);
  };
  run({"nics=2,fabrics=2"}, body);
  run({"kinds=2"}, body);
}

TEST(Messages, NeedAConnectionWhereEndpointsHaveOnePeer) {
  run({"connected=1"}, [] {
    EXPECT_STREQ(look_up()->fabric_attr->prov_name, "gexsim;ofi_rxm");
    Client client([](fi_info& hints) { hints.ep_attr->type = FI_EP_MSG; });
    EXPECT_EQ(client.failed, "");
    EXPECT_EQ(client.send(client.meet(client), "to whom?"), -FI_ENOTCONN);
  });
}

TEST(Messages, ToAnotherIdentityDoNotArrive) {
  for (const bool are_same : {false, true})
    run({"identity=JOB"}, [are_same] {
      int back[2];
      ASSERT_EQ(pipe(back), 0);
      const pid_t child = fork();
      setenv("JOB", child == 0 && !are_same ? "one" : "another", 1);
      Client own;
      char name[16];
      std::size_t size = sizeof name;
      ASSERT_EQ(fi_getname(&own.endpoint->fid, name, &size), 0);
      if (child == 0) {
        ASSERT_EQ(write(back[1], name, size), 16);
        pause();
      }
      ASSERT_EQ(read(back[0], name, size), 16);
      fi_addr_t other = FI_ADDR_NOTAVAIL;
      fi_av_insert(own.addresses, name, 1, &other, 0, nullptr);
      own.send(other, "x");
      std::vector<Entry> found;
      for (int i = 0; i < 2000 && found.empty(); ++i) found = own.poll();
      ASSERT_EQ(found.size(), 1U);
      EXPECT_EQ(found[0].error, are_same ? 0 : FI_EHOSTUNREACH);
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    });
}

TEST(DeadPeers, AreReportedOrNot) {
  const auto outcome = [] {
    Client living;
    fi_addr_t to = 0;
    {
      const Client dead;
      to = living.meet(dead);
      living.send(to, "open it");
      living.poll();
    }
    if (living.send(to, "too late") == -FI_EAGAIN) return -FI_EAGAIN;
    for (int i = 0; i < 2000; ++i)
      for (const Entry& entry : living.poll())
        if (entry.error != 0) return entry.error;
    return 0;
  };
  // Without room the message waits for the peer.
  const std::string full = "inbox=" + std::to_string(130) + ",fragment=1,";
  run({full + "dead_peer=error"}, [&] { EXPECT_EQ(outcome(), FI_EHOSTUNREACH); });
  run({full + "dead_peer=again"}, [&] { EXPECT_EQ(outcome(), -FI_EAGAIN); });
  run({full + "dead_peer=silence"}, [&] { EXPECT_EQ(outcome(), 0); });
}

TEST(Posting, IsRefusedForAWhile) {
  run({"again_every=3"}, [] {
    Pair pair;
    EXPECT_EQ(pair.a.send(pair.to_b, "1"), 0);
    EXPECT_EQ(pair.a.send(pair.to_b, "2"), 0);
    EXPECT_EQ(refusals(nullptr, [&] { return pair.a.send(pair.to_b, "3"); }), 1);
  });
  run({"again_every=2,again_until_read=1"}, [] {
    Pair pair;
    EXPECT_EQ(pair.a.send(pair.to_b, "1"), 0);
    EXPECT_EQ(refusals(nullptr, [&] { return pair.a.send(pair.to_b, "2"); }), -1);
    pair.a.poll();
    EXPECT_EQ(pair.a.send(pair.to_b, "2"), 0);
  });
  run({"tx_size=2,inbox=170,fragment=1"}, [] {
    Pair pair;
    for (int i = 0; i < 3; ++i) EXPECT_EQ(pair.a.send(pair.to_b, "x"), 0) << i;
    EXPECT_EQ(pair.a.send(pair.to_b, "x"), -FI_EAGAIN);
  });
  run({"rx_size=1"}, [] {
    Pair pair;
    char into[2][16];
    EXPECT_EQ(pair.b.receive(into[0], 16), 0);
    EXPECT_EQ(pair.b.receive(into[1], 16), -FI_EAGAIN);
  });
}

TEST(Posting, WaitsForThePeersPollsAtFirst) {
  run({"connect_polls=3"}, [] {
    Pair pair;
    EXPECT_EQ(refusals(nullptr, [&] { return pair.a.send(pair.to_b, "x"); }), -1);
    EXPECT_EQ(refusals(&pair.b, [&] { return pair.a.send(pair.to_b, "x"); }), 3);
    EXPECT_EQ(pair.a.send(pair.to_b, "x"), 0);
  });
  run({"handshake_polls=2"}, [] {
    Pair pair;
    fid_mr* region = nullptr;
    std::uint64_t word = 0;
    ASSERT_EQ(pair.b.enroll(&word, sizeof word, region), 0);
    EXPECT_EQ(pair.a.send(pair.to_b, "x"), 0);
    EXPECT_EQ(refusals(&pair.b,
                       [&] { return pair.a.write(pair.to_b, &word, sizeof word, region, &word); }),
              2);
  });
}

TEST(Posting, LosesPatienceWithASilentPeer) {
  const int status = status_of({"connect_polls=1,connect_patience_ms=1"}, [] {
    Pair pair;
    for (;;) pair.a.send(pair.to_b, "x");
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
}

TEST(Posting, HasThePatienceThatAVariableGivesIt) {
  run({.knobs = "connect_polls=1,connect_patience_ms=1,patience_variable=SECONDS",
       .variables = {{"SECONDS", "1000"}}},
      [] {
        Pair pair;
        const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
        while (std::chrono::steady_clock::now() < until)
          EXPECT_EQ(pair.a.send(pair.to_b, "x"), -FI_EAGAIN);
      });
}

TEST(Posting, WaitsUntilAnAddressIsKnown) {
  run({"address_polls=3"}, [] {
    Pair pair;
    EXPECT_EQ(refusals(&pair.b, [&] { return pair.a.send(pair.to_b, "x"); }), -1);
    for (int i = 0; i < 3; ++i) pair.a.poll();
    EXPECT_EQ(pair.a.send(pair.to_b, "x"), 0);
  });
}

TEST(Posting, MayNotReachItself) {
  run({"self_reached=0"}, [] {
    Pair pair;
    EXPECT_EQ(refusals(&pair.a, [&] { return pair.a.send(pair.a.meet(pair.a), "x"); }), -1);
    EXPECT_EQ(pair.a.send(pair.to_b, "x"), 0);
  });
}

TEST(Posting, WaitsForReceiversToFetchLongMessages) {
  const std::string text = "long";
  run({"eager=3,fetched=1"}, [&] {
    Pair pair;
    EXPECT_EQ(pair.a.send(pair.to_b, text), 0);
    EXPECT_EQ(pair.a.send(pair.to_b, text), -FI_EAGAIN);
    EXPECT_EQ(pair.a.send(pair.to_b, "x"), 0);
    char into[2][16];
    for (auto& one : into) pair.b.receive(one, sizeof one);
    pair.b.wait_for(2);
    pair.a.wait_for(2);
    EXPECT_EQ(pair.a.send(pair.to_b, text), 0);
  });
  run({.knobs = "eager=3,eager_variable=LONGEST,fetched=1", .variables = {{"LONGEST", "4"}}}, [&] {
    Pair pair;
    EXPECT_EQ(pair.a.send(pair.to_b, text), 0);
    EXPECT_EQ(pair.a.send(pair.to_b, text), 0);
  });
}

TEST(Posting, WaitsInsideForAPeerThatDoesNotPoll) {
  run({"blocks_ms=30"}, [] {
    Pair pair;
    for (int i = 0; i < 32; ++i) pair.a.send(pair.to_b, "x");
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(pair.a.send(pair.to_b, "x"), 0);
    EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(30));
  });
}

TEST(Posting, MeetsAnErrorOfTheDevice) {
  const int status = status_of({"internal_error_after=1"}, [] {
    Pair pair;
    pair.a.send(pair.to_b, "x");
  });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
  run({"internal_error_after=1"}, [] {
    Client a(look_up(), 64, true), b;
    a.send(a.meet(b), "x");
    std::uint32_t event = 0;
    fi_eq_entry entry{};
    EXPECT_EQ(fi_eq_read(a.events, &event, &entry, sizeof entry, 0), -FI_EAVAIL);
  });
  run({"error_under_load=2,inbox=170,fragment=1"}, [] {
    Pair pair;
    for (int i = 0; i < 3; ++i) pair.a.send(pair.to_b, "xy");
    bool any = false;
    for (const Entry& entry : pair.a.poll()) any = any || entry.error == FI_EIO;
    for (const Entry& entry : pair.a.poll()) any = any || entry.error == FI_EIO;
    EXPECT_TRUE(any);
  });
}

TEST(Completions, FillASmallQueue) {
  run({"cq_size=4"}, [] {
    Pair pair;
    for (int i = 0; i < 4; ++i) EXPECT_EQ(pair.a.send(pair.to_b, "x"), 0);
    EXPECT_EQ(pair.a.send(pair.to_b, "x"), -FI_EAGAIN);
    pair.a.poll();
    EXPECT_EQ(pair.a.send(pair.to_b, "x"), 0);
  });
  run({"cq_size=4,cq_full=overrun"}, [] {
    Pair pair;
    for (int i = 0; i < 6; ++i) EXPECT_EQ(pair.a.send(pair.to_b, "x"), 0);
    EXPECT_EQ(pair.a.poll()[0].error, FI_EOVERRUN);
  });
}

TEST(Completions, ComeUnasked) {
  run({"null_completions=1"}, [] {
    Pair pair;
    pair.a.send(pair.to_b, "x", &pair);
    const std::vector<Entry> found = pair.a.wait_for(2);
    EXPECT_EQ(found[1].data.op_context, nullptr);
  });
  run({"null_error_after=1"}, [] {
    Pair pair;
    pair.a.send(pair.to_b, "x", &pair);
    const std::vector<Entry> found = pair.a.wait_for(2);
    EXPECT_EQ(found[1].data.op_context, nullptr);
    EXPECT_EQ(found[1].error, FI_EIO);
  });
}

TEST(Receiving, ReleasesABufferForManyInItsWay) {
  struct Style {
    const char* knobs;
    std::vector<std::uint64_t> flags;  ///< of the completions of three messages, 4 bytes of 16
  };
  constexpr std::uint64_t message = FI_RECV | FI_MSG;
  const Style styles[] = {
      {"release=last", {message, message, message | FI_MULTI_RECV}},
      {"release=alone", {message, message, message, FI_MULTI_RECV}},
      {"release=each", {message | FI_MULTI_RECV}},
      {"release=never", {message, message, message}},
      {"flags=0", {0, 0, FI_MULTI_RECV}},
  };
  for (const Style& style : styles)
    run({style.knobs}, [&] {
      Pair pair(with_many);
      std::size_t least = 5;
      fi_setopt(&pair.b.endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least,
                sizeof least);
      char into[16];
      pair.b.receive(into, sizeof into, nullptr, FI_MULTI_RECV);
      for (int i = 0; i < 3; ++i) pair.a.send(pair.to_b, "four");
      std::vector<std::uint64_t> flags;
      for (const Entry& entry : pair.b.wait_for(style.flags.size()))
        flags.push_back(entry.data.flags);
      EXPECT_EQ(flags, style.flags) << style.knobs;
    });
}

TEST(Receiving, IgnoresALateOption) {
  const auto error_of_third = [] {
    Pair pair(with_many);
    std::size_t least = 8;  // set behind fi_enable
    fi_setopt(&pair.b.endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least);
    std::vector<char> into(150), more(150);
    pair.b.receive(into.data(), into.size(), nullptr, FI_MULTI_RECV);
    pair.b.receive(more.data(), more.size(), nullptr, FI_MULTI_RECV);
    for (int i = 0; i < 2; ++i) pair.a.send(pair.to_b, std::string(80, 'x'));
    return pair.b.wait_for(2)[1].error;
  };
  run({"min_recv_option=before"}, [&] { EXPECT_EQ(error_of_third(), FI_ETRUNC); });
}

TEST(Receiving, PlacesMessagesAsItLikes) {
  run({"recv_align=8"}, [] {
    Pair pair(with_many);
    alignas(8) char into[256];
    pair.b.receive(into, sizeof into, nullptr, FI_MULTI_RECV);
    for (int i = 0; i < 2; ++i) pair.a.send(pair.to_b, "abc");
    EXPECT_EQ(static_cast<char*>(pair.b.wait_for(2)[1].data.buf) - into, 8);
  });
}

TEST(Receiving, FailsWithoutReleasingItsBuffer) {
  run({"receive_error_every=2"}, [] {
    Pair pair(with_many);
    char into[2][256];
    for (auto& one : into) pair.b.receive(one, sizeof one, one, FI_MULTI_RECV);
    for (int i = 0; i < 2; ++i) pair.a.send(pair.to_b, "x");
    const std::vector<Entry> found = pair.b.wait_for(3);
    EXPECT_EQ(found[1].error, FI_ECANCELED);
    EXPECT_EQ(found[1].data.flags & FI_MULTI_RECV, 0U);
    EXPECT_EQ(found[1].data.op_context, into[0]);
    EXPECT_EQ(found[2].data.op_context, into[1]);
  });
}

}  // namespace
}  // namespace gexsim::test
