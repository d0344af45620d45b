#pragma once
// A child process of a test.

#include <sys/types.h>
#include <unistd.h>

namespace gex {

/// A child that calls a function and then waits to be killed.
template <typename Work>
pid_t start_child(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    work();
    for (;;) pause();
  }
  return child;
}

}  // namespace gex
