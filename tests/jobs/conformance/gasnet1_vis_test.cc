// GASNet-1: vector, indexed and strided put and get, in every form, against the naive loop.

#include <gasnet.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <type_traits>

#include "../../naive_strided.h"
#include "transfer.h"

namespace conformance::gasnet1_vis_test {
namespace {

using Random = std::mt19937_64;

constexpr std::size_t area = 65536;

static_assert(sizeof(gasnet_memvec_t) == sizeof(gex_Memvec_t) &&
              offsetof(gasnet_memvec_t, addr) == offsetof(gex_Memvec_t, gex_addr) &&
              offsetof(gasnet_memvec_t, len) == offsetof(gex_Memvec_t, gex_len));

/// The three forms of a call, complete on return.
template <class Blocking, class Explicit, class Implicit, class... Args>
void call(int form, Blocking blocking, Explicit nb, Implicit nbi, Args... args) {
  static_assert(std::is_same_v<decltype(blocking(args...)), void> &&
                std::is_same_v<decltype(nb(args...)), gasnet_handle_t> &&
                std::is_same_v<decltype(nbi(args...)), void>);
  if (form == 0) {
    blocking(args...);
  } else if (form == 1) {
    gasnet_wait_syncnb(nb(args...));
  } else if (form == 2) {
    nbi(args...);
    gasnet_wait_syncnbi_all();
  } else {
    gasnet_begin_nbi_accessregion();
    nbi(args...);
    gasnet_wait_syncnb(gasnet_end_nbi_accessregion());
  }
}
constexpr int forms = 4;

/// Blocks at increasing offsets of an area, `total` bytes in all.
std::vector<gasnet_memvec_t> random_blocks(Random& random, void* base, std::size_t total) {
  std::vector<gasnet_memvec_t> blocks;
  std::size_t at = random() % 16;
  while (total > 0) {
    const std::size_t bytes = std::min<std::size_t>(total, random() % 300);
    blocks.push_back({static_cast<std::byte*>(base) + at, bytes});
    at += bytes + random() % 8;
    total -= bytes;
  }
  return blocks;
}

/// The bytes that moving one list of blocks to another leaves in the area that starts at `to_base`.
void naive_move(const std::vector<gasnet_memvec_t>& to, const std::byte* to_base,
                std::vector<std::byte>& expected, const std::vector<gasnet_memvec_t>& from,
                const std::byte* from_base, const std::vector<std::byte>& contents) {
  std::vector<std::byte> bytes;
  for (const gasnet_memvec_t& block : from) {
    const auto start = contents.begin() + (static_cast<std::byte*>(block.addr) - from_base);
    bytes.insert(bytes.end(), start, start + static_cast<std::ptrdiff_t>(block.len));
  }
  auto next_byte = bytes.begin();
  for (const gasnet_memvec_t& block : to) {
    const auto end = next_byte + static_cast<std::ptrdiff_t>(block.len);
    std::copy(next_byte, end, expected.begin() + (static_cast<std::byte*>(block.addr) - to_base));
    next_byte = end;
  }
}

/// One rank's view of a round: what it puts and gets, from and to where. All ranks draw the same.
struct Round {
  std::vector<std::byte> local = patterned(rank() + 11, area);
  std::vector<std::byte> expected = std::vector<std::byte>(area, std::byte{0x44});

