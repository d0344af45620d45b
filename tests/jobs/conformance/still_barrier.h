#pragma once
// A barrier in which no rank polls, over a counter in a file that all ranks map.

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

#include "conformance.h"
#include "mapped_file.h"
#include "shared_file.h"

namespace conformance {

/// Made by all ranks together, which poll meanwhile and arrive at least once; from the first
/// arrival on, none of its calls polls.
class StillBarrier {
 public:
  StillBarrier() : path_(shared_path("still")) {
    counter_ = mapped_file<Counter>(path_.c_str());
    if (counter_ == nullptr) {
      std::perror(path_.c_str());
      gasnet_exit(1);
    }
    barrier();
    if (rank() == 0) unlink(path_.c_str());
    // A message of that barrier may leave, or be sent again, with its sender's polls alone.
    ++generation_;
    counter_->fetch_add(1);
    WAIT_UNTIL(counter_->load() >= size());
  }
  ~StillBarrier() { munmap(counter_, sizeof(Counter)); }
  StillBarrier(const StillBarrier&) = delete;
  StillBarrier& operator=(const StillBarrier&) = delete;

  void arrive() {
    ++generation_;
    counter_->fetch_add(1);
    while (counter_->load() < generation_ * size()) usleep(200);
  }

 private:
  using Counter = std::atomic<std::uint32_t>;
  std::string path_;
  Counter* counter_ = nullptr;
  std::uint32_t generation_ = 0;
};

}  // namespace conformance
