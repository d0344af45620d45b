#pragma once
// The actions of a process for its signals.

#include <signal.h>

#include <array>

namespace gex::os {

/// Keeps all signals' handling as it is for the length of a scope: libraries of networks install
/// handlers when they are loaded or started (that of PSM prints a stack), and handling is the
/// client's. One thread.
class KeptSignalHandling {
 public:
  KeptSignalHandling() noexcept {
    for (int number = 1; number < NSIG; ++number) {
      Saved& one = saved_[static_cast<std::size_t>(number)];
      one.known = sigaction(number, nullptr, &one.action) == 0;
    }
  }
  ~KeptSignalHandling() {
    for (int number = 1; number < NSIG; ++number) {
      const Saved& one = saved_[static_cast<std::size_t>(number)];
      if (one.known) sigaction(number, &one.action, nullptr);
    }
  }
  KeptSignalHandling(const KeptSignalHandling&) = delete;
  KeptSignalHandling& operator=(const KeptSignalHandling&) = delete;

 private:
  struct Saved {
    struct sigaction action {};
    bool known = false;
  };
  std::array<Saved, NSIG> saved_;
};

}  // namespace gex::os
