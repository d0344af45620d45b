#pragma once
// Counts what a test program and its libraries allocate (allocations.cc).

#include <atomic>

/// Calls of malloc so far, of all threads; with a sanitizer those of operator new.
extern std::atomic<long> allocations;
