#include "open_calls.h"

#include <mutex>
#include <unordered_map>

namespace upcxx::detail {

namespace {

struct OpenCall {
  const ThreadState* thread;
  std::uint64_t number;  // in the order of their begins
  intrank_t target;
  Place place;
};

struct AllCalls {
  // Held for a look-up by a handler, above which no other handler runs.
  std::mutex mutex;
  std::uint64_t begun = 0;
  std::unordered_map<const CallRecord*, OpenCall> open;
};
AllCalls& all() {
  static auto* const made = new AllCalls;
  return *made;
}

}  // namespace

void note_open_call(const CallRecord* call, intrank_t target, Place place) {
  const std::lock_guard<std::mutex> lock(all().mutex);
  all().open[call] = {&this_thread, ++all().begun, target, place};
}

void forget_open_call(const CallRecord* call) {
  const std::lock_guard<std::mutex> lock(all().mutex);
  all().open.erase(call);
}

OpenCalls open_calls() {
  OpenCalls found{0, -1, {}};
  std::uint64_t oldest = UINT64_MAX;
  const std::lock_guard<std::mutex> lock(all().mutex);
  for (const auto& [record, call] : all().open) {
    if (call.thread != &this_thread) continue;
    ++found.count;
    if (call.number >= oldest) continue;
    oldest = call.number;
    found.oldest_target = call.target;
    found.oldest_place = call.place;
  }
  return found;
}

}  // namespace upcxx::detail
