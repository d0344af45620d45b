#pragma once
// The place in a foreign launcher's job that the environment names, and the process that holds it.
//
// mpirun, mpiexec and srun give a process its rank by environment variables, which every program
// that the rank starts inherits. Such a program would act as the rank and hang, waiting for the
// others. A process that joins a job therefore sets GEX_PLACE to its process id and a digest of
// those variables. A process that finds another process id there, with the same digest, was started
// by a rank, and is a job of its own.
//
// A program that the rank itself executes has the rank's process id and remains the rank. A
// launcher that a rank starts gives its processes other variables, and so another digest.
//
// Thread rules: one thread.

namespace gex::job {

/// Returns true if an ancestor of this process has joined a job with the place that the environment
/// names.
bool is_place_of_ancestor();

/// Returns true if the caller is the first process of a launcher's job on this host to report a
/// long wait.
bool claim_long_wait();

/// Sets GEX_PLACE for the programs that this process starts, because it joins a job.
void mark_place();

}  // namespace gex::job
