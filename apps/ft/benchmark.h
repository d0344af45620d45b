#pragma once
// One timed run of the benchmark with one variant.

#include "job.h"
#include "memory.h"
#include "outcome.h"
#include "variant.h"

namespace ft {

/// Runs NAS FT: the initial conditions, the forward transform, then in each iteration the evolution
/// of the spectrum, its inverse transform and a checksum. As in NPB, all of it is timed, once it
/// has run untimed up to the forward transform. Collective.
Outcome run(const Job& job, const Grid& grid, const Memory& memory, const Variant& variant,
            int iterations);

}  // namespace ft
