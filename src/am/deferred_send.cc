#include "rma/kept.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "base/immortal.h"
#include "base/spin_lock.h"
#include "core/progress.h"

namespace gex::rma {

namespace {

struct List {
  SpinLock lock;
  std::vector<std::unique_ptr<Kept>> items;
};
Immortal<List> the_list;

bool advance_kept() noexcept {
  List& list = the_list.get();
  // One thread at a time: the others' polls have nothing to add.
  if (!list.lock.try_lock()) return false;
  const std::size_t gone = std::erase_if(list.items, [](auto& item) { return item->advance(); });
  list.lock.unlock();
  for (std::size_t i = 0; i < gone; ++i) unwant_polls();
  return gone != 0;
}

}  // namespace

void keep(std::unique_ptr<Kept> item) noexcept {
  List& list = the_list.get();
  const OptionalGuard guard(list.lock, true);
  list.items.push_back(std::move(item));
  want_polls();
}

void start_kept() {
  register_poller(advance_kept);
}

}  // namespace gex::rma
