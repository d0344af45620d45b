// Masks of trace and statistics for gasnet_tools.h: text that is kept and means nothing yet.

#include <gex/tools_trace.h>

#include <mutex>
#include <set>
#include <string>

#include "base/immortal.h"

namespace {

/// A mask that stays readable for ever once it has been handed out: every text that was ever set is
/// kept, and programs set few.
class Mask {
 public:
  const char* get() {
    const std::lock_guard lock(mutex_);
    return now_;
  }

  void set(const char* mask) {
    const std::lock_guard lock(mutex_);
    now_ = texts_.insert(mask != nullptr ? mask : "").first->c_str();
  }

 private:
  std::mutex mutex_;
  std::set<std::string> texts_;
  const char* now_ = "";
};

// Exit handlers of the client may still ask.
gex::Immortal<Mask> trace_mask;
gex::Immortal<Mask> stats_mask;

}  // namespace

const char* gex_trace_getmask_() {
  return trace_mask.get().get();
}

const char* gex_stats_getmask_() {
  return stats_mask.get().get();
}

void gex_trace_setmask_(const char* mask) {
  trace_mask.get().set(mask);
}

void gex_stats_setmask_(const char* mask) {
  stats_mask.get().set(mask);
}
