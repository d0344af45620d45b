#pragma once
// The interface to a library of communication: upcxx/ and mpi/ have one implementation each.

#include "fronts.h"

namespace extend_add {

/// Between construction and destruction the rank is part of the job.
class Communication {
 public:
  Communication(int* argc, char*** argv);
  Communication(const Communication&) = delete;
  Communication& operator=(const Communication&) = delete;
  ~Communication();

  static const char* const program;

  int rank() const;
  int size() const;
  /// Waits for all ranks.
  void barrier();
  /// Adds up a number of each rank, on all.
  long sum(long value);

  /// Adds each front to its parent, from the leaves to the roots: before a rank packs its elements
  /// of a front, all that the children have for them has been added.
  void accumulate(Fronts& fronts);
};

}  // namespace extend_add