  Round() {
    std::memset(own_segment(), 0x44, area);
    barrier();
  }
  /// The segment after every rank's put, given what the previous rank's memory holds.
  void check() {
    barrier();
    EXPECT_TRUE(same_bytes(own_segment(), expected.data(), area));
    barrier();
  }
};

TEST(Gasnet1Vis, Vector) {
  for (int form = 0; form < forms; ++form) {
    Random random(17 + static_cast<unsigned>(form));
    for (const std::size_t total : {0, 1, 777, 9000}) {
      Round round;
      // The lists lie in every rank's addresses; only their offsets are the same.
      Random again = random;
      const auto to = random_blocks(random, segment_of(next()), total);
      const auto from = random_blocks(random, round.local.data(), total);
      const auto own_to = random_blocks(again, own_segment(), total);
      call(form, gasnet_putv_bulk, gasnet_putv_nb_bulk, gasnet_putv_nbi_bulk, next(), to.size(),
           to.data(), from.size(), from.data());
      naive_move(own_to, own_segment(), round.expected, from, round.local.data(),
                 patterned(previous() + 11, area));
      round.check();

      // And back, cut as the put's source was.
      std::vector<std::byte> got(area, std::byte{9});
      std::vector<std::byte> wanted = got;
      std::vector<gasnet_memvec_t> back = from;
      for (gasnet_memvec_t& block : back)
        block.addr = got.data() + (static_cast<std::byte*>(block.addr) - round.local.data());
      call(form, gasnet_getv_bulk, gasnet_getv_nb_bulk, gasnet_getv_nbi_bulk, back.size(),
           back.data(), next(), to.size(), to.data());
      naive_move(back, got.data(), wanted, from, round.local.data(), round.local);
      EXPECT_EQ(got, wanted);
      barrier();
    }
  }
}

TEST(Gasnet1Vis, Indexed) {
  // 60 pieces of 40 bytes against 100 of 24.
  constexpr std::size_t to_count = 60;
  constexpr std::size_t to_bytes = 40;
  constexpr std::size_t from_count = 100;
  constexpr std::size_t from_bytes = 24;
  for (int form = 0; form < forms; ++form) {
    Round round;
    std::vector<void*> to;
    std::vector<void*> from;
    std::vector<gasnet_memvec_t> own_to;
    std::vector<gasnet_memvec_t> blocks;
    for (std::size_t i = 0; i < to_count; ++i) {
      const std::size_t offset = (i * 7 % to_count) * 57;
      to.push_back(segment_of(next()) + offset);
      own_to.push_back({own_segment() + offset, to_bytes});
    }
    for (std::size_t i = 0; i < from_count; ++i) {
      from.push_back(round.local.data() + i * 31);
      blocks.push_back({from.back(), from_bytes});
    }
    call(form, gasnet_puti_bulk, gasnet_puti_nb_bulk, gasnet_puti_nbi_bulk, next(), to.size(),
         to.data(), to_bytes, from.size(), from.data(), from_bytes);
    naive_move(own_to, own_segment(), round.expected, blocks, round.local.data(),
               patterned(previous() + 11, area));
    round.check();

    std::vector<std::byte> got(area);
    std::vector<void*> back;
    for (std::size_t i = 0; i < from_count; ++i) back.push_back(got.data() + i * 31);
    call(form, gasnet_geti_bulk, gasnet_geti_nb_bulk, gasnet_geti_nbi_bulk, back.size(),
         back.data(), from_bytes, next(), to.size(), to.data(), to_bytes);
    for (std::size_t i = 0; i < from_count; ++i)
      ASSERT_TRUE(same_bytes(back[i], from[i], from_bytes)) << "piece " << i;
    barrier();
  }
}

TEST(Gasnet1Vis, Strided) {
  // counts: the first is the bytes of a piece; strides of the two sides.
  struct Shape {
    std::vector<std::size_t> count;
    std::vector<std::size_t> peer;
    std::vector<std::size_t> own;
  };
  const Shape shapes[] = {
      {{100}, {}, {}},
      {{0}, {}, {}},
      {{8, 50}, {16}, {8}},
      {{4, 10, 12}, {8, 100}, {4, 40}},
      {{1, 5, 4, 3, 2}, {3, 20, 100, 400}, {2, 11, 50, 170}},
      {{16, 7, 0}, {32, 1000}, {16, 200}},
      {{512, 30}, {1024}, {512}},
  };
  for (int form = 0; form < forms; ++form) {
    for (const Shape& shape : shapes) {
      const std::size_t levels = shape.peer.size();
      Round round;
      naive::Strided naive_arguments;
      naive_arguments.element = shape.count[0];
      for (std::size_t i = 0; i < levels; ++i) {
        naive_arguments.count.push_back(shape.count[i + 1]);
        naive_arguments.remote.push_back(static_cast<std::ptrdiff_t>(shape.peer[i]));
        naive_arguments.local.push_back(static_cast<std::ptrdiff_t>(shape.own[i]));
      }
      call(form, gasnet_puts_bulk, gasnet_puts_nb_bulk, gasnet_puts_nbi_bulk, next(),
           segment_of(next()), shape.peer.data(), round.local.data(), shape.own.data(),
           shape.count.data(), levels);
      const std::vector<std::byte> theirs = patterned(previous() + 11, area);
      naive::naive_loop(naive_arguments, [&](std::ptrdiff_t peer, std::ptrdiff_t own) {
        std::copy_n(theirs.begin() + own, shape.count[0], round.expected.begin() + peer);
      });
      round.check();

      std::vector<std::byte> got(area);
      std::vector<std::byte> wanted(area);
      call(form, gasnet_gets_bulk, gasnet_gets_nb_bulk, gasnet_gets_nbi_bulk, got.data(),
           shape.own.data(), next(), segment_of(next()), shape.peer.data(), shape.count.data(),
           levels);
      naive::naive_loop(naive_arguments, [&](std::ptrdiff_t, std::ptrdiff_t own) {
        std::copy_n(round.local.begin() + own, shape.count[0], wanted.begin() + own);
      });
      EXPECT_EQ(got, wanted);
      barrier();
    }
  }
}

}  // namespace
}  // namespace conformance::gasnet1_vis_test
