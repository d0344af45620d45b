#include "bound_threads.h"

#include <sched.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <system_error>

#include "spin.h"

namespace gexperf {

std::vector<unsigned> parse_processors(std::string_view text) {
  std::vector<unsigned> processors;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    unsigned processor = 0;
    const auto [rest, error] = std::from_chars(at, end, processor);
    if (error != std::errc() || processor >= CPU_SETSIZE) return {};
    processors.push_back(processor);
    if (rest == end) return processors;
    if (*rest != ',') return {};
    at = rest + 1;
  }
}

BoundThreads::BoundThreads(const Job& job, const std::vector<unsigned>& processors)
    : job_(job), finished_(processors.size()) {
  bind(processors[0]);
  for (unsigned thread = 1; thread < processors.size(); ++thread) {
    try {
      threads_.emplace_back([this, thread, processor = processors[thread]] {
        bind(processor);
        serve(thread);
      });
    } catch (const std::system_error& error) {
      job.fail("cannot start thread " + std::to_string(thread) + ": " + error.what());
    }
  }
  // The first run must not be the one in which the threads move to their processors.
  run([](unsigned) {});
}

BoundThreads::~BoundThreads() {
  part_ = nullptr;
  started_.number.fetch_add(1, std::memory_order_release);
  for (std::thread& thread : threads_) thread.join();
}

void BoundThreads::run(const std::function<void(unsigned)>& part) {
  part_ = &part;
  // Release: the threads read `part_` and what the caller wrote before.
  const std::uint32_t turn = started_.number.fetch_add(1, std::memory_order_release) + 1;
  part(0);
  for (unsigned thread = 1; thread < count(); ++thread)
    spin_until_reached(finished_[thread].number, turn);
}

void BoundThreads::serve(unsigned thread) {
  for (std::uint32_t turn = 1;; ++turn) {
    spin_until_reached(started_.number, turn);
    if (part_ == nullptr) return;
    (*part_)(thread);
    // Release: the caller reads what this thread wrote.
    finished_[thread].number.store(turn, std::memory_order_release);
  }
}

void BoundThreads::bind(unsigned processor) const {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    job_.fail("cannot bind a thread to processor " + std::to_string(processor) + ": " +
              std::strerror(errno));
}

}  // namespace gexperf
