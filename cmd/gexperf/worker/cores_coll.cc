// Broadcast and reduce-to-all of many ranks, with the same buffers again and again. Of what fits
// into a line, ranks are the root of a broadcast in turn, so that no broadcast begins before the
// last has arrived; of more, rank 0 is, and it sends the same bytes each time.

#include <gasnet_coll.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "arena.h"
#include "bare_barriers.h"
#include "bare_copy.h"
#include "cores.h"

namespace gexperf {

namespace {

/// Two buffers of every rank, in its segment or in memory that no other rank has mapped.
class Buffers {
 public:
  Buffers(const Context& context, Arena& arena)
      : job_(context.job),
        words_(std::strtoull(std::string(context.options.at(0)).c_str(), nullptr, 10) /
               sizeof(std::uint64_t)),
        in_segment_(arena.take<std::uint64_t>(2 * words_)) {
    const std::string_view place = context.options.at(1);
    if (words_ == 0 || (place != "segment" && place != "private"))
      job_.fail("expected a number of bytes and 'segment' or 'private'");
    if (place == "private") private_.assign(2 * words_, 1);
    std::fill_n(shared(job_.rank(), 0), 2 * words_, 1);
  }

  std::size_t words() const { return words_; }
  std::size_t bytes() const { return words_ * sizeof(std::uint64_t); }
  /// This rank's, for libgex.
  std::uint64_t* own(unsigned which) {
    return private_.empty() ? shared(job_.rank(), which) : private_.data() + which * words_;
  }
  /// A rank's in its segment, for the limit.
  std::uint64_t* shared(gex_Rank_t rank, unsigned which) const {
    return in_segment_.here(rank) + which * words_;
  }

 private:
  const Job& job_;
  std::size_t words_;
  Arena::Array<std::uint64_t> in_segment_;
  std::vector<std::uint64_t> private_;
};

/// At most so many bytes go along with a flag, in its line.
constexpr std::size_t flag_bytes = 32;

gex_Rank_t root_of(const Job& job, const Buffers& buffers, std::uint64_t repetition) {
  return buffers.bytes() <= flag_bytes ? static_cast<gex_Rank_t>(repetition % job.size()) : 0;
}

/// A broadcast of flags, and of bytes that every receiver copies by itself, all at once.
class BareBroadcast {
 public:
  BareBroadcast(const Job& job, Arena& arena, const Buffers& buffers)
      : job_(job), lines_(arena.take<Lines>(1)), buffers_(buffers) {}

  using Way = CopyWords;
  static constexpr std::span<const Way> ways() { return all_copies; }
  void use(Way copy) { copy_ = copy; }

  void take(std::uint64_t repetitions) {
    for (std::uint64_t i = 0; i < repetitions; ++i) from(root_of(job_, buffers_, i));
    job_.barrier();
  }

 private:
  void from(gex_Rank_t root) {
    ++number_;
    const bool copies = buffers_.bytes() > flag_bytes;
    Lines& mine = *lines_.here(job_.rank());
    if (job_.rank() == root) {
      mine.ready.word.store(number_, std::memory_order_release);
      // The root may write its buffer again when all have copied it.
      for (gex_Rank_t rank = 0; copies && rank < job_.size(); ++rank)
        if (rank != root) spin_until_reached(lines_.here(rank)->copied.word, number_);
      return;
    }
    spin_until_reached(lines_.here(root)->ready.word, number_);
    if (!copies) return;
    copy_(buffers_.shared(job_.rank(), 0), buffers_.shared(root, 0), buffers_.words());
    mine.copied.word.store(number_, std::memory_order_release);
  }

  struct Lines {
    Line ready;
    Line copied;
  };
  const Job& job_;
  Arena::Array<Lines> lines_;
  const Buffers& buffers_;
  std::uint32_t number_ = 0;
  CopyWords copy_ = copy_by_memcpy;
};

/// A reduction of which every rank combines a slice, and copies the other slices of the result; or
/// all of it by itself, which is faster while the operands stay in its cache.
class BareReduction {
 public:
  BareReduction(const Job& job, const Buffers& buffers, BareBarriers& barriers)
      : job_(job), buffers_(buffers), barriers_(barriers) {}

