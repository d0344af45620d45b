// One-sided operations and registration: each knob shows what a client without care meets.

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "client.h"

namespace gexsim::test {
namespace {

constexpr std::size_t page = 4096;
const Ask with_atomics = [](fi_info& hints) { hints.caps |= FI_ATOMIC; };

std::byte* map_pages(std::size_t count = 1, int rights = PROT_READ | PROT_WRITE) {
  return static_cast<std::byte*>(
      mmap(nullptr, count * page, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

/// A pair with a word of b's that a reaches.
struct Reach : Pair {
  explicit Reach(const Ask& ask = {}) : Pair(ask) {
    EXPECT_EQ(b.enroll(&word, sizeof word, region), 0);
  }
  std::uint64_t word = 0;
  fid_mr* region = nullptr;
};

/// The target's polls until the word is `value`, after `a` had its completion; -1: never.
int polls_until_visible(Reach& reach, std::uint64_t flags) {
  const std::uint64_t value = 7;
  EXPECT_EQ(reach.a.write(reach.to_b, &value, sizeof value, reach.region, &reach.word, nullptr,
                          FI_COMPLETION | flags),
            0);
  bool is_complete = false;
  for (int i = 0; i < 100; ++i) {
    is_complete = is_complete || !reach.a.poll().empty();
    if (is_complete && reach.word == value) return i;
    reach.b.poll();
  }
  return -1;
}

/// Returns true if the word is there when the completion is.
bool is_visible_when_complete(Reach& reach) {
  const std::uint64_t value = 7;
  EXPECT_EQ(reach.a.write(reach.to_b, &value, sizeof value, reach.region, &reach.word, nullptr,
                          FI_COMPLETION | FI_DELIVERY_COMPLETE),
            0);
  for (int i = 0; i < 100; ++i) {
    if (!reach.a.poll().empty()) return reach.word == value;
    reach.b.poll();
  }
  return false;
}

TEST(Writes, AreVisibleLate) {
  run({"visible_polls=5"}, [] {
    Reach reach;
    EXPECT_EQ(polls_until_visible(reach, 0), 6);
  });
}

TEST(Writes, AreDeliveredWhenTheyCompleteIfThatIsKept) {
  run({"visible_polls=5,delivery=kept"}, [] {
    Reach reach;
    EXPECT_TRUE(is_visible_when_complete(reach));
  });
  run({"visible_polls=5,delivery=ignored"}, [] {
    Reach reach;
    EXPECT_FALSE(is_visible_when_complete(reach));
  });
  run({"delivery=never"}, [] {
    Reach reach;
    EXPECT_EQ(polls_until_visible(reach, FI_DELIVERY_COMPLETE), -1);
  });
  run({"delivery=kept,delivery_polls=9"}, [] {
    Reach reach;
    EXPECT_GE(polls_until_visible(reach, FI_DELIVERY_COMPLETE), 9);
  });
}

TEST(Writes, StallAboveASize) {
  run({"stall_above=4"}, [] {
    Reach reach;
    EXPECT_EQ(polls_until_visible(reach, 0), -1);
  });
}

TEST(Writes, AreOvertakenByReadsUnlessThatIsAsked) {
  const auto read_value = [](const Ask& ask) {
    Reach reach(ask);
    const std::uint64_t value = 7;
    std::uint64_t into = 0;
    reach.a.write(reach.to_b, &value, sizeof value, reach.region, &reach.word);
    reach.a.read(reach.to_b, &into, sizeof into, reach.region, &reach.word, &into);
    for (bool is_read = false; !is_read; reach.b.poll())
      for (const Entry& entry : reach.a.poll()) is_read = is_read || entry.data.op_context == &into;
    return into;
  };
  const Ask ordered = [](fi_info& hints) { hints.tx_attr->msg_order = FI_ORDER_RMA_RAW; };
  run({"visible_polls=5,orders=rma_raw"}, [&] { EXPECT_EQ(read_value({}), 0U); });
  run({"visible_polls=5,orders=rma_raw"}, [&] { EXPECT_EQ(read_value(ordered), 7U); });
  run({"visible_polls=5,orders=rma_raw,max_order=4"}, [&] { EXPECT_EQ(read_value(ordered), 0U); });
  run({"visible_polls=5,orders=rma_raw,order_kept=0"}, [&] { EXPECT_EQ(read_value(ordered), 0U); });
}

TEST(Writes, OfSeveralPiecesAreCutInPackets) {
  run({"iov=2,rma_iov=2,fragment=3"}, [] {
    Pair pair;
    char there[16] = "", from[] = "abcdefghij";
    fid_mr* region = nullptr;
    ASSERT_EQ(pair.b.enroll(there, sizeof there, region), 0);
    iovec local[] = {{from, 4}, {from + 4, 6}};
    fi_rma_iov remote[] = {{0, 7, region->key}, {9, 3, region->key}};
    fi_msg_rma message{};
    message.msg_iov = local;
    message.iov_count = 2;
    message.addr = pair.to_b;
    message.rma_iov = remote;
    message.rma_iov_count = 2;
    EXPECT_EQ(fi_writemsg(pair.a.endpoint, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE), 0);
    pair.a.wait_for(1, {&pair.b});
    EXPECT_EQ(std::string(there, 12), std::string("abcdefg\0\0hij", 12));
    message.iov_count = 3;
    EXPECT_EQ(fi_writemsg(pair.a.endpoint, &message, 0), -FI_EINVAL);
  });
  run({"inject=4,max_message=6"}, [] {
    Reach reach;
    EXPECT_EQ(reach.a.write(reach.to_b, "abcde", 5, reach.region, &reach.word, nullptr, FI_INJECT),
              -FI_EMSGSIZE);
    EXPECT_EQ(reach.a.write(reach.to_b, "abcdefg", 7, reach.region, &reach.word), -FI_EMSGSIZE);
  });
}

TEST(Regions, AreReachedOnlyAsTheyAreRegistered) {
  run({"mr_mode=endpoint"}, [] {
    Pair pair;
    std::uint64_t word = 0;
    fid_mr* region = nullptr;
    ASSERT_EQ(pair.b.enroll(&word, sizeof word, region, false), 0);
    pair.a.write(pair.to_b, &word, sizeof word, region, &word, nullptr,
                 FI_COMPLETION | FI_DELIVERY_COMPLETE);
    EXPECT_EQ(pair.a.wait_for(1, {&pair.b})[0].error, FI_EACCES);
  });
  run({"mr_mode=local"}, [] {
    Reach reach;
    EXPECT_EQ(reach.a.write(reach.to_b, &reach.word, sizeof reach.word, reach.region, &reach.word),
              -FI_EINVAL);
  });
  run({"key_size=1"}, [] {
    Client client;
    fid_mr* region = nullptr;
    std::uint64_t word = 0;
    EXPECT_EQ(fi_mr_reg(client.domain, &word, 8, FI_REMOTE_READ, 0, 256, 0, &region, nullptr),
              -FI_EKEYREJECTED);
  });
}

TEST(Regions, AreRefused) {
  std::uint64_t word = 0;
  const auto result = [&](void* memory, std::size_t size) {
    Client client;
    fid_mr* region = nullptr;
    return client.enroll(memory, size, region);
  };
  run({"mr_count=1"}, [&] {
    Client client;
    fid_mr* region = nullptr;
    EXPECT_EQ(client.enroll(&word, 8, region), 0);
    EXPECT_EQ(client.enroll(&word, 8, region), -FI_ENOSPC);
  });
  run({"mr_refuses_guessable=1"}, [&] { EXPECT_EQ(result(&word, 8), -FI_EKEYREJECTED); });
  run({"mr_bytes=7"}, [&] { EXPECT_EQ(result(&word, 8), -FI_ENOMEM); });
  run({"mr_refuses_null=1"}, [&] { EXPECT_EQ(result(nullptr, 8), -FI_EINVAL); });
  run({"mr_refuses_readonly=1"}, [&] {
    EXPECT_EQ(result(map_pages(1, PROT_READ), page), -FI_EFAULT);
    EXPECT_EQ(result(map_pages(), page), 0);
  });
  run({"mr_refuses_watched=1"}, [&] {
    const auto watcher = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | 1));
    if (watcher < 0) return;  // not allowed on this machine
    uffdio_api api{};
    api.api = UFFD_API;
    ASSERT_EQ(ioctl(watcher, UFFDIO_API, &api), 0);
    std::byte* const memory = map_pages();
    uffdio_register watched{};
    watched.range = {reinterpret_cast<std::uint64_t>(memory), page};
    watched.mode = UFFDIO_REGISTER_MODE_MISSING;
    ASSERT_EQ(ioctl(watcher, UFFDIO_REGISTER, &watched), 0);
    EXPECT_EQ(result(memory, page), -FI_EBUSY);
  });
}

TEST(Regions, OfDevicesAreRefusedAlthoughTheyAreOffered) {
  run({"hmem=refused"}, [] {
    Client client;
    std::uint64_t word = 0;
    const iovec piece{&word, sizeof word};
    fi_mr_attr attributes{};
    attributes.mr_iov = &piece;
    attributes.iov_count = 1;
    attributes.access = FI_REMOTE_WRITE;
    fid_mr* region = nullptr;
    EXPECT_EQ(fi_mr_regattr(client.domain, &attributes, 0, &region), 0);
    attributes.iface = FI_HMEM_CUDA;
    EXPECT_EQ(fi_mr_regattr(client.domain, &attributes, 0, &region), -FI_ENOSYS);
  });
}

TEST(Regions, TakeTimeToRegister) {
  run({"mr_microseconds_per_mib=10000"}, [] {
    Client client;
    fid_mr* region = nullptr;
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(client.enroll(map_pages(512), 512 * page, region), 0);
    EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(20));
  });
}

TEST(Regions, KeepTheirPagesWhenMemoryIsMappedAnew) {
  for (const bool is_stale : {false, true})
    run({is_stale ? "mr_stale=1" : "mr_stale=0"}, [is_stale] {
      Pair pair;
      std::byte* const memory = map_pages();
      fid_mr* region = nullptr;
      ASSERT_EQ(pair.b.enroll(memory, page, region), 0);
      munmap(memory, page);
      ASSERT_EQ(mmap(memory, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                     -1, 0),
                static_cast<void*>(memory));
      const std::uint64_t value = 7;
      pair.a.write(pair.to_b, &value, sizeof value, region, memory, nullptr,
                   FI_COMPLETION | FI_DELIVERY_COMPLETE);
      EXPECT_EQ(pair.a.wait_for(1, {&pair.b})[0].error, 0);
      std::uint64_t found = 0;
      std::memcpy(&found, memory, sizeof found);
      EXPECT_EQ(found, is_stale ? 0U : 7U);
    });
}

TEST(Atomics, AreThoseOfTheNetwork) {
  const auto has = [](fi_datatype type, fi_op operation) {
    const Client client(with_atomics);
    std::size_t count = 0;
    return fi_fetch_atomicvalid(client.endpoint, type, operation, &count) == 0;
  };
  run({"atomics=all"}, [&] {
    EXPECT_TRUE(has(FI_UINT64, FI_PROD));
    EXPECT_TRUE(has(FI_UINT32, FI_SUM));
  });
  run({"atomics=cxi"}, [&] {
    EXPECT_FALSE(has(FI_UINT64, FI_PROD));
    EXPECT_TRUE(has(FI_UINT64, FI_BOR));
  });
  run({"atomics=ib"}, [&] {
    EXPECT_FALSE(has(FI_UINT32, FI_SUM));
    EXPECT_TRUE(has(FI_UINT64, FI_SUM));
  });
  run({"atomic_missing=bxor"}, [&] {
    EXPECT_FALSE(has(FI_UINT64, FI_BXOR));
    EXPECT_TRUE(has(FI_UINT64, FI_BOR));
  });
  run({"atomics=all"}, [] {
    Reach reach(with_atomics);
    reach.word = 5;
    std::uint64_t former = 0;
    EXPECT_EQ(reach.a.add(reach.to_b, 3, &former, reach.region, &reach.word), 0);
    EXPECT_TRUE(reach.a.poll().empty());  // the target has not polled
    EXPECT_EQ(reach.a.wait_for(1, {&reach.b})[0].error, 0);
    EXPECT_EQ(former, 5U);
    EXPECT_EQ(reach.word, 8U);
  });
}

TEST(Atomics, AreNotWhatIsClaimed) {
  struct Outcome {
    ssize_t refused = 0;
    int error = 0;
    std::uint64_t former = 0;
  };
  const auto outcome = [](const Ask& ask) {
    Reach reach(ask);
    reach.word = 5;
    Outcome found;
    found.refused = reach.a.add(reach.to_b, 3, &found.former, reach.region, &reach.word);
    if (found.refused == 0) found.error = reach.a.wait_for(1, {&reach.b})[0].error;
    return found;
  };
  run({"atomics=all,atomic_fails=sum"},
      [&] { EXPECT_EQ(outcome(with_atomics).error, FI_EOPNOTSUPP); });
  run({"atomics=all,atomic_swapped=1"},
      [&] { EXPECT_EQ(outcome(with_atomics).former, std::uint64_t{5} << 56); });
  const Ask delivered = [](fi_info& hints) {
    with_atomics(hints);
    hints.tx_attr->op_flags = FI_DELIVERY_COMPLETE;
  };
  run({"atomics=all,atomic_delivery=0"}, [&] {
    EXPECT_EQ(outcome(with_atomics).refused, 0);
    EXPECT_EQ(outcome(delivered).refused, -FI_EOPNOTSUPP);
  });
}

TEST(Writes, ArriveByAThreadOfTheProviders) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "what a network writes is no atomic store, and is read while it comes";
#endif
  run({"progress_thread=1"}, [] {
    Reach reach;
    const std::uint64_t value = 7;
    EXPECT_EQ(reach.a.write(reach.to_b, &value, sizeof value, reach.region, &reach.word), 0);
    const std::atomic_ref<std::uint64_t> word(reach.word);
    while (word.load() != value) std::this_thread::yield();
  });
}

}  // namespace
}  // namespace gexsim::test
