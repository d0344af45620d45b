#pragma once
// A barrier in which no rank polls, over a counter in a file that all ranks map.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

#include "conformance.h"
#include "shared_file.h"

namespace conformance {

/// Made by all ranks together, which poll meanwhile and arrive at least once; from the first
/// arrival on, none of its calls polls.
class StillBarrier {
 public:
  StillBarrier() : path_(shared_path("still")) {
    const int file = open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    void* page = MAP_FAILED;
    if (file >= 0 && ftruncate(file, sizeof(Counter)) == 0)
      page = mmap(nullptr, sizeof(Counter), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    if (page == MAP_FAILED) {
      std::perror(path_.c_str());
      gasnet_exit(1);
    }
    counter_ = static_cast<Counter*>(page);
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
