#pragma once
// Counts what a test program allocates by operators of its own (allocations.cc).

#include <atomic>

/// Calls of the throwing operator new so far, of all threads.
extern std::atomic<long> allocations;
