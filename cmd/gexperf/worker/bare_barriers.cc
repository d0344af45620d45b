#include "bare_barriers.h"

#include <array>
#include <functional>

namespace gexperf {

BareBarriers::BareBarriers(const Job& job, Arena& arena) : job_(job), flags_(arena.take<Flags>(1)) {
}

void BareBarriers::choose_fastest() {
  constexpr Algorithm algorithms[] = {&BareBarriers::gather, &BareBarriers::tree,
                                      &BareBarriers::dissemination};
  std::array<Repeated, std::size(algorithms)> candidates;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i] = [this, algorithm = algorithms[i]](std::uint64_t repetitions) {
      for (std::uint64_t n = 0; n < repetitions; ++n) (this->*algorithm)();
    };
  }
  chosen_ = algorithms[fastest_of(job_, candidates)];
}

void BareBarriers::gather() {
  ++epoch_;
  if (job_.rank() == 0) {
    for (gex_Rank_t rank = 1; rank < job_.size(); ++rank) await(flags_.here(rank)->arrived, epoch_);
    set(flags_.here(0)->released, epoch_);
  } else {
    set(flags_.here(job_.rank())->arrived, epoch_);
    await(flags_.here(0)->released, epoch_);
  }
}

void BareBarriers::tree() {
  constexpr gex_Rank_t arity = 4;
  ++epoch_;
  const gex_Rank_t first = job_.rank() * arity + 1;
  for (gex_Rank_t child = first; child < first + arity && child < job_.size(); ++child)
    await(flags_.here(child)->arrived, epoch_);
  if (job_.rank() == 0) {
    set(flags_.here(0)->released, epoch_);
  } else {
    set(flags_.here(job_.rank())->arrived, epoch_);
    await(flags_.here(0)->released, epoch_);
  }
}

void BareBarriers::dissemination() {
  ++epoch_;
  unsigned round = 0;
  for (gex_Rank_t distance = 1; distance < job_.size(); distance *= 2, ++round) {
    set(flags_.here((job_.rank() + distance) % job_.size())->round[round], epoch_);
    await(flags_.here(job_.rank())->round[round], epoch_);
  }
}

}  // namespace gexperf