  struct Way {
    bool sliced;
    CopyWords copy;
  };
  static std::span<const Way> ways() {
    static constexpr Way all[] = {
        {true, copy_by_memcpy}, {true, copy_by_loop}, {false, copy_by_memcpy}};
    return all;
  }
  void use(const Way& way) { way_ = way; }

  void take(std::uint64_t repetitions) {
    for (std::uint64_t i = 0; i < repetitions; ++i) once();
    barriers_.wait();
  }

 private:
  /// From buffer 0 of all ranks into buffer 1.
  void once() {
    barriers_.wait();
    std::uint64_t* const result = buffers_.shared(job_.rank(), 1);
    if (!way_.sliced) return combine(0, buffers_.words(), result);
    combine(begin(job_.rank()), begin(job_.rank() + 1), result);
    barriers_.wait();
    for (gex_Rank_t distance = 1; distance < job_.size(); ++distance) {
      const gex_Rank_t owner = (job_.rank() + distance) % job_.size();
      const std::size_t first = begin(owner);
      way_.copy(result + first, buffers_.shared(owner, 1) + first, begin(owner + 1) - first);
    }
  }

  std::size_t begin(gex_Rank_t rank) const { return buffers_.words() * rank / job_.size(); }

  /// In blocks that stay in the first-level cache.
  void combine(std::size_t first, std::size_t last, std::uint64_t* result) const {
    constexpr std::size_t block = 1024;
    for (std::size_t at = first; at < last; at += block) {
      const std::size_t count = std::min(block, last - at);
      const auto operand = [&](gex_Rank_t distance) {
        return buffers_.shared((job_.rank() + distance) % job_.size(), 0) + at;
      };
      sum_words(result + at, operand(0), operand(1), count);
      for (gex_Rank_t distance = 2; distance < job_.size(); ++distance)
        sum_words(result + at, result + at, operand(distance), count);
    }
  }

  const Job& job_;
  const Buffers& buffers_;
  BareBarriers& barriers_;
  Way way_ = ways()[0];
};

/// Has `bare` go the way that makes it the fastest.
template <class Bare>
void choose_way(const Job& job, Bare& bare) {
  std::vector<Repeated> candidates;
  for (const auto& way : Bare::ways()) {
    candidates.emplace_back([&bare, &way](std::uint64_t repetitions) {
      bare.use(way);
      bare.take(repetitions);
    });
  }
  bare.use(Bare::ways()[fastest_of(job, candidates)]);
}

}  // namespace

void cores_broadcast(const Context& context) {
  const Job& job = context.job;
  Arena arena(job);
  Buffers buffers(context, arena);
  BareBroadcast bare(job, arena, buffers);
  choose_way(job, bare);
  compare(
      context,
      [&](std::uint64_t repetitions) {
        for (std::uint64_t i = 0; i < repetitions; ++i)
          gex_Event_Wait(gex_Coll_BroadcastNB(job.team(), root_of(job, buffers, i), buffers.own(0),
                                              buffers.own(0), buffers.bytes(), 0));
        job.barrier();
      },
      [&](std::uint64_t repetitions) { bare.take(repetitions); });
}

// What fits into a flag's line takes at least a barrier.
void cores_reduce_to_all(const Context& context) {
  const Job& job = context.job;
  Arena arena(job);
  Buffers buffers(context, arena);
  BareBarriers barriers(job, arena);
  barriers.choose_fastest();
  BareReduction bare(job, buffers, barriers);
  choose_way(job, bare);
  compare(
      context,
      [&](std::uint64_t repetitions) {
        for (std::uint64_t i = 0; i < repetitions; ++i)
          gex_Event_Wait(gex_Coll_ReduceToAllNB(job.team(), buffers.own(1), buffers.own(0),
                                                GEX_DT_U64, sizeof(std::uint64_t), buffers.words(),
                                                GEX_OP_ADD, nullptr, nullptr, 0));
      },
      [&](std::uint64_t repetitions) {
        if (buffers.bytes() <= flag_bytes) return barriers.wait(repetitions);
        bare.take(repetitions);
      });
}

}  // namespace gexperf
